import { type OperatorText, operatorText, GatewayError } from '../errors.ts'
import { type Ceiling, ceilingPermits, MEMBERS_ABOVE_SAFE } from '../operations/ceilings.ts'
import { HAZARD_RULES } from '../operations/hazard-rules.ts'
import type { Operation } from '../operations/table.ts'
import { bodyValue } from '../request/body.ts'
import { type AcceptedHazards, checkHazards } from '../policy/validation/hazards.ts'
import type { CheckedContext, Outcome, ReceivedRequest } from './context.ts'
import type { Dependencies } from './dependencies.ts'

/** The methods of an application that count as reads. The effect of its other methods is unknown, so each of them counts as a write. */
export const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * An expression in a query is code, which could change anything, so no setting allows it to a caller with a ceiling. The known
 * expressions change nothing.
 */
const ACCEPTED: AcceptedHazards = {
  allowedHazards: new Set(HAZARD_RULES.filter((rule) => rule !== 'expressions')),
  allowedExpressions: new Set(),
}

type CeilingDependencies = Pick<Dependencies, 'ceilingOf' | 'metrics'>

/**
 * Checks the ceiling of the caller. It is the gateway's own limit, so it applies in every mode.
 * @throws GatewayError GW_CEILING, or GW_HAZARD for an expression
 */
export function requireCeiling(dependencies: CeilingDependencies, context: CheckedContext): void {
  const { principal, operation, engine, accessRequest } = context
  context.ceiling = dependencies.ceilingOf(principal)
  if (context.ceiling === 'all') return
  const isPermitted =
    ceilingPermits(context.ceiling, operation) && !hasMemberAboveSafe(operation, accessRequest.body)
  conclude(dependencies, context, { engine: engine.name, isPermitted })
  checkHazards(operation, accessRequest, ACCEPTED)
}

/** Returns whether a body has a member that only the ceiling `all` permits. An engine reads null and an empty list as absent. */
function hasMemberAboveSafe({ id }: Pick<Operation, 'id'>, body: unknown): boolean {
  const member = MEMBERS_ABOVE_SAFE.get(id)
  const value = member === undefined ? null : (bodyValue(body, member) ?? null)
  return value !== null && !(Array.isArray(value) && value.length === 0)
}

/**
 * Checks the ceiling of the caller of an application, whose operations are unknown. With a ceiling, only methods that read are
 * permitted, and no WebSocket, because its client could send anything.
 * @throws GatewayError GW_CEILING
 */
export function requireReadCeiling(
  dependencies: CeilingDependencies,
  { context, method }: Pick<ReceivedRequest, 'context' | 'method'>,
  isUpgrade: boolean,
): void {
  const { principal, passthrough } = context
  if (principal === null || passthrough === 'none') return
  context.ceiling = dependencies.ceilingOf(principal)
  if (context.ceiling === 'all') return
  const isPermitted = READ_METHODS.has(method) && !isUpgrade
  conclude(dependencies, context, { engine: passthrough.prefix, isPermitted })
}

interface CeilingDecision {
  /** The name of the engine, or the prefix of the application. */
  readonly engine: string
  readonly isPermitted: boolean
}

function conclude(
  { metrics }: CeilingDependencies,
  outcome: Pick<Outcome, 'ceiling' | 'stage'>,
  { engine, isPermitted }: CeilingDecision,
): void {
  const { ceiling } = outcome
  metrics.ceiling({ engine, ceiling, result: isPermitted ? 'permitted' : 'refused' })
  if (isPermitted) return
  // The refusal does not depend on the authorization records, so it is one of the limits.
  outcome.stage = 'admit'
  throw new GatewayError('GW_CEILING', { message: MESSAGES[ceiling] })
}

const MESSAGES: Readonly<Record<Ceiling, OperatorText>> = {
  read: operatorText`The ceiling 'read' of the caller permits only operations that read`,
  safe: operatorText`The ceiling 'safe' of the caller does not permit this operation`,
  all: operatorText`The ceiling of the caller does not permit this operation`,
}
