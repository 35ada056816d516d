import type { FastifyRequest } from 'fastify'
import type { EngineVerdict, GatewayError } from './errors.ts'
import type { Stage } from './request.ts'
import type { Report } from './guard.ts'
import type { Audit } from './metrics/audit.ts'
import type { Operation } from './operations/table.ts'

const NONE: readonly Audit[] = []
const WRITING: ReadonlySet<string> = new Set(['POST', 'PUT', 'DELETE'])

/** The lines of a request that is over: one for its refusal or for what it would have been refused for, else one for a write. */
export function auditsOf(request: FastifyRequest, status: number): readonly Audit[] {
  const { refusal, reports, operation, stage, grounds } = request
  if (refusal === null && reports === null && !isWrite(operation)) return NONE
  const of = commonOf(request, status)
  const audits = (reports ?? []).map((report) => auditOf(of, 'reported', report))
  if (refusal !== null && isDecision(refusal, stage))
    audits.push(auditOf(of, 'refused', { stage, refusal, grounds }))
  else if (audits.length === 0 && isWrite(operation)) audits.push(auditOf(of, 'permitted', null))
  return audits
}

type Common = Omit<Audit, 'decision' | 'stage' | 'rule' | 'missing'>

function commonOf({ id, principal, engine, operation, method }: FastifyRequest, status: number): Common {
  return {
    requestId: id,
    user: principal?.userId ?? null,
    engine: engine?.name ?? null,
    operation: operation?.id ?? null,
    method,
    status,
  }
}

function auditOf(of: Common, decision: Audit['decision'], report: Report | null): Audit {
  const rule = report === null ? null : ruleOf(report)
  return { ...of, decision, stage: report?.stage ?? null, rule, missing: report?.grounds?.missing ?? [] }
}

function isWrite(operation: Operation | null): boolean {
  return operation !== null && operation.retry !== 'always' && WRITING.has(operation.method)
}

/** Not that an engine is away or there is no room, and not what nobody could be named for: that is no HTTP, or has two readings. */
function isDecision({ statusCode }: GatewayError | EngineVerdict, stage: Stage): boolean {
  return stage !== 'canonical' && ((stage !== 'forward' && stage !== 'admit') || statusCode < 500)
}

function ruleOf({ stage, refusal, grounds }: Report): string | null {
  if (grounds !== null) return grounds.rule
  if (refusal === null) return null
  if ('code' in refusal) return refusal.rule ?? refusal.code
  return stage === 'authenticate' ? 'credentials' : String(refusal.statusCode)
}
