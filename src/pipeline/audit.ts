import { targetPathOf } from '../request/target.ts'
import type { FastifyRequest } from 'fastify'
import type { EngineRefusal, GatewayError } from '../errors.ts'
import { type Report, itemsReport, type Stage } from './stage.ts'
import { authenticatedBy } from './authenticated-by.ts'
import { isChecked, nodeOf, type RequestContext } from './context.ts'
import { memberChangeOf } from './audited-change.ts'
import { createdIdsOf, keptResponseOf } from './created-ids.ts'
import type { Audit } from '../metrics/audit-log.ts'
import type { QueryChange } from './query-changes.ts'
import type { Operation } from '../operations/table.ts'
import { isRecord } from '../request/value.ts'
import { readBasic } from '../policy/authn/credentials.ts'

const NONE: readonly Audit[] = []

/** The effect of other methods of an application is unknown, so each of them counts as a write. */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Returns the audit lines of a finished request: one for its refusal, or for each reported refusal. Without a refusal, a write or a
 * request that only the engine refuses has one line, and a read has one for each rule that replaced a value in its query string.
 */
export function auditsOf(request: FastifyRequest, end: ResponseEnd): readonly Audit[] {
  const { refusal, reports, changes, stage, isWithheld, passwordCheck } = request.context
  const isRecorded = isAlwaysRecorded(request, end)
  if (refusal === null && reports.length === 0 && !isRecorded)
    return changes.length === 0 ? NONE : changedLinesOf(changes, commonOf(request, end))
  const of = commonOf(request, end)
  const audits = reports.map((report) => auditOf(of, 'reported', report))
  if (refusal !== null && isDecision(refusal, stage))
    audits.push(auditOf(of, 'refused', { stage, refusal, denialReason: refusal.denialReason }))
  else if (passwordCheck !== 'none' && passwordCheck.result === 'wrong')
    audits.push(auditOf(of, 'refused', WRONG_PASSWORD))
  else if (audits.length === 0 && isRecorded)
    audits.push(auditOf(of, 'permitted', isWithheld ? itemsReport('permit', 'rows: none') : null))
  return audits
}

function isAlwaysRecorded(request: FastifyRequest, { comparison }: ResponseEnd): boolean {
  return isWrite(request) || comparison === 'wider'
}

function changedLinesOf(changes: readonly QueryChange[], of: CommonAuditFields): readonly Audit[] {
  return changes
    .filter(({ isReplacement }) => isReplacement)
    .map(({ rule, stage }) => ({ ...of, decision: 'changed', stage, rule, ...NOTHING_MISSING }))
}

const NOTHING_MISSING = { missing: [], otherRefusal: null } as const

type ResponseEnd = Pick<Audit, 'status' | 'durationMs' | 'traceId' | 'comparison'>

type CommonAuditFields = Omit<Audit, 'decision' | 'stage' | 'rule' | 'missing' | 'otherRefusal'>

/** Returns the path of a passthrough request without its query. Null for all other requests. The first stage has checked its characters. */
export function passedPathOf({ context: { passthrough }, url }: FastifyRequest): string | null {
  return passthrough === 'none' ? null : targetPathOf(url)
}

/** Characters that are invisible, or that change the direction of the text after them. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Returns the user named by a refused login, or the user whose password was checked. Null if the login was not refused, or named no user. */
export function attemptedUserOf({ context, headers: { authorization } }: FastifyRequest): string | null {
  if (context.passwordCheck !== 'none') return visible(context.passwordCheck.user)
  if (context.refusal === null || context.stage !== 'authenticate' || context.principal !== null) return null
  const named = readBasic(authorization ?? '')
  return named === null ? null : visible(named.user)
}

/** Nearly every text matches this, and then needs no slower search by Unicode properties. */
const PLAIN = /^[ -~]*$/

function visible(text: string): string {
  return PLAIN.test(text) ? text : text.replace(INVISIBLE, '\uFFFD')
}

/** The report of a checked password that is wrong. The request itself is not refused. */
const WRONG_PASSWORD: Report = {
  stage: 'authenticate',
  refusal: null,
  denialReason: { rule: 'credentials', missing: [] },
}

function commonOf(
  request: FastifyRequest,
  { status, durationMs, traceId, comparison }: ResponseEnd,
): CommonAuditFields {
  const { context } = request
  const { id, address, principal, engine, operation, passthrough } = context
  return {
    requestId: id,
    traceId,
    client: address,
    user: principal?.userId ?? null,
    attemptedUser: attemptedUserOf(request),
    authenticated: authenticatedBy(principal),
    engine: engine?.name ?? null,
    node: nodeOf(context),
    operation: operation?.id ?? null,
    method: request.method,
    prefix: passthrough === 'none' ? null : passthrough.prefix,
    path: passedPathOf(request),
    params: operation === null ? NO_PARAMS : visibleParamsOf(request),
    created: operation === null || status > 299 ? NO_IDS : visibleIdsOf(operation, context),
    change: changeOf(request),
    policy: policyOf(context),
    comparison,
    status,
    durationMs,
  }
}

function policyOf({ engine }: RequestContext): string | null {
  return engine === null ? null : engine.policy()
}

const NO_PARAMS: Audit['params'] = {}
const NO_IDS: Audit['created'] = []

function visibleParamsOf({ params }: FastifyRequest): Audit['params'] {
  const named = Object.entries(isRecord(params) ? params : {})
  return Object.fromEntries(named.map(([name, value]) => [name, visible(String(value))]))
}

function visibleIdsOf(operation: Operation, context: RequestContext): Audit['created'] {
  const body = isChecked(context) ? context.accessRequest.body : undefined
  return createdIdsOf(operation, { response: keptBodyOf(context), body }).map(visible)
}

function keptBodyOf({ origin }: RequestContext): Buffer | null {
  return origin.kind === 'node' ? origin.body : null
}

/** Returns the change that a request asks for. Null if it asks for none, or if its body has not been checked. */
function changeOf({ context }: FastifyRequest): Audit['change'] {
  const { operation } = context
  if (operation?.auditedChange === undefined || !isChecked(context)) return null
  const { params, body } = context.accessRequest
  const change = { params, body, response: keptResponseOf(keptBodyOf(context)), former: context.formerRecord }
  return memberChangeOf(operation.auditedChange, change)
}

function auditOf(of: CommonAuditFields, decision: Audit['decision'], report: Report | null): Audit {
  const rule = report === null ? null : ruleOf(report)
  const { missing = [], otherRefusal = null } = report?.denialReason ?? {}
  return { ...of, decision, stage: report?.stage ?? null, rule, missing, otherRefusal }
}

function isWrite({ context: { operation, passthrough }, method }: FastifyRequest): boolean {
  if (passthrough !== 'none') return !READING.has(method)
  return operation?.effect === 'write'
}

/**
 * Returns whether a refusal is a decision about a caller. Unavailable engines and overload are no decisions. A refusal of the first
 * stage (no HTTP, or two readings) has no caller.
 */
function isDecision({ statusCode }: GatewayError | EngineRefusal, stage: Stage): boolean {
  return stage !== 'canonical' && ((stage !== 'forward' && stage !== 'admit') || statusCode < 500)
}

function ruleOf({ stage, refusal, denialReason }: Report): string | null {
  if (denialReason !== null) return denialReason.rule
  if (refusal === null) return null
  if ('code' in refusal) return refusal.rule ?? refusal.code
  if (stage === 'authenticate') return 'credentials'
  // No check gives this response of the engine: the entity belongs to another tenant, or does not exist.
  return stage === 'permit' ? refusal.reason : String(refusal.statusCode)
}
