import type { Config } from '../config/schema.ts'
import { targetPathOf } from '../request/target.ts'
import { operatorText, type EngineRefusal, type GatewayError } from '../errors.ts'
import { type Report, itemsReport, type Stage } from './stage.ts'
import { READ_METHODS } from './require-ceiling.ts'
import { authenticatedBy } from './authenticated-by.ts'
import { isChecked, isDecided, nodeOf, type ReceivedRequest, type RequestContext } from './context.ts'
import { isOpen } from './locate-request.ts'
import { memberChangeOf } from './audited-change.ts'
import { createdIdsOf, keptResponseOf } from './created-ids.ts'
import type { Audit } from '../metrics/audit-log.ts'
import type { QueryChange } from './query-changes.ts'
import type { Operation } from '../operations/table.ts'
import { isRecord } from '../request/value.ts'
import { readBasic } from '../policy/authn/credentials.ts'

const NONE: readonly Audit[] = []

/**
 * Returns the audit lines of a finished request: one for its refusal, or for each reported refusal. Without a refusal, a write or a
 * request that only the engine refuses has one line, and a read has one for each rule that replaced a value in its query string.
 */
export function auditsOf(
  request: ReceivedRequest,
  end: ResponseEnd,
  settings: AuditSettings,
): readonly Audit[] {
  const login = settings.logins ? loginOf(request, end) : null
  const audits = requestAuditsOf(request, end, settings)
  return login === null ? audits : [login, ...audits]
}

/** The settings of lines for permitted requests. */
export type AuditSettings = Pick<Config['audit'], 'reads' | 'logins' | 'reasons'>

/** Returns whether each permitted request of an operation has a line. */
export function hasPermittedLine({ id, effect }: Operation, { reads }: AuditSettings): boolean {
  return effect === 'write' || reads.includes(id)
}

/** Returns whether a request has a line if it is permitted. */
export function isPermissionRecorded(request: ReceivedRequest, settings: AuditSettings): boolean {
  const { operation } = request.context
  return isWrite(request) || (operation !== null && hasPermittedLine(operation, settings))
}

/** Returns the line of a request whose credentials were verified. Null if they were wrong, or are remembered. */
function loginOf(request: ReceivedRequest, end: ResponseEnd): Audit | null {
  const { isLogin, principal } = request.context
  if (!isLogin || principal === null) return null
  const of = { ...commonOf(request, end), created: NO_IDS, change: null }
  return { ...of, decision: 'permitted', stage: 'authenticate', rule: 'login', ...NOTHING_MISSING }
}

function requestAuditsOf(
  request: ReceivedRequest,
  end: ResponseEnd,
  settings: AuditSettings,
): readonly Audit[] {
  const { refusal, reports, changes, isWithheld } = request.context
  const isRecorded = isAlwaysRecorded(request, end, settings)
  if (refusal === null && reports.length === 0 && !isRecorded)
    return changes.length === 0 ? NONE : changedLinesOf(changes, commonOf(request, end))
  const of = commonOf(request, end)
  const audits = reports.map((report) => auditOf(of, 'reported', report))
  const refused = refusedAuditOf(request.context, of)
  if (refused !== null) audits.push(refused)
  else if (audits.length === 0 && isRecorded)
    audits.push({
      ...auditOf(of, 'permitted', isWithheld ? itemsReport('permit', 'items: none') : null),
      permittedBy: permittedByOf(request.context, settings),
    })
  return audits
}

/** Returns the line of a refusal. Null if the request is not refused, or if the refusal is no decision about the caller. */
function refusedAuditOf(
  { refusal, stage, passwordCheck }: RequestContext,
  of: CommonAuditFields,
): Audit | null {
  if (refusal !== null && isDecision(refusal, stage))
    return auditOf(of, 'refused', { stage, refusal, denialReason: refusal.denialReason })
  const isWrong = passwordCheck !== 'none' && passwordCheck.result === 'wrong'
  return isWrong ? auditOf(of, 'refused', WRONG_PASSWORD) : null
}

function isAlwaysRecorded(
  request: ReceivedRequest,
  { comparison }: ResponseEnd,
  settings: AuditSettings,
): boolean {
  return comparison === 'wider' || isPermissionRecorded(request, settings)
}

/** Returns why a request is permitted: its checks, or the reason why there are none. */
function permittedByOf(context: RequestContext, { reasons }: AuditSettings): Audit['permittedBy'] {
  const { engine, operation, grounds } = context
  if (!reasons || engine === null || operation === null) return NO_GROUNDS
  if (isOpen(context)) return OPEN
  if (engine.authorization === 'off') return AUTHORIZATION_OFF
  if (engine.authorization === 'engine') return BY_ENGINE
  const items =
    operation.items === undefined || !isDecided(context) ? [] : [ITEMS[context.listDecision.visibility]]
  const all = [...grounds, ...items]
  return all.length === 0 ? NO_CHECK : all
}

const NO_GROUNDS: Audit['permittedBy'] = []
const OPEN: Audit['permittedBy'] = [{ by: 'open operation' }]
const AUTHORIZATION_OFF: Audit['permittedBy'] = [{ by: 'authorization off' }]
const BY_ENGINE: Audit['permittedBy'] = [{ by: 'engine' }]
const NO_CHECK: Audit['permittedBy'] = [{ by: 'no check' }]
/** A list contains only the items that the caller may see. */
const ITEMS = {
  all: { by: 'all items' },
  conditional: { by: 'visible items' },
  none: { by: 'no item' },
} as const

function changedLinesOf(changes: readonly QueryChange[], of: CommonAuditFields): readonly Audit[] {
  return changes
    .filter(({ isReplacement }) => isReplacement)
    .map(({ rule, stage }) => ({ ...of, decision: 'changed', stage, rule, ...NOTHING_MISSING }))
}

const NOTHING_MISSING = { missing: [], otherRefusal: null, permittedBy: [] } as const

type ResponseEnd = Pick<Audit, 'status' | 'durationMs' | 'traceId' | 'comparison'>

type CommonAuditFields = Omit<
  Audit,
  'decision' | 'stage' | 'rule' | 'missing' | 'otherRefusal' | 'permittedBy'
>

/** Returns the path of a passthrough request without its query. Null for all other requests. The first stage has checked its characters. */
export function passedPathOf({ context: { passthrough }, url }: ReceivedRequest): string | null {
  return passthrough === 'none' ? null : targetPathOf(url)
}

/** Characters that are invisible, or that change the direction of the text after them. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Returns the user named by a refused login, or the user whose password was checked. Null if the login was not refused, or named no user. */
export function attemptedUserOf({ context, headers: { authorization } }: ReceivedRequest): string | null {
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
  denialReason: { rule: operatorText`credentials`, missing: [] },
}

function commonOf(
  request: ReceivedRequest,
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
    ...wayOf(context),
    ceiling: context.ceiling === 'all' ? null : context.ceiling,
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

function wayOf({ via }: RequestContext): Pick<Audit, 'via' | 'tool'> {
  return via.way === 'api' ? THE_API : { via: via.way, tool: visible(via.tool) }
}

const THE_API = { via: null, tool: null } as const

function policyOf({ engine }: RequestContext): string | null {
  return engine === null ? null : engine.policy()
}

const NO_PARAMS: Audit['params'] = {}
const NO_IDS: Audit['created'] = []

function visibleParamsOf({ params }: ReceivedRequest): Audit['params'] {
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

/** Returns the change of permissions, users or memberships in a request. Null without one, or if the body has not been checked. */
function changeOf({ context }: ReceivedRequest): Audit['change'] {
  const { operation } = context
  if (operation?.auditedChange === undefined || !isChecked(context)) return null
  const { params, body } = context.accessRequest
  const change = { params, body, response: keptResponseOf(keptBodyOf(context)), former: context.formerRecord }
  return memberChangeOf(operation.auditedChange, change)
}

function auditOf(of: CommonAuditFields, decision: Audit['decision'], report: Report | null): Audit {
  const rule = report === null ? null : ruleOf(report)
  const { missing = [], otherRefusal = null } = report?.denialReason ?? {}
  return { ...of, decision, stage: report?.stage ?? null, rule, missing, otherRefusal, permittedBy: [] }
}

function isWrite({ context: { operation, passthrough }, method }: ReceivedRequest): boolean {
  if (passthrough !== 'none') return !READ_METHODS.has(method)
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
