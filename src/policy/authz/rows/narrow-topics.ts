import { GatewayError } from '../../../errors.ts'
import { bodyFlag } from '../../../request/body.ts'
import { isRecord, isObject } from '../../../request/value.ts'
import { type Narrow, spliceElements, spliceMember } from './narrow.ts'

/** Whose external tasks a caller may fetch. Grants on single instances cannot be asked for, so their tasks are not offered. */
export interface FetchScope {
  /** Keys of definitions; null: all. */
  readonly keys: readonly string[] | null
  /** Definitions, in the place of keys and tenants; null: all. */
  readonly definitionIds: readonly string[] | null
  /** Null: every tenant's. */
  readonly tenants: ReadonlySet<string> | null
}

/** No definition has this id. */
const NO_DEFINITION: Changes = { processDefinitionIdIn: ['-'] }

/**
 * Narrows the topics of a fetch: its rows are locked as they are answered, so none may be left out afterwards. A topic
 * that asks for nothing the caller may fetch asks for no definition: the engine still judges its other members. Null: this
 * is so for every topic, or there is none.
 */
export function narrowTopics(fetchScope: FetchScope): Narrow {
  return (query) => {
    if (query.body === null) return query
    const { topics } = parsed(query.body)
    if (!Array.isArray(topics)) return query
    const narrowed = topics.map((topic: unknown) => {
      if (!isObject(topic)) throw misfit('is not a list of topics')
      return narrowTopic(topic, fetchScope)
    })
    if (narrowed.every((changes) => changes === null)) return null
    const body = spliceElements(query.body, 'topics', (topic, at) =>
      changedBy(narrowed[at] ?? NO_DEFINITION, topic),
    )
    return { ...query, body }
  }
}

/** The same fetch, of no definition: the engine judges it and locks nothing. `isPoll`: it would wait, and does not. */
export function fetchOfNothing(body: Buffer, isPoll: boolean): Buffer {
  const { topics } = parsed(body)
  const fetch = isPoll ? spliceMember(body, 'asyncResponseTimeout', undefined) : body
  if (!Array.isArray(topics)) return fetch
  if (!topics.every(isObject)) throw misfit('is not a list of topics')
  return spliceElements(fetch, 'topics', (topic) => changedBy(NO_DEFINITION, topic))
}

function changedBy(changes: Changes, topic: Buffer): Buffer {
  let changed = topic
  for (const [name, value] of Object.entries(changes)) changed = spliceMember(changed, name, value)
  return changed
}

export type FetchTopic = Readonly<Record<string, unknown>>
type Changes = Readonly<Record<string, unknown>>

/** The members to set in a topic; null: it asks for nothing the caller may fetch. */
function narrowTopic(topic: FetchTopic, { keys, definitionIds, tenants }: FetchScope): Changes | null {
  const changes = [
    keys === null ? {} : within(topic, 'processDefinitionKey', keys),
    definitionIds === null ? {} : within(topic, 'processDefinitionId', definitionIds),
    tenants === null ? {} : tenantsWithin(topic, tenants),
  ]
  return changes.includes(null) ? null : Object.assign({}, ...changes)
}

/** A topic can ask for one definition and for some: it is given what both mean. */
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
 * A topic can ask for the tasks of no tenant, or for those of some; not for both at once: of the two the engine hears
 * `tenantIdIn`, and an empty one asks for all. Who belongs to a tenant and asks for neither is given definitions.
 */
function tenantsWithin(topic: FetchTopic, tenants: ReadonlySet<string>): Changes | null {
  const asked = tenantsAsked(topic)
  if (asked === 'all') return tenants.size === 0 ? { tenantIdIn: undefined, withoutTenantId: true } : {}
  if (asked === 'none') return {}
  const own = listIn(topic, 'tenantIdIn').filter((id) => typeof id === 'string' && tenants.has(id))
  return own.length === 0 ? null : { tenantIdIn: own }
}

/** Whose tasks a topic asks for. */
export function tenantsAsked(topic: FetchTopic): 'all' | 'none' | 'some' {
  if (listIn(topic, 'tenantIdIn').length > 0) return 'some'
  return bodyFlag(topic, 'withoutTenantId') && (topic['tenantIdIn'] ?? null) === null ? 'none' : 'all'
}

/** @throws GatewayError GW_INVALID_BODY for what is no list: the engine would not have read it, and here it may be replaced */
function listIn(topic: FetchTopic, name: string): readonly unknown[] {
  const list = topic[name] ?? []
  if (!Array.isArray(list)) throw misfit(`holds a ${name} that is not a list`)
  return list
}

function misfit(what: string): GatewayError {
  return new GatewayError('GW_INVALID_BODY', {
    message: `The request body does not fit the operation: $.topics: ${what}`,
  })
}

function parsed(body: Buffer): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(body.toString('utf8').replace(/^\uFEFF/, ''))
  return isRecord(value) ? value : {}
}
