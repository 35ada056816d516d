import { type OperatorText, operatorText, ownText, GatewayError } from '../../errors.ts'
import { bodyFlag } from '../../request/body.ts'
import { isRecord, isObject } from '../../request/value.ts'
import { type Narrow, spliceElements, spliceMember } from './narrow.ts'

/** The external tasks that a caller may fetch. A query cannot select tasks by grants on single instances, so the caller does not get these tasks. */
export interface FetchScope {
  /** The keys of definitions; null for all. */
  readonly keys: readonly string[] | null
  /** The ids of definitions, instead of keys and tenants; null for all. */
  readonly definitionIds: readonly string[] | null
  /** Null for every tenant. */
  readonly tenants: ReadonlySet<string> | null
}

/** No definition has this id. */
const NO_DEFINITION: Changes = { processDefinitionIdIn: ['-'] }

/**
 * Narrows the topics of a fetch. The engine locks the tasks that it returns, so none may be removed afterwards. A topic that
 * selects nothing that the caller may fetch is changed to select no definition, so that the engine still validates its other
 * members. Returns null if this applies to every topic, or there is no topic.
 */
export function narrowTopics(fetchScope: FetchScope): Narrow {
  return (query) => {
    if (query.body === null) return query
    const { topics } = parsed(query.body)
    if (!Array.isArray(topics)) return query
    const narrowed = topics.map((topic: unknown) => {
      if (!isObject(topic)) throw misfit(operatorText`is not a list of topics`)
      return narrowTopic(topic, fetchScope)
    })
    if (narrowed.every((changes) => changes === null)) return null
    const body = spliceElements(query.body, 'topics', (topic, at) =>
      changedBy(narrowed[at] ?? NO_DEFINITION, topic),
    )
    return { ...query, body }
  }
}

/**
 * Returns the same fetch for no definition. The engine validates it and locks nothing. With `isPoll` the long-poll timeout
 * is removed, so that the engine responds at once.
 */
export function fetchOfNothing(body: Buffer, isPoll: boolean): Buffer {
  const { topics } = parsed(body)
  const fetch = isPoll ? spliceMember(body, 'asyncResponseTimeout', undefined) : body
  if (!Array.isArray(topics)) return fetch
  if (!topics.every(isObject)) throw misfit(operatorText`is not a list of topics`)
  return spliceElements(fetch, 'topics', (topic) => changedBy(NO_DEFINITION, topic))
}

function changedBy(changes: Changes, topic: Buffer): Buffer {
  let changed = topic
  for (const [name, value] of Object.entries(changes)) changed = spliceMember(changed, name, value)
  return changed
}

export type FetchTopic = Readonly<Record<string, unknown>>
type Changes = Readonly<Record<string, unknown>>

/** Returns the members to set in a topic, or null if the topic selects nothing that the caller may fetch. */
function narrowTopic(topic: FetchTopic, { keys, definitionIds, tenants }: FetchScope): Changes | null {
  const changes = [
    keys === null ? {} : within(topic, 'processDefinitionKey', keys),
    definitionIds === null ? {} : within(topic, 'processDefinitionId', definitionIds),
    tenants === null ? {} : tenantsWithin(topic, tenants),
  ]
  return changes.includes(null) ? null : Object.assign({}, ...changes)
}

/**
 * Returns the list that restricts a topic to the granted definitions. A topic can name one definition and a list of
 * definitions; the engine applies both.
 */
function within(
  topic: FetchTopic,
  name: 'processDefinitionId' | 'processDefinitionKey',
  granted: readonly string[],
): Changes | null {
  const [one, some] = [topic[name], listIn(topic, `${name}In`)]
  if (typeof one === 'string' && !granted.includes(one)) return null
  const allowed = some.length > 0 ? granted.filter((id) => some.includes(id)) : granted
  return allowed.length === 0 ? null : { [`${name}In`]: allowed }
}

/**
 * Returns the members that restrict a topic to the caller's tenants. A topic can select tasks without a tenant or tasks of
 * some tenants. If it contains both, the engine uses `tenantIdIn`, and an empty list selects all. If the caller belongs to a
 * tenant and the topic restricts neither, the list of definitions restricts it.
 */
function tenantsWithin(topic: FetchTopic, tenants: ReadonlySet<string>): Changes | null {
  const asked = tenantsAsked(topic)
  if (asked === 'all') return tenants.size === 0 ? { tenantIdIn: undefined, withoutTenantId: true } : {}
  if (asked === 'none') return {}
  const own = listIn(topic, 'tenantIdIn').filter((id) => typeof id === 'string' && tenants.has(id))
  return own.length === 0 ? null : { tenantIdIn: own }
}

/** Returns which tenants' tasks a topic selects: those of all tenants, of none, or of some. */
export function tenantsAsked(topic: FetchTopic): 'all' | 'none' | 'some' {
  if (listIn(topic, 'tenantIdIn').length > 0) return 'some'
  return bodyFlag(topic, 'withoutTenantId') && (topic['tenantIdIn'] ?? null) === null ? 'none' : 'all'
}

/** @throws GatewayError GW_INVALID_BODY if the value is no list: the engine would refuse it, but the gateway may replace it */
function listIn(topic: FetchTopic, name: string): readonly unknown[] {
  const list = topic[name] ?? []
  if (!Array.isArray(list)) throw misfit(operatorText`contains a ${ownText(name)} that is not a list`)
  return list
}

function misfit(what: OperatorText): GatewayError {
  return new GatewayError('GW_INVALID_BODY', {
    message: operatorText`The request body does not match the operation: $.topics: ${what}`,
  })
}

function parsed(body: Buffer): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(body.toString('utf8').replace(/^\uFEFF/, ''))
  return isRecord(value) ? value : {}
}
