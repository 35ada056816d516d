import { GatewayError, jsonRefusalOf } from '../../errors.ts'
import type { Operation } from '../../operations/table.ts'
import { hasNumerals } from '../../request/json.ts'
import { isPaging } from '../../request/paging.ts'
import {
  BODIES,
  type Contract,
  JUDGED_MEMBERS,
  JUDGED_PARAMETERS,
  QUERIES,
  SELECTORS,
} from './schemas/contracts.ts'
import type {
  Finding,
  EngineError,
  IsDateText,
  Received,
  RulePlace,
  ValidationRule,
} from './schemas/engine-error.ts'
import { DEFER, itemsOf, membersOf } from './schemas/engine-error.ts'
import { isDateText } from './schemas/jackson.ts'

export type { Received } from './schemas/engine-error.ts'

/** What of a row the checks need. */
export type Checked = Pick<Operation, 'template' | 'checks' | 'body' | 'query'>

/**
 * What the engine refuses before it asks for any permission.
 * @throws GatewayError GW_INVALID_BODY, GW_INVALID_QUERY; EngineRefusal where the engine answers otherwise than that
 */
export function checkShape(operation: Checked, received: Received, isDate = isDateText): void {
  checkAt(0, { operation, received, isDateText: isDate })
}

interface RuleOptions {
  readonly passed?: number
  /** The index of the check that refuses. */
  readonly refused?: number
  /** Default: dates of the default format. */
  readonly isDateText?: IsDateText
}

/**
 * What the engine refuses once permissions are granted. Some rules stand between two checks of the row: with `passed`
 * only those are looked at that follow that many checks, so that a caller who lacks the next one gets the engine's answer.
 * With `refused` only rules are applied that the engine applies before the check that refuses.
 * @throws as checkShape
 */
export function checkRules(operation: Checked, received: Received, options: RuleOptions = {}): void {
  if (operation.query === undefined && operation.body === undefined) return
  const context = { operation, received, isDateText: options.isDateText ?? isDateText }
  if (options.passed !== undefined) return checkAt(options.passed, context)
  if (options.refused !== undefined) return checkAt(`refusal of ${options.refused}`, context)
  const last = checkCountOf(operation)
  for (let stage = 1; stage <= last; stage += 1) checkAt(stage, context)
}

/**
 * A query that a body selects by, where it is asked for in another way than in a body: as the engine would read it there.
 * @throws as checkShape; GatewayError GW_ROWS_NOT_EXACT where the engine refuses it in words that cannot be told in advance
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
  // It refuses this, but will not be asked.
  if (finding === DEFER) throw new GatewayError('GW_ROWS_NOT_EXACT')
  refuse(finding, 'GW_INVALID_BODY')
}

/**
 * Returns whether the rules have judged a query completely, so that the engine would accept it. Returns false if a rule
 * leaves the verdict to the engine, or if the query has a parameter or member that no rule knows: a newer engine may
 * refuse it.
 */
export function isFullyJudged(operation: Checked, received: Received): boolean {
  const { body, query } = operation
  if (body === undefined && query === undefined) return false
  return isParametersJudged(operation, received) && isBodyJudged(operation, received)
}

function isParametersJudged(operation: Checked, received: Received): boolean {
  const { query } = operation
  if (query === undefined) return true
  const known = JUDGED_PARAMETERS[query] ?? NO_NAMES
  const isKnown = [...received.query.keys()].every((name) => known.has(name) || isPaging(name))
  return isKnown && findAt(0, QUERIES[query], { operation, received, isDateText }) === null
}

function isBodyJudged(operation: Checked, received: Received): boolean {
  const { body } = operation
  if (body === undefined) return true
  const known = JUDGED_MEMBERS[body] ?? NO_NAMES
  const query = membersOf(received.body)
  const blocks = itemsOf(query['orQueries']).map(membersOf)
  const isKnown = [query, ...blocks].every((one) =>
    Object.keys(one).every((name) => known.has(name) || name === 'orQueries'),
  )
  const whole = { ...received, body: query }
  return isKnown && findAt(0, BODIES[body].rules, { operation, received: whole, isDateText }) === null
}

const NO_NAMES: ReadonlySet<string> = new Set()

const NO_CHECKS: Checked = { template: '', checks: [] }

function checkAt(stage: RulePlace, context: Context): void {
  const { operation, received } = context
  if (operation.query !== undefined)
    refuse(findAt(stage, QUERIES[operation.query], context), 'GW_INVALID_QUERY')
  if (operation.body === undefined) return
  const { type, readAfter = 0, rules } = BODIES[operation.body]
  // An empty body is an empty object, or refused by the engine itself: that depends on how it is deployed.
  const whole = received.body === undefined ? { ...received, body: {} } : received
  // Where an empty object makes it fail, that would be our guess at how it fails: it shall say so itself.
  if (received.body === undefined && isFailure(findAt(0, rules, { ...context, received: whole }))) return
  if (stage === readAfter) readAs({ type, isDateText: context.isDateText }, whole.body)
  refuse(findAt(stage, rules, { ...context, received: whole }), 'GW_INVALID_BODY')
}

interface Context {
  readonly operation: Checked
  readonly received: Received
  readonly isDateText: IsDateText
}

function findAt(stage: RulePlace, rules: readonly ValidationRule[], context: Context): Finding {
  const { operation, received } = context
  const { template } = operation
  for (const rule of rules) {
    if ((rule.after === 'all' ? checkCountOf(operation) : rule.after) !== stage) continue
    const finding = rule.find(received, { template, isDateText: context.isDateText })
    // Its reader may have refused such a body, and its words show digits that are not known here.
    if (finding !== null) return hasNumerals(received.body) ? DEFER : finding
  }
  return null
}

/** Without the checks that follow the engine's answer. */
function checkCountOf({ checks }: Checked): number {
  return checks.filter(({ after }) => after !== true).length
}

/** The engine's own words for a body it cannot map vary from process to process; ours say where. */
function readAs(
  { type, isDateText: isDate }: Pick<Contract, 'type'> & Pick<Context, 'isDateText'>,
  body: unknown,
  place: readonly PropertyKey[] = [],
): void {
  const misfit = type(body, 0, isDate)
  if (misfit === null) return
  throw new GatewayError('GW_INVALID_BODY', {
    message: `The request body does not fit the operation: ${placeOf([...place, ...misfit.path])}: ${misfit.message}`,
  })
}

const MAX_PLACE_CHARS = 200

function placeOf(path: readonly PropertyKey[]): string {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
  return `$${steps.join('')}`.slice(0, MAX_PLACE_CHARS)
}

function refuse(finding: Finding, code: 'GW_INVALID_BODY' | 'GW_INVALID_QUERY'): void {
  if (finding === null || finding === DEFER) return
  if ('body' in finding) throw jsonRefusalOf(finding.status, finding.body, 'the answer is known beforehand')
  const { status, type, message, code: engineCode } = finding
  if (isOurs(finding)) throw new GatewayError(code, { message })
  throw jsonRefusalOf(status, { type, message, code: engineCode }, message)
}

function isFailure(finding: Finding): boolean {
  return finding !== null && finding !== DEFER && finding.status >= 500
}

/** Whether our own error would have the very status and body of the engine's. */
function isOurs({ status, type, code }: EngineError): boolean {
  return status === 400 && type === 'InvalidRequestException' && code === null
}
