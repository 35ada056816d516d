import { GatewayError } from '../errors.ts'
import { isRecord } from './asked.ts'
import { type Narrow, spliceMember } from './narrow.ts'

/** Whose external tasks a caller may fetch. */
export interface Fetchable {
  /** Keys of definitions; null: all. Grants on single instances cannot be asked for, so their tasks are not offered. */
  readonly processDefinitionKeys: readonly string[] | null
  /** Null: every tenant's. */
  readonly tenants: ReadonlySet<string> | null
}

/**
 * Narrows the topics of a fetch: its rows are locked as they are answered, so none may be left out afterwards. A topic
 * that asks for nothing the caller may fetch is taken out; without topics there is nothing to ask for.
 */
export function narrowTopics(fetchable: Fetchable): Narrow {
  return (query) => {
    if (query.body === null) return query
    const { topics } = parsed(query.body)
    if (!Array.isArray(topics)) return query
    const narrowed = topics.map((topic: unknown) => (isRecord(topic) ? narrowTopic(topic, fetchable) : null))
    let body = query.body
    for (let at = topics.length - 1; at >= 0; at -= 1) {
      const changes = narrowed[at]
      if (changes === null || changes === undefined) body = spliceMember(body, ['topics', at], undefined)
      else
        for (const [name, value] of Object.entries(changes))
          body = spliceMember(body, ['topics', at, name], value)
    }
    return narrowed.some((changes) => changes !== null) ? { ...query, body } : null
  }
}

type Changes = Readonly<Record<string, unknown>>

/** The members to set in a topic; null: it asks for nothing the caller may fetch. */
function narrowTopic(
  topic: Readonly<Record<string, unknown>>,
  { processDefinitionKeys, tenants }: Fetchable,
): Changes | null {
  const keys = processDefinitionKeys === null ? {} : keysWithin(topic, processDefinitionKeys)
  const ofTenants = tenants === null ? {} : tenantsWithin(topic, tenants)
  return keys === null || ofTenants === null ? null : { ...keys, ...ofTenants }
}

function keysWithin(topic: Readonly<Record<string, unknown>>, granted: readonly string[]): Changes | null {
  const { processDefinitionKey: key, processDefinitionKeyIn: keyIn } = topic
  if (typeof key === 'string' && !granted.includes(key)) return null
  const asked =
    Array.isArray(keyIn) && keyIn.length > 0 ? granted.filter((one) => keyIn.includes(one)) : granted
  return asked.length === 0 ? null : { processDefinitionKeyIn: asked }
}

/** A topic can ask for the tasks of no tenant, or for those of some; not for both at once. */
function tenantsWithin(
  topic: Readonly<Record<string, unknown>>,
  tenants: ReadonlySet<string>,
): Changes | null {
  if (topic['withoutTenantId'] === true) return {}
  const { tenantIdIn } = topic
  if (Array.isArray(tenantIdIn) && tenantIdIn.length > 0) {
    const own = tenantIdIn.filter((id) => typeof id === 'string' && tenants.has(id))
    return own.length === 0 ? null : { tenantIdIn: own }
  }
  if (tenants.size === 0) return { withoutTenantId: true }
  throw new GatewayError('GW_ROWS_NOT_EXACT', {
    message: 'A topic for a member of tenants needs tenantIdIn or withoutTenantId',
  })
}

function parsed(body: Buffer): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(body.toString('utf8').replace(/^\uFEFF/, ''))
  return isRecord(value) ? value : {}
}
