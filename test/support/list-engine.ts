import type { ServerResponse } from 'node:http'
import { isRecord, stringOf } from '../../src/request/value.ts'
import type { Seen } from './fake-engine.ts'
import { BASE } from './open-gateway.ts'

/** A definition of the engine. If `isDeleted` is set, only its history exists. */
export interface Definition {
  readonly id: string
  readonly key: string
  readonly tenantId: string | null
  readonly isDeleted?: true
}

/** An item of a list, with the properties that the engine stores in addition to the shown ones. */
export interface StoredItem {
  readonly shown: Readonly<Record<string, unknown>> & { readonly id: string }
  readonly definition: Definition | null
  readonly instanceId: string | null
  readonly tenantId: string | null
}

export interface ListWorld {
  readonly definitions: readonly Definition[]
  /** Items by the path of their list. */
  readonly items: Readonly<Record<string, readonly StoredItem[]>>
}

const RUNTIME = ['processDefinitionId', 'processDefinitionKey', 'processInstanceId', 'tenantIdIn']
const HISTORY = ['processDefinitionId', 'processInstanceId', 'tenantIdIn', 'withoutTenantId']
const KEYED = [...HISTORY, 'processDefinitionKey']

/** The parameters that each list of Camunda 7.22 reads. The engine ignores all other parameters. */
export const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  '/process-instance': [
    'processDefinitionId',
    'processDefinitionKey',
    'processDefinitionKeyIn',
    'processDefinitionKeyNotIn',
    'processInstanceIds',
    'tenantIdIn',
    'withoutTenantId',
    'processDefinitionWithoutTenantId',
  ],
  '/execution': RUNTIME,
  '/variable-instance': ['processInstanceIdIn', 'caseInstanceIdIn', 'tenantIdIn'],
  '/external-task': ['processDefinitionId', 'processInstanceId', 'processInstanceIdIn', 'tenantIdIn'],
  '/incident': ['processDefinitionId', 'processDefinitionKeyIn', 'processInstanceId', 'tenantIdIn'],
  '/job': [...RUNTIME, 'processInstanceIds', 'withoutTenantId', 'includeJobsWithoutTenantId'],
  '/job-definition': [
    'processDefinitionId',
    'processDefinitionKey',
    'tenantIdIn',
    'withoutTenantId',
    'includeJobDefinitionsWithoutTenantId',
  ],
  '/event-subscription': [
    'processInstanceId',
    'tenantIdIn',
    'withoutTenantId',
    'includeEventSubscriptionsWithoutTenantId',
  ],
  '/process-definition': [
    'processDefinitionIdIn',
    'key',
    'keysIn',
    'tenantIdIn',
    'withoutTenantId',
    'includeProcessDefinitionsWithoutTenantId',
  ],
  '/history/process-instance': [
    ...KEYED,
    'processDefinitionKeyIn',
    'processDefinitionKeyNotIn',
    'processInstanceIds',
  ],
  '/history/activity-instance': HISTORY,
  '/history/task': KEYED,
  '/history/variable-instance': [...KEYED, 'processInstanceIdIn'],
  '/history/detail': ['processInstanceId', 'processInstanceIdIn', 'tenantIdIn', 'withoutTenantId'],
  '/history/job-log': KEYED,
  '/history/external-task-log': KEYED,
  '/history/identity-link-log': [
    'processDefinitionId',
    'processDefinitionKey',
    'tenantIdIn',
    'withoutTenantId',
  ],
  '/history/incident': [...KEYED, 'processDefinitionKeyIn'],
}

/** Lists that the gateway does not offer. */
const CASES: Readonly<Record<string, readonly string[]>> = {
  '/case-definition': [],
  '/case-instance': ['tenantIdIn', 'withoutTenantId'],
}

/** Lists that join the definition. A filter by the key of a deleted definition finds nothing in them. */
const JOINING = new Set(['/history/process-instance', '/history/task'])

type Query = Readonly<Record<string, unknown>>

/**
 * Returns a handler that serves these lists and their counts, by GET and POST, as an engine without authorization does.
 * `nulls` says where its database sorts null values.
 */
export function listEngine(
  world: () => ListWorld,
  nulls: 'first' | 'last' = 'last',
): (request: Seen, response: ServerResponse) => void {
  return ({ url, body }, response) => {
    const [path = '', search = ''] = url.slice(BASE.length).split('?')
    const parameters = new URLSearchParams(search)
    const posted: unknown = body.length > 0 ? JSON.parse(body.toString()) : {}
    const query: Query = { ...(isRecord(posted) && posted), ...Object.fromEntries(parameters) }
    const answer = answerOf(world(), path, { ...query, nulls })
    response.writeHead(answer === null ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer ?? { type: 'RestException', message: 'none', code: null }))
  }
}

function answerOf(world: ListWorld, path: string, query: Query): unknown {
  const list = path.replace(/\/count$/, '')
  const names = PARAMETERS[list] ?? CASES[list]
  if (names !== undefined) {
    const found = itemsOf(world, list).filter((item) =>
      names.every((name) => fits(item, { name, list }, query)),
    )
    if (path !== list) return { count: found.length }
    const first = Number(query['firstResult'] ?? 0)
    const max = Number(query['maxResults'] ?? Number.MAX_SAFE_INTEGER)
    return sorted(found, query)
      .slice(first, first + max)
      .map(({ shown }) => (list === '/history/process-instance' ? { endTime: null, ...shown } : shown))
  }
  const at = path.lastIndexOf('/')
  const id = decodeURIComponent(path.slice(at + 1))
  const entity = itemsOf(world, path.slice(0, at)).find(({ shown }) => shown.id === id)
  return entity?.shown ?? null
}

function itemsOf({ definitions, items }: ListWorld, list: string): readonly StoredItem[] {
  if (list !== '/process-definition') return items[list] ?? []
  return definitions
    .filter(({ isDeleted }) => isDeleted !== true)
    .map((definition) => ({
      shown: { ...definition },
      definition,
      instanceId: null,
      tenantId: definition.tenantId,
    }))
}

function sorted(items: readonly StoredItem[], query: Query): readonly StoredItem[] {
  const [sort] = sortsIn(query)
  const by = String(sort?.['sortBy'])
  const isOwn = items.some(({ shown }) => Object.hasOwn(shown, by))
  const member = (isOwn ? MEMBERS[by] : undefined) ?? SORTS[by] ?? MEMBERS[by] ?? 'id'
  // `!` sorts before every quotation mark and digit, `~` sorts after them.
  const none = query['nulls'] === 'first' ? '!' : '~'
  const value = ({ shown }: StoredItem) =>
    (shown[member] ?? null) === null ? none : JSON.stringify(shown[member])
  const order = sort?.['sortOrder'] === 'desc' ? -1 : 1
  return items.toSorted((one, other) => order * compare(value(one), value(other)))
}

function sortsIn({ sortBy, sortOrder, sorting }: Query): readonly Query[] {
  return Array.isArray(sorting) ? sorting.filter(isRecord) : [{ sortBy, sortOrder }]
}

/** Sort keys whose values several items share. Null is sorted last. */
const MEMBERS: Readonly<Record<string, string>> = {
  activityInstanceId: 'activityInstanceId',
  definitionVersion: 'processDefinitionVersion',
  endTime: 'endTime',
  instanceId: 'processInstanceId',
  processDefinitionId: 'processDefinitionId',
  processInstanceId: 'processInstanceId',
  tenantId: 'tenantId',
}

/** Sort keys whose values are unique. */
export const SORTS: Readonly<Record<string, string>> = {
  incidentId: 'id',
  jobId: 'id',
  activityInstanceId: 'id',
  taskId: 'id',
  id: 'id',
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

function fits(
  item: StoredItem,
  { name, list }: { readonly name: string; readonly list: string },
  query: Query,
) {
  const test = TESTS[name]
  const value = query[name] ?? null
  const isHidden = item.definition?.isDeleted === true && JOINING.has(list)
  const key = isHidden ? null : (item.definition?.key ?? null)
  return test === undefined || value === null || test({ ...item, key }, value, query)
}

type Fits = (item: StoredItem & { readonly key: string | null }, value: unknown, query: Query) => boolean

const ofKey: Fits = ({ key }, value) => key === value
const ofKeys: Fits = ({ key }, value) => among(value, key)
const ofInstances: Fits = ({ instanceId }, value) => among(value, instanceId)

const TESTS: Readonly<Record<string, Fits>> = {
  key: ofKey,
  keysIn: ofKeys,
  processDefinitionId: ({ definition }, value) => definition?.id === value,
  processDefinitionIdIn: ({ definition }, value) => among(value, definition?.id ?? null),
  processDefinitionKey: ofKey,
  processDefinitionKeyIn: ofKeys,
  processDefinitionKeyNotIn: ({ key }, value) => key !== null && !among(value, key),
  processDefinitionWithoutTenantId: ({ definition }, value) =>
    !isTrue(value) || definition?.tenantId === null,
  processInstanceId: ({ instanceId }, value) => instanceId === value,
  processInstanceIdIn: ofInstances,
  processInstanceIds: ofInstances,
  caseInstanceIdIn: ({ shown }, value) => among(value, stringOf(shown['caseInstanceId'])),
  // If both conditions on tenants are given, this one applies.
  withoutTenantId: ({ tenantId }, value) => !isTrue(value) || tenantId === null,
  tenantIdIn: ({ tenantId }, value, query) =>
    isTrue(query['withoutTenantId']) || (tenantId === null ? includesNone(query) : among(value, tenantId)),
}

function includesNone(query: Query): boolean {
  return Object.entries(query).some(
    ([name, value]) => /^include\w+WithoutTenantId$/.test(name) && isTrue(value),
  )
}

/** Returns whether the value lists the cell. An empty list is ignored. */
function among(value: unknown, cell: string | null): boolean {
  const list: readonly unknown[] = Array.isArray(value) ? value : String(value).split(',')
  return list.length === 0 || (cell !== null && list.includes(cell))
}

function isTrue(value: unknown): boolean {
  return value === true || value === 'true'
}
