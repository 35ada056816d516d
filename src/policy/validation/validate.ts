import { placeText } from '../../operations/published/declared-names.ts'
import { operatorTextOf, callerTextOf, GatewayError, jsonRefusalOf, operatorText } from '../../errors.ts'
import { queryParametersOf } from '../../operations/published/query-parameters.ts'
import type { Operation } from '../../operations/table.ts'
import { hasNumerals } from '../../request/json.ts'
import { isPaging } from '../../request/paging.ts'
import {
  BODIES,
  type Contract,
  contractOf,
  JUDGED_MEMBERS,
  JUDGED_QUERIES,
  QUERIES,
  SELECTORS,
} from './schemas/contracts.ts'
import type {
  RuleResult,
  EngineError,
  IsDateText,
  RequestData,
  ValidationRule,
} from './schemas/engine-error.ts'
import { DEFER, itemsOf, membersOf } from './schemas/engine-error.ts'
import { isDateText } from './schemas/jackson.ts'
import { type QueryContract, readQuery } from './schemas/query-text.ts'
import { checkCountOf, type RuleStage, stageOf } from './rule-stages.ts'

/** The fields of an operation that validation reads. */
export type ValidatedOperation = Pick<Operation, 'id' | 'template' | 'checks' | 'body' | 'query'>

/**
 * Checks the rules that the engine applies before it checks any permission.
 * @throws GatewayError GW_INVALID_BODY, GW_INVALID_QUERY; EngineRefusal if the engine's response differs from these two errors
 */
export function checkShape(operation: ValidatedOperation, received: RequestData, isDate = isDateText): void {
  checkAt(0, { operation, received, isDateText: isDate })
}

interface RuleOptions {
  readonly passed?: number
  /** The index of the check that refuses. */
  readonly refused?: number
  /** Checks date texts. Default: dates of the default format. */
  readonly isDateText?: IsDateText
}

/**
 * Checks the rules that the engine applies after permissions are granted. Some rules apply between two checks of the
 * operation. With `passed`, only the rules that follow this number of checks are applied, so that a caller that lacks the
 * next permission gets the engine's response. With `refused`, only the rules that the engine applies before the refusing
 * check are applied.
 * @throws as checkShape
 */
export function checkRules(
  operation: ValidatedOperation,
  received: RequestData,
  options: RuleOptions = {},
): void {
  if (contractOf(operation) === null && queryContractOf(operation).readAfter === undefined) return
  const context = { operation, received, isDateText: options.isDateText ?? isDateText }
  if (options.passed !== undefined) return checkAt(options.passed, context)
  if (options.refused !== undefined) return checkAt(`refusal of ${options.refused}`, context)
  const last = checkCountOf(operation.checks)
  for (let stage = 1; stage <= last; stage += 1) checkAt(stage, context)
}

/**
 * Checks a query by which a body selects entities, if the gateway does not send it in a body. It is checked as the engine
 * would read it in the body.
 * @throws as checkShape; GatewayError GW_ITEMS_NOT_EXACT if the engine refuses the query with a message that cannot be
 * predicted
 */
export function checkSelector(
  name: keyof typeof SELECTORS,
  query: unknown,
  isDate: IsDateText = isDateText,
): void {
  const { type, rules } = SELECTORS[name]
  readAs({ type, isDateText: isDate }, query, [name])
  const received = { params: {}, query: new Map<string, string>(), body: query }
  const finding = findAt(0, rules, { operation: NO_CHECKS, received, isDateText: isDate })
  // The engine refuses this query, but the gateway does not send it.
  if (finding === DEFER) throw new GatewayError('GW_ITEMS_NOT_EXACT')
  refuse(finding, 'GW_INVALID_BODY')
}

/**
 * Returns whether the rules have judged a query completely, so that the engine would accept it. Returns false if a rule
 * leaves the outcome to the engine, or if the query has a parameter or member that no rule knows: a newer engine may
 * refuse it.
 */
export function isFullyJudged(operation: ValidatedOperation, received: RequestData): boolean {
  const { body, query } = operation
  if (body === undefined && query === undefined) return false
  return isParametersJudged(operation, received) && isBodyJudged(operation, received)
}

function isParametersJudged(operation: ValidatedOperation, received: RequestData): boolean {
  const { kinds } = queryParametersOf(operation)
  const isJudged = JUDGED_QUERIES.has(operation.query)
  const isKnown = [...received.query.keys()].every((name) => isPaging(name) || (isJudged && kinds.has(name)))
  return isKnown && findInQuery({ operation, received, isDateText }) === null
}

function isBodyJudged(operation: ValidatedOperation, received: RequestData): boolean {
  const { body } = operation
  if (body === undefined) return true
  const known = JUDGED_MEMBERS[body] ?? NO_NAMES
  const query = membersOf(received.body)
  const blocks = itemsOf(query['orQueries']).map(membersOf)
  const isKnown = [query, ...blocks].every((one) => Object.keys(one).every((name) => known.has(name)))
  const whole = { ...received, body: query }
  return isKnown && findAt(0, BODIES[body].rules, { operation, received: whole, isDateText }) === null
}

const NO_NAMES: ReadonlySet<string> = new Set()

const NO_CHECKS: ValidatedOperation = { id: '', template: '', checks: [] }

function checkAt(stage: RuleStage, context: Context): void {
  const { operation, received } = context
  // The engine reads the query string before it checks a permission, but after it has resolved a key.
  if (stage === stageOf({ after: queryContractOf(operation).readAfter }, operation.checks))
    refuse(findInQuery(context), 'GW_INVALID_QUERY')
  const contract = contractOf(operation)
  if (contract === null) return
  const { type, readAfter, rules } = contract
  // The engine treats an empty body as an empty object, or refuses it. This depends on how the engine is deployed.
  const whole = received.body === undefined ? { ...received, body: {} } : received
  // If an empty object makes the engine fail, the gateway cannot know the failure. The engine responds itself.
  if (received.body === undefined && isFailure(findAt(0, rules, { ...context, received: whole }))) return
  if (stage === stageOf({ after: readAfter }, operation.checks))
    readAs({ type, isDateText: context.isDateText }, whole.body)
  refuse(findAt(stage, rules, { ...context, received: whole }), 'GW_INVALID_BODY')
}

interface Context {
  readonly operation: ValidatedOperation
  readonly received: RequestData
  readonly isDateText: IsDateText
}

function findInQuery({ operation, received, isDateText: isDate }: Context): RuleResult {
  const contract = queryContractOf(operation)
  if (received.query.size === 0 && contract.find === undefined) return null
  const parameters = queryParametersOf(operation)
  const text = readQuery(received.query, { ...contract, parameters, isDateText: isDate })
  return contract.find === undefined ? text.finding : contract.find(text, received)
}

function queryContractOf({ query }: Pick<Operation, 'query'>): QueryContract {
  return query === undefined ? NO_RULES : QUERIES[query]
}

const NO_RULES: QueryContract = {}

function findAt(stage: RuleStage, rules: readonly ValidationRule[], context: Context): RuleResult {
  const { operation, received } = context
  const { template } = operation
  for (const rule of rules) {
    if (stageOf(rule, operation.checks) !== stage) continue
    const finding = rule.find(received, { template, isDateText: context.isDateText })
    // The engine's JSON reader may have refused such a body, and its message contains digits that are not known here.
    if (finding !== null) return hasNumerals(received.body) ? DEFER : finding
  }
  return null
}

/** Checks the type of a body. The engine's message for a body that it cannot map varies between processes. The gateway's message names the place. */
function readAs(
  { type, isDateText: isDate }: Pick<Contract, 'type'> & Pick<Context, 'isDateText'>,
  body: unknown,
  place: readonly PropertyKey[] = [],
): void {
  const misfit = type(body, 0, isDate)
  if (misfit === null) return
  const path = [...place, ...misfit.path]
  throw new GatewayError('GW_INVALID_BODY', {
    message: {
      caller: `The request body does not match the operation: ${placeOf(path)}: ${misfit.message}`,
      operator: operatorText`The request body does not match the operation: ${placeText(path)}: ${misfit.message}`,
    },
  })
}

const MAX_PLACE_CHARS = 200

function placeOf(path: readonly PropertyKey[]): string {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
  return `$${steps.join('')}`.slice(0, MAX_PLACE_CHARS)
}

function refuse(finding: RuleResult, code: 'GW_INVALID_BODY' | 'GW_INVALID_QUERY'): void {
  if (finding === null || finding === DEFER) return
  if ('body' in finding)
    throw jsonRefusalOf(
      finding.status,
      finding.body,
      operatorText`the response does not depend on data of the engine`,
    )
  const { status, type, message, code: engineCode } = finding
  if (isOurs(finding)) throw new GatewayError(code, { message })
  throw jsonRefusalOf(
    status,
    { type, message: callerTextOf(message), code: engineCode },
    operatorTextOf(message),
  )
}

function isFailure(finding: RuleResult): boolean {
  return finding !== null && finding !== DEFER && finding.status >= 500
}

/** Returns whether the gateway's own error has the same status and body as the engine's. */
function isOurs({ status, type, code }: EngineError): boolean {
  return status === 400 && type === 'InvalidRequestException' && code === null
}
