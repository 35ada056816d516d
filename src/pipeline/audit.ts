import { targetPathOf } from '../request/target.ts'
import type { FastifyRequest } from 'fastify'
import type { EngineRefusal, GatewayError } from '../errors.ts'
import { type Report, rowsReport, type Stage } from './stage.ts'
import { authenticatedBy } from './authenticated-by.ts'
import type { RequestContext } from './context.ts'
import { createdIdsOf } from './created-ids.ts'
import type { Audit } from '../metrics/audit-log.ts'
import type { Operation } from '../operations/table.ts'
import { isRecord } from '../request/value.ts'
import { readBasic } from '../policy/authn/credentials.ts'

const NONE: readonly Audit[] = []
const WRITING: ReadonlySet<string> = new Set(['POST', 'PUT', 'DELETE'])

/** What an application does with other methods is not known, so each of them may write. */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** The lines of a request that is over: one for its refusal or for what it would have been refused for, else one for a write. */
export function auditsOf(request: FastifyRequest, end: AnswerEnd): readonly Audit[] {
  const { refusal, reports, stage, denialReason, isWithheld } = request.context
  if (refusal === null && reports === null && !isWrite(request)) return NONE
  const of = commonOf(request, end)
  const audits = (reports ?? []).map((report) => auditOf(of, 'reported', report))
  if (refusal !== null && isDecision(refusal, stage))
    audits.push(auditOf(of, 'refused', { stage, refusal, denialReason }))
  else if (request.context.isWrongPassword) audits.push(auditOf(of, 'refused', WRONG_PASSWORD))
  else if (audits.length === 0 && isWrite(request))
    audits.push(auditOf(of, 'permitted', isWithheld ? rowsReport('permit', 'rows: none') : null))
  return audits
}

type AnswerEnd = Pick<Audit, 'status' | 'durationMs'>

type Common = Omit<Audit, 'decision' | 'stage' | 'rule' | 'missing' | 'otherRefusal'>

/** Of what passes through, the path without its query; null for everything else. The first stage has seen to its characters. */
export function passedPathOf({ context: { passthrough }, url }: FastifyRequest): string | null {
  return passthrough === null ? null : targetPathOf(url)
}

/** What shows as nothing, or turns what follows it around. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** The user that a refused login has named, or whose password was asked about; null: the login was not refused, or named none. */
export function attemptedUserOf({ context, headers: { authorization } }: FastifyRequest): string | null {
  if (context.triedUser !== null) return visible(context.triedUser)
  if (context.refusal === null || context.stage !== 'authenticate' || context.principal !== null) return null
  const named = readBasic(authorization ?? '')
  return named === null ? null : visible(named.user)
}

/** Nearly every text is one: then it is not searched by properties of Unicode. */
const PLAIN = /^[ -~]*$/

function visible(text: string): string {
  return PLAIN.test(text) ? text : text.replace(INVISIBLE, '\uFFFD')
}

/** Answered and no refusal, but a login that failed. */
const WRONG_PASSWORD: Report = {
  stage: 'authenticate',
  refusal: null,
  denialReason: { rule: 'credentials', missing: [] },
}

function commonOf(request: FastifyRequest, { status, durationMs }: AnswerEnd): Common {
  const { context } = request
  const { id, traceId, address, principal, engine, operation, passthrough } = context
  return {
    requestId: id,
    traceId,
    client: address,
    user: principal?.userId ?? null,
    attemptedUser: attemptedUserOf(request),
    authenticated: authenticatedBy(principal),
    engine: engine?.name ?? null,
    node: context.node,
    operation: operation?.id ?? null,
    method: request.method,
    prefix: passthrough,
    path: passedPathOf(request),
    params: operation === null ? NO_PARAMS : visibleParamsOf(request),
    created: operation === null || status > 299 ? NO_IDS : visibleIdsOf(operation, context),
    status,
    durationMs,
  }
}

const NO_PARAMS: Audit['params'] = {}
const NO_IDS: Audit['created'] = []

function visibleParamsOf({ params }: FastifyRequest): Audit['params'] {
  const named = Object.entries(isRecord(params) ? params : {})
  return Object.fromEntries(named.map(([name, value]) => [name, visible(String(value))]))
}

function visibleIdsOf(operation: Operation, { answerBody, accessRequest }: RequestContext): Audit['created'] {
  return createdIdsOf(operation, { answer: answerBody, body: accessRequest?.body }).map(visible)
}

function auditOf(of: Common, decision: Audit['decision'], report: Report | null): Audit {
  const rule = report === null ? null : ruleOf(report)
  const { missing = [], otherRefusal = null } = report?.denialReason ?? {}
  return { ...of, decision, stage: report?.stage ?? null, rule, missing, otherRefusal }
}

function isWrite({ context: { operation, passthrough }, method }: FastifyRequest): boolean {
  if (passthrough !== null) return !READING.has(method)
  return operation !== null && operation.retry !== 'always' && WRITING.has(operation.method)
}

/** Not that an engine is away or there is no room, and not what nobody could be named for: that is no HTTP, or has two readings. */
function isDecision({ statusCode }: GatewayError | EngineRefusal, stage: Stage): boolean {
  return stage !== 'canonical' && ((stage !== 'forward' && stage !== 'admit') || statusCode < 500)
}

function ruleOf({ stage, refusal, denialReason }: Report): string | null {
  if (denialReason !== null) return denialReason.rule
  if (refusal === null) return null
  if ('code' in refusal) return refusal.rule ?? refusal.code
  if (stage === 'authenticate') return 'credentials'
  // An answer that no check gives: the entity is another tenant's, or not there.
  return stage === 'permit' ? refusal.reason : String(refusal.statusCode)
}
