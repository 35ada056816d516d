import { type Report, rowsReport } from './stage.ts'
import type { LocatedContext, MatchedContext, RequestContext } from './context.ts'
import { bounded } from '../metrics/access-log.ts'
import type { AuthorizationMode, Parts } from './parts.ts'
import type { Restriction, RowsDecision } from '../policy/authz/permit.ts'
import { checkRules } from '../policy/validation/validate.ts'
import type { TraceDecision } from '../policy/authz/checks/decision-trace.ts'
import { answerableOf } from './replies.ts'

/**
 * Runs a check as its mode says: `report` counts and logs a refusal and lets the request go on; with `engine` it goes on to
 * the engine, which decides, and nothing that is cached is given out.
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
      ? checked.catch((error: unknown) => letPass(parts, mode, context, error))
      : checked
  } catch (error) {
    return letPass(parts, mode, context, error)
  }
}

function letPass(parts: Parts, mode: AuthorizationMode, context: LocatedContext, error: unknown): void {
  if (mode === 'engine') context.bypassCache = true
  else report(parts, context, error)
}

function report({ metrics, log }: Parts, context: LocatedContext, error: unknown): void {
  const refusal = answerableOf(error)
  const { id: requestId, stage, denialReason, operation, engine } = context
  const reason = 'code' in refusal ? refusal.code : `${refusal.statusCode}`
  metrics.refusal({ engine: engine.name, operation: operation.id, stage: `${stage}-report`, reason })
  log.warn(
    { requestId, operation: operation.id, engine: engine.name, would: bounded(refusal.message) },
    'would be refused',
  )
  keep(context, { stage, refusal, denialReason })
  context.denialReason = null
}

/** Which rows of the answer are the caller's, as the mode says. @throws GatewayError where that cannot be told */
export function restrict(match: MatchedContext, decision: RowsDecision | undefined): void {
  const { authorization } = match.engine
  const rows = restrictionOf(decision)
  // A report changes nothing: whoever would see fewer rows sees them all.
  if (authorization === 'enforce') match.rows = rows
  else if (rows !== null && authorization === 'engine') match.bypassCache = true
  else if (rows !== null) reportRows(match, rows)
}

function restrictionOf(decision: RowsDecision | undefined): Restriction | null {
  if (decision === undefined || decision.rows === 'all') return null
  if (decision.rows === 'refused') throw decision.refusal
  return decision
}

/** A query that would have answered fewer rows. */
function reportRows(match: MatchedContext, { rows }: Restriction): void {
  keep(match, rowsReport(match.stage, rows === 'none' ? 'rows: none' : 'rows: some'))
  match.missingRows = match.permit.missingRows?.(match.accessRequest) ?? null
}

function keep(context: RequestContext, kept: Report): void {
  context.reports = [...(context.reports ?? []), kept]
}

/** Some rules stand between two permissions: whoever breaks one is told so, and not that the later permission is missing. */
export function rulesBetween(parts: Parts, match: MatchedContext): TraceDecision | undefined {
  const { engine, operation, accessRequest } = match
  if (operation.body === undefined || operation.checks.length < 2) return undefined
  return ({ check, decision }) => {
    if (decision.permitted)
      void enforce(parts, engine.validation, match, () =>
        checkRules(operation, accessRequest, { passed: check.index + 1, isDateText: engine.isDateText }),
      )
    return decision
  }
}
