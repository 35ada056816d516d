import { type Report, itemsReport } from './stage.ts'
import {
  ALL_ITEMS,
  type CheckedContext,
  type LocatedContext,
  NOT_ENFORCED,
  type Outcome,
  type RequestPermission,
  PERMITTED_HERE,
  type KnownListDecision,
} from './context.ts'
import { bounded } from '../metrics/access-log.ts'
import type { AuthorizationMode, Dependencies } from './dependencies.ts'
import type { ListDecision } from '../lists/answer/list-decision.ts'
import type { MaybePromise } from '../request/maybe-promise.ts'
import { checkRules } from '../policy/validation/validate.ts'
import type { TraceDecision } from '../policy/authz/checks/decision-trace.ts'
import { refusalOf } from './replies.ts'

/**
 * Runs a check in a mode. With `report`, a refusal is counted and logged, and the request continues. With `engine`, the request
 * continues to the engine, which decides. Returns undefined if the check was not made, or if its refusal was not applied.
 */
export function enforce<T>(
  dependencies: Dependencies,
  mode: AuthorizationMode,
  context: LocatedContext,
  check: () => MaybePromise<T>,
): MaybePromise<T | undefined> {
  if (mode === 'off') return undefined
  if (mode === 'enforce') return check()
  try {
    const checked = check()
    return checked instanceof Promise
      ? checked.catch((error: unknown) => reportOnly(dependencies, mode, context, error))
      : checked
  } catch (error) {
    return reportOnly(dependencies, mode, context, error)
  }
}

function reportOnly(
  dependencies: Dependencies,
  mode: AuthorizationMode,
  context: LocatedContext,
  error: unknown,
): undefined {
  if (mode === 'report') report(dependencies, context, error)
  return undefined
}

function report({ metrics, log }: Dependencies, context: LocatedContext, error: unknown): void {
  const refusal = refusalOf(error)
  const { id: requestId, stage, operation, engine } = context
  const reason = 'code' in refusal ? refusal.code : `${refusal.statusCode}`
  metrics.refusal({ engine: engine.name, operation: operation.id, stage: `${stage}-report`, reason })
  log.warn(
    { requestId, operation: operation.id, engine: engine.name, would: bounded(refusal.message) },
    'request would be refused',
  )
  keep(context, { stage, refusal, denialReason: refusal.denialReason })
}

/**
 * Returns the permission for a positive decision about the items of the result, in the mode of the engine. Only `enforce`, and
 * `engine` if no item is hidden, let the request share cached responses: with `report`, callers that the gateway would refuse fill
 * the cache as well.
 * @throws GatewayError if the visible items cannot be determined
 */
export function permissionOf(context: CheckedContext, decision: ListDecision | undefined): RequestPermission {
  const { authorization } = context.engine
  const listDecision = knownDecisionOf(decision)
  if (authorization === 'enforce') return { ...PERMITTED_HERE, listDecision }
  // A report changes nothing: a caller who would see fewer items sees all of them.
  if (listDecision.visibility !== 'all' && authorization === 'report')
    reportHiddenItems(context, listDecision)
  return authorization === 'engine' && listDecision.visibility === 'all' ? PERMITTED_HERE : NOT_ENFORCED
}

function knownDecisionOf(decision: ListDecision | undefined): KnownListDecision {
  if (decision === undefined) return ALL_ITEMS
  if (decision.visibility === 'undecidable') throw decision.refusal
  return decision
}

/** Reports a query that would have returned fewer items. */
function reportHiddenItems(context: CheckedContext, { visibility }: KnownListDecision): void {
  const rule = visibility === 'none' ? 'items: none' : 'items: some'
  const findMissing = context.permit.missingItemPermissions?.(context.accessRequest)
  keep(context, { ...itemsReport(context.stage, rule), findMissing })
}

function keep(outcome: Pick<Outcome, 'reports'>, kept: Report): void {
  outcome.reports = [...outcome.reports, kept]
}

/**
 * Returns a function that applies the validation rules between two permission checks. A request that breaks a rule gets its error,
 * not the refusal of the later check.
 */
export function rulesBetween(dependencies: Dependencies, context: CheckedContext): TraceDecision | undefined {
  const { engine, operation, accessRequest } = context
  if (operation.body === undefined || operation.checks.length < 2) return undefined
  return ({ check: { index }, decision }) => {
    const place = decision.permitted ? { passed: index + 1 } : { refused: index }
    void enforce(dependencies, engine.validation, context, () =>
      checkRules(operation, accessRequest, { ...place, isDateText: engine.isDateText }),
    )
    return decision
  }
}
