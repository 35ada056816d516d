import { type Report, rowsReport } from './stage.ts'
import type { LocatedContext, MatchedContext, RequestContext } from './context.ts'
import { bounded } from '../metrics/access-log.ts'
import type { AuthorizationMode, Parts } from './parts.ts'
import type { Restriction, ListDecision } from '../lists/list-decision.ts'
import { checkRules } from '../policy/validation/validate.ts'
import type { TraceDecision } from '../policy/authz/checks/decision-trace.ts'
import { refusalOf } from './replies.ts'

/**
 * Runs a check in a mode. With `report`, a refusal is counted and logged, and the request continues. With `engine`, the request
 * continues to the engine, which decides.
 */
export function enforce(
  parts: Parts,
  mode: AuthorizationMode,
  context: LocatedContext,
  check: () => void | Promise<void>,
): void | Promise<void> {
  if (mode === 'off') return undefined
  if (mode === 'enforce') return check()
  try {
    const checked = check()
    return checked instanceof Promise
      ? checked.catch((error: unknown) => reportOnly(parts, mode, context, error))
      : checked
  } catch (error) {
    return reportOnly(parts, mode, context, error)
  }
}

function reportOnly(parts: Parts, mode: AuthorizationMode, context: LocatedContext, error: unknown): void {
  if (mode === 'report') report(parts, context, error)
}

function report({ metrics, log }: Parts, context: LocatedContext, error: unknown): void {
  const refusal = refusalOf(error)
  const { id: requestId, stage, denialReason, operation, engine } = context
  const reason = 'code' in refusal ? refusal.code : `${refusal.statusCode}`
  metrics.refusal({ engine: engine.name, operation: operation.id, stage: `${stage}-report`, reason })
  log.warn(
    { requestId, operation: operation.id, engine: engine.name, would: bounded(refusal.message) },
    'request would be refused',
  )
  keep(context, { stage, refusal, denialReason })
  context.denialReason = null
}

/**
 * Applies the restriction of a positive decision to the items of the result, in the mode of the engine. Only `enforce`, and
 * `engine` if no item is hidden, let the request share cached responses: with `report`, callers that the gateway would refuse fill
 * the cache as well.
 * @throws GatewayError if the visible items cannot be determined
 */
export function restrict(match: MatchedContext, decision: ListDecision | undefined): void {
  const { authorization } = match.engine
  const rows = restrictionOf(decision)
  if (authorization === 'enforce') match.rows = rows
  // A report changes nothing: a caller who would see fewer items sees all of them.
  else if (rows !== null && authorization === 'report') reportRows(match, rows)
  match.isPermittedHere = authorization === 'enforce' || (authorization === 'engine' && rows === null)
}

function restrictionOf(decision: ListDecision | undefined): Restriction | null {
  if (decision === undefined || decision.visibility === 'all') return null
  if (decision.visibility === 'undecidable') throw decision.refusal
  return decision
}

/** Reports a query that would have returned fewer items. */
function reportRows(match: MatchedContext, { visibility }: Restriction): void {
  keep(match, rowsReport(match.stage, visibility === 'none' ? 'rows: none' : 'rows: some'))
  match.missingRows = match.permit.missingRows?.(match.accessRequest) ?? null
}

function keep(context: RequestContext, kept: Report): void {
  context.reports = [...(context.reports ?? []), kept]
}

/**
 * Returns a function that applies the validation rules between two permission checks. A request that breaks a rule gets its error,
 * not the refusal of the later check.
 */
export function rulesBetween(parts: Parts, match: MatchedContext): TraceDecision | undefined {
  const { engine, operation, accessRequest } = match
  if (operation.body === undefined || operation.checks.length < 2) return undefined
  return ({ check: { index }, decision }) => {
    const place = decision.permitted ? { passed: index + 1 } : { refused: index }
    void enforce(parts, engine.validation, match, () =>
      checkRules(operation, accessRequest, { ...place, isDateText: engine.isDateText }),
    )
    return decision
  }
}
