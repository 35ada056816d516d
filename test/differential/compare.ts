import type { Answer } from './http.ts'
import { jsonOf } from './http.ts'
import { isJson } from './admin.ts'
import type { Names, Side } from './names.ts'
import type { Plan } from './plan.ts'

/** A response in the form that is compared: without ids, times, and data that a bare engine cannot know. */
export interface Seen {
  readonly status: number
  readonly type: string
  readonly code: string
  readonly body: unknown
}

/**
 * The outcome of a comparison. `wider`: the gateway shows or permits more than the engine, even if another outcome fits as well.
 * `rows` and `check`: the gateway refuses because it cannot respond exactly. `tenants`: the responses are equal except for items,
 * or entities, of a tenant. `words`: both refuse an odd spelling with 400, but with different messages. `stricter`: a poll of the gateway
 * ends because the caller is no longer the same, and the engine still delivers a task.
 */
export type Outcome = 'equal' | 'differs' | 'rows' | 'check' | 'tenants' | 'words' | 'stricter' | 'wider'

export function seenOf(
  { status, type, code, bytes }: Answer,
  plan: Plan,
  { names, side }: { names: Names; side: Side },
): Seen {
  return { status, type, code, body: bodyOf({ type, bytes }, plan, (text) => names.mask(side, text)) }
}

export function outcomeOf(engine: Seen, gateway: Seen, plan: Plan): Outcome {
  if (gateway.code === 'GW_ITEMS_NOT_EXACT') return 'rows'
  if (gateway.code === 'GW_CHECK_NOT_EXACT') return 'check'
  if (textOf(engine) === textOf(gateway)) return 'equal'
  if (isWider(engine, gateway)) return 'wider'
  if (plan.kind !== 'plain' && engine.status === 400 && gateway.status === 400) return 'words'
  return isOfTenants(engine, gateway, plan) ? 'tenants' : 'differs'
}

/** Returns whether the gateway executes a request that the engine refuses, or returns more items or members, or higher numbers. */
function isWider(engine: Seen, gateway: Seen): boolean {
  if (gateway.status >= 400) return false
  if (engine.status >= 400) return true
  return hasMore(engine.body, gateway.body)
}

function hasMore(there: unknown, here: unknown): boolean {
  if (here === null || here === undefined) return false
  if (typeof here === 'number') return typeof there !== 'number' || here > there
  if (Array.isArray(here)) return !Array.isArray(there) || hasMoreRows(there, here)
  // A different text is a difference, but it does not show more.
  if (!isJson(here)) return there === null || there === undefined
  if (!isJson(there) || Array.isArray(there)) return true
  return Object.entries(here).some(([name, one]) => hasMore(there[name], one))
}

/** Returns whether the gateway returns an item that the engine does not return, or returns it more often. */
function hasMoreRows(there: readonly unknown[], here: readonly unknown[]): boolean {
  const rest = there.map(identityOf)
  return here.some((one) => {
    const at = rest.indexOf(identityOf(one))
    if (at >= 0) rest.splice(at, 1)
    return at < 0
  })
}

/**
 * Returns the text by which items are compared. For a job, it excludes the results of the last execution: a secured engine executes
 * a job with the permissions of the caller and fails inside it, but the gateway refuses the execution. The job is still the same item.
 */
function identityOf(row: unknown): string {
  const isJob = isJson(row) && 'jobDefinitionId' in row && 'retries' in row
  return JSON.stringify(
    isJob ? { ...row, retries: null, exceptionMessage: null, failedActivityId: null } : row,
  )
}

function textOf({ status, type, body }: Seen): string {
  return JSON.stringify([status, type, body])
}

function bodyOf(
  { type, bytes }: Pick<Answer, 'type' | 'bytes'>,
  plan: Plan,
  mask: (text: string) => string,
): unknown {
  if (bytes.length === 0) return null
  const text = bytes.toString('utf8')
  if (TRACES.has(plan.operation.id)) return maskText(text.split('\n', 1)[0] ?? '', mask)
  if (!/^application\/(hal\+)?json/i.test(type)) return maskText(text, mask)
  try {
    return shownOf(plan, new Masker(plan, mask).mask(jsonOf({ status: 0, code: '', type, bytes }), ''))
  } catch {
    return maskText(text, mask)
  }
}

/** Returns the part of a body that is compared. */
function shownOf({ operation: { id } }: Plan, body: unknown): unknown {
  if (!isJson(body)) return body
  if (SKETCHED.has(id) && body['type'] === undefined) return Object.keys(body)
  if (!UNORDERED.has(id) || body['type'] !== 'AuthorizationException') return body
  return { type: body['type'], permissions: JSON.stringify(body).match(/"permissionName":"\w+"/g) }
}

/** Operations whose responses at two engines have only the status and the shape in common. Numbers are masked. */
const LIVE: ReadonlySet<string> = new Set([
  'getMetrics',
  'interval',
  'getHistoricTaskInstanceReport',
  'getHistoricProcessInstanceDurationReport',
])
/** Operations whose responses are compared only by the names of their members. */
const SKETCHED: ReadonlySet<string> = new Set(['getTelemetryData'])
/** Operations for which the engine does not define which of several missing permissions a refusal names. */
const UNORDERED: ReadonlySet<string> = new Set([
  'throwSignal',
  'deliverMessage',
  'evaluateCondition',
  'updateSuspensionState',
  'executeModification',
])
/** Operations that return a stack trace. Only its first line is compared: the frames depend on the filters that a request passes. */
const TRACES: ReadonlySet<string> = new Set(['getStacktraceHistoricJobLog', 'getStacktrace'])
/** Members that contain a duration, or the author of an action. A bare engine does not know the author. */
const LOST: ReadonlySet<string> = new Set([
  'startUserId',
  'createUserId',
  'assignerId',
  'durationInMillis',
  'duration',
])
/** Operations in whose responses `userId` is the caller. */
const AUTHORS: ReadonlySet<string> = new Set([
  'getComments',
  'getComment',
  'createComment',
  'getProcessInstanceComments',
  'queryUserOperationEntries',
  'getHistoricDecisionInstance',
  'getHistoricDecisionInstances',
])
/** Lists whose order is significant. */
const ORDERED: ReadonlySet<string> = new Set(['missingAuthorizations'])

class Masker {
  readonly #plan: Plan
  readonly #mask: (text: string) => string

  constructor(plan: Plan, mask: (text: string) => string) {
    this.#plan = plan
    this.#mask = mask
  }

  mask(value: unknown, member: string): unknown {
    const { id } = this.#plan.operation
    if (LOST.has(member) || (member === 'userId' && AUTHORS.has(id))) return '<lost>'
    if (typeof value === 'string') return maskText(value, this.#mask)
    if (typeof value === 'number' && LIVE.has(id)) return '<number>'
    if (Array.isArray(value)) return this.#list(value, member)
    if (!isJson(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [maskText(name, this.#mask), this.mask(one, name)]),
    )
  }

  #list(list: readonly unknown[], member: string): unknown {
    const masked = list.map((one) => this.mask(one, member))
    const isSorted =
      member === '' && /sortBy|sorting/.test(`${this.#plan.path}${JSON.stringify(this.#plan.body ?? '')}`)
    if (isSorted || ORDERED.has(member)) return masked
    return masked
      .map((one) => JSON.stringify(one))
      .sort()
      .map((text) => JSON.parse(text))
  }
}

function maskText(text: string, mask: (text: string) => string): string {
  return mask(text)
    .replace(/\d{4}-\d\d-\d\d[T ][\d:.]+([+-]\d{4}|Z)?/g, '<time>')
    .replace(/https?:\/\/(127\.0\.0\.1|localhost):\d+/g, '<origin>')
}

/** Returns whether the responses are equal without the items of a tenant, or whether one is about an entity of a tenant. */
function isOfTenants(engine: Seen, gateway: Seen, { path, body }: Plan): boolean {
  if (JSON.stringify(engine.body).includes('belongs to no authenticated tenant')) return true
  const asked = `${path} ${JSON.stringify(body ?? '')}`
  if (/acme|tenant\.|<new\./.test(asked) && engine.status !== gateway.status && !isForbidden(gateway))
    return true
  if (Array.isArray(engine.body) && Array.isArray(gateway.body))
    return JSON.stringify(withoutTenants(engine.body)) === JSON.stringify(withoutTenants(gateway.body))
  return false
}

function isForbidden({ status }: Seen): boolean {
  return status === 403
}

function withoutTenants(rows: readonly unknown[]): readonly unknown[] {
  return rows.filter((row) => !JSON.stringify(row).includes('acme'))
}
