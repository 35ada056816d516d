import type { FastifyRequest } from 'fastify'
import type { EngineVerdict, GatewayError, Grounds } from './errors.ts'
import type { Stage } from './gateway.ts'
import { matchOf } from './matched.ts'
import type { Mode, Parts } from './parts.ts'
import type { Restriction } from './policy/permit.ts'
import { answerableOf } from './replies.ts'

/** What would have been refused. */
export interface Report {
  readonly stage: Stage
  /** Null: answered, with fewer rows. */
  readonly refusal: GatewayError | EngineVerdict | null
  readonly grounds: Grounds | null
}

/** Runs a check as its mode says: `report` counts and logs a refusal and lets the request go on. */
export function guard(
  parts: Parts,
  mode: Mode,
  request: FastifyRequest,
  check: () => void | Promise<void>,
): void | Promise<void> {
  if (mode === 'off') return undefined
  if (mode === 'enforce') return check()
  try {
    const checked = check()
    return checked instanceof Promise
      ? checked.catch((error: unknown) => report(parts, request, error))
      : checked
  } catch (error) {
    return report(parts, request, error)
  }
}

function report({ metrics, log }: Parts, request: FastifyRequest, error: unknown): void {
  const { operation, engine } = matchOf(request)
  const refusal = answerableOf(error)
  const { stage, grounds } = request
  const reason = 'code' in refusal ? refusal.code : `${refusal.statusCode}`
  metrics.refusal({ engine: engine.name, operation: operation.id, stage: `${stage}-report`, reason })
  log.warn(
    { requestId: request.id, operation: operation.id, engine: engine.name, would: refusal.message },
    'would be refused',
  )
  keep(request, { stage, refusal, grounds })
  request.grounds = null
}

/** A query that would have answered fewer rows. */
export function reportRows(request: FastifyRequest, { rows }: Restriction): void {
  const rule = rows === 'none' ? 'rows: none' : 'rows: some'
  keep(request, { stage: request.stage, refusal: null, grounds: { rule, missing: [] } })
}

function keep(request: FastifyRequest, kept: Report): void {
  request.reports = [...(request.reports ?? []), kept]
}
