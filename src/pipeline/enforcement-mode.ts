import type { FastifyRequest } from 'fastify'
import type { Report } from './stage.ts'
import { matchOf } from './match.ts'
import { bounded } from '../metrics/access-log.ts'
import type { AuthorizationMode, Parts } from './parts.ts'
import type { Restriction, RowsDecision } from '../policy/authz/permit.ts'
import { checkRules } from '../policy/validation/validate.ts'
import type { TraceDecision } from '../policy/authz/checks/decision-trace.ts'
import { answerableOf } from './replies.ts'

/**
 * Runs a check as its mode says: `report` counts and logs a refusal and lets the request go on; with `engine` it goes on to
 * the engine, which decides, and nothing that is held is given out.
 */
export function enforce(
  parts: Parts,
  mode: AuthorizationMode,
  request: FastifyRequest,
  check: () => void | Promise<void>,
): void | Promise<void> {
  if (mode === 'off') return undefined
  if (mode === 'enforce') return check()
  try {
    const checked = check()
    return checked instanceof Promise
      ? checked.catch((error: unknown) => letPass(parts, mode, request, error))
      : checked
  } catch (error) {
    return letPass(parts, mode, request, error)
  }
}

function letPass(parts: Parts, mode: AuthorizationMode, request: FastifyRequest, error: unknown): void {
  if (mode === 'engine') request.bypassCache = true
  else report(parts, request, error)
}

function report({ metrics, log }: Parts, request: FastifyRequest, error: unknown): void {
  const { operation, engine } = matchOf(request)
  const refusal = answerableOf(error)
  const { stage, denialReason } = request
  const reason = 'code' in refusal ? refusal.code : `${refusal.statusCode}`
  metrics.refusal({ engine: engine.name, operation: operation.id, stage: `${stage}-report`, reason })
  log.warn(
    { requestId: request.id, operation: operation.id, engine: engine.name, would: bounded(refusal.message) },
    'would be refused',
  )
  keep(request, { stage, refusal, denialReason })
  request.denialReason = null
}

/** Which rows of the answer are the caller's, as the mode says. @throws GatewayError where that cannot be told */
export function restrict(request: FastifyRequest, decision: RowsDecision | undefined): void {
  const { authorization } = matchOf(request).engine
  const rows = restrictionOf(decision)
  // A report changes nothing: whoever would see fewer rows sees them all.
  if (authorization === 'enforce') request.rows = rows
  else if (rows !== null && authorization === 'engine') request.bypassCache = true
  else if (rows !== null) reportRows(request, rows)
}

function restrictionOf(decision: RowsDecision | undefined): Restriction | null {
  if (decision === undefined || decision.rows === 'all') return null
  if (decision.rows === 'refused') throw decision.refusal
  return decision
}

/** A query that would have answered fewer rows. */
function reportRows(request: FastifyRequest, { rows }: Restriction): void {
  const rule = rows === 'none' ? 'rows: none' : 'rows: some'
  keep(request, { stage: request.stage, refusal: null, denialReason: { rule, missing: [] } })
}

function keep(request: FastifyRequest, kept: Report): void {
  request.reports = [...(request.reports ?? []), kept]
}

/** Some rules stand between two permissions: whoever breaks one is told so, and not that the later permission is missing. */
export function rulesBetween(parts: Parts, request: FastifyRequest): TraceDecision | undefined {
  const { engine, operation, accessRequest } = matchOf(request)
  if (operation.body === undefined || operation.checks.length < 2) return undefined
  return ({ check, decision }) => {
    if (decision.permitted)
      void enforce(parts, engine.validation, request, () =>
        checkRules(operation, accessRequest, check.index + 1),
      )
    return decision
  }
}
