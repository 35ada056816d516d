import type { DateFormat } from '../../request/date-format.ts'
import { ROW_QUERIES, type RowQuery } from '../../operations/row-queries.ts'
import type { Method } from '../../operations/table.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import type { Attributes } from '../../request/attributes.ts'
import type { DefinitionLists, DefinitionRow } from '../facts/definition-lists.ts'
import type { InstanceKind, InstanceLists } from '../facts/instance-lists.ts'
import type { MaybePromise } from '../../request/maybe-promise.ts'
import { isNameable } from '../../policy/authz/entities/lookup.ts'
import { inQueries } from '../../policy/authz/entities/lookup-lists.ts'
import { pagingOf } from '../../request/paging.ts'
import type { LookUps } from '../../policy/authz/entities/look-ups.ts'
import type { CompiledRows, Viewer } from '../visibility/compiled-rows.ts'
import { NO_CONDITION, ownQueryOf, type OwnQuery } from './own-query.ts'
import {
  FILTER,
  type PartsPlan,
  type QueryMembers,
  type QueryPart,
  type RestPlan,
  type RowPlan,
} from '../list-plan.ts'
import { isOfTenants, isVisible } from '../visibility/visibility.ts'
import {
  has,
  intersect,
  isAll,
  isNone,
  namesTasks,
  visibleSetOf,
  type IdSet,
} from '../visibility/visible-set.ts'
import { FEW_ITEMS, MAX_CONDITION_VALUES, MAX_LIST_CHARS, MAX_PLAN_KEYS, MAX_QUERY_CHARS } from '../limits.ts'

/** The options of a plan. */
export interface PlanOptions extends LookUps, DefinitionLists, InstanceLists {
  /** The largest number of requests for one query. */
  readonly maxParts: number
  readonly dateFormat: DateFormat
}

export interface Planning {
  readonly method: Method
  readonly rows: CompiledRows
  readonly viewer: Viewer
  readonly accessRequest: AccessRequest
  readonly options: PlanOptions
  /** Whether the client accepts the response form, and the paging can be read. */
  readonly isAnswerable: boolean
  /** Whether there may be items of cases. Every caller sees them if the restriction exempts cases. */
  readonly hasCases: boolean
}

/**
 * Plans how to request the items of a query that the caller may see. The caller's own conditions are evaluated first, so a
 * query for items that the caller may not see causes no request. A restriction that the parameters of the table cannot
 * express exactly is applied by a filter.
 */
export async function planRows(planning: Planning): Promise<RowPlan> {
  const { method, rows, viewer, accessRequest } = planning
  const { query } = rows
  if (query === null || hasDisabled(rows, viewer) || namesTasks(rows, viewer)) return FILTER
  const own = ownQueryOf(query, method, accessRequest)
  if (own === null) return FILTER
  const asked: Asked = { ...planning, query, own, keys: keysOf(rows, viewer, own) }
  return own.instance === null ? planKeys(asked) : planInstance(asked, own.instance)
}

/** Returns whether a plan needs ids of instances that must be read first. The ids of instances that are granted one by one are known. */
export function readsInstances({ method, rows, viewer, accessRequest }: Planning): boolean {
  const { query } = rows
  if (query?.by !== 'instances' && query?.by !== 'instance') return false
  const own = ownQueryOf(query, method, accessRequest)
  return own !== null && own.instance === null && !isNone(keysOf(rows, viewer, own))
}

async function planKeys(asked: Asked): Promise<RowPlan> {
  const { keys, viewer } = asked
  if ([...keys.ids, ...(viewer.tenants ?? [])].some((id) => !isListable(id))) return FILTER
  const allButHidden = await countWithoutHidden(asked)
  if (allButHidden !== null) return planOf(asked, allButHidden)
  const parts = await keyParts(asked)
  const allButSome = await countWithoutHiddenKeys(asked, parts)
  if (allButSome !== null) return planOf(asked, allButSome)
  const cases = await caseParts(asked)
  const instances = await instanceParts(asked)
  if (parts === null || cases === null || instances === null) return FILTER
  const rest = await restOf(asked)
  if (rest === 'unknown') return FILTER
  const isExact = instances.hidden.length === 0 && !parts.some(({ isMixed }) => isMixed)
  return planOf(asked, { parts: [...parts, ...cases], ...instances, rest, isExact, order: orderOf(asked) })
}

interface Asked extends Planning {
  readonly query: RowQuery
  readonly own: OwnQuery
  /** The visible keys that the query selects. */
  readonly keys: IdSet
}

/** Returns whether a permission is disabled. A check leaves a disabled permission out, but the engine's lists treat it differently. */
function hasDisabled({ conditions }: CompiledRows, { records }: Viewer): boolean {
  return conditions.some(({ permissions }) =>
    permissions.some(({ permission }) => records.disabled.has(permission)),
  )
}

function keysOf(rows: CompiledRows, viewer: Viewer, { key, keys }: OwnQuery): IdSet {
  let visible = visibleSetOf(rows, viewer).keys
  if (key !== null) visible = intersect(visible, [key])
  return keys === null ? visible : intersect(visible, keys)
}

/** Returns whether an id can be an element of a list. In a query string a comma separates two ids. */
function isListable(id: string): boolean {
  return isNameable(id) && !id.includes(',')
}

/** Plans a query for one instance. Either all or none of its items are visible. */
async function planInstance(asked: Asked, id: string): Promise<RowPlan> {
  const { rows, viewer, query, options } = asked
  const found = await options.lookUp(query.isHistory ? 'historicProcessInstance' : 'processInstance', id)
  if (found === null) return FILTER
  const attribute = (name: string) => (name === 'processInstanceId' ? id : attributeOf(found, name))
  const isOpen = isVisible({ ...rows, exempt: null }, {}, attribute, viewer)
  return planOf(asked, {
    parts: isOpen ? [{ set: {}, known: knownOf(found['definitionId']) }] : [],
    ...NO_INSTANCES,
    rest: null,
    isExact: true,
    order: null,
  })
}

function attributeOf({ processDefinitionKey = null, tenantId = null }: Attributes, name: string) {
  return name === 'tenantId' ? tenantId : processDefinitionKey
}

function knownOf(definitionId: string | null | undefined): Readonly<Record<string, string>> {
  return typeof definitionId === 'string' ? { processDefinitionId: definitionId } : {}
}

const NO_INSTANCES = { instances: [], hidden: [] }

function planOf(asked: Asked, plan: Omit<PartsPlan, 'strategy' | 'asPost'>): RowPlan {
  const { parts, instances, hidden, rest } = plan
  const all = [...parts, ...instances, ...hidden, ...(rest?.all ?? [])]
  if (all.length === 0) return { strategy: 'denied', isValid: asked.own.isPlain && asked.isAnswerable }
  const asPost = asPostOf(asked)
  const isTooLong = asPost === null && all.some(({ set }) => lengthOf(set) > roomOf(asked))
  if (all.length > asked.options.maxParts || isTooLong) return FILTER
  return { strategy: all.length === 1 && rest === null ? 'rewrite' : 'union', asPost, ...plan }
}

/** Returns how many characters one more condition of the query may have. */
function roomOf({ method, accessRequest }: Asked): number {
  if (method === 'POST') return Number.POSITIVE_INFINITY
  return MAX_QUERY_CHARS - lengthOf(Object.fromEntries(accessRequest.query))
}

/** Returns how a GET is sent as a POST. Null if this is impossible or not necessary. */
function asPostOf({ query, method, own, accessRequest }: Asked): PartsPlan['asPost'] {
  const { asPost } = query
  if (asPost === undefined || method === 'POST' || own.sort !== null) return null
  const known = new Set([...asPost.texts, ...asPost.inQuery])
  const isSaid = [...own.names].every((name) => known.has(name) && accessRequest.query.get(name) !== '')
  return isSaid ? asPost : null
}

function lengthOf(set: QueryMembers): number {
  return Object.values(set).reduce((sum, value) => sum + encodeURIComponent(String(value)).length, 0)
}

/** Returns the subqueries for items that are visible by their key, or null if no query expresses this. */
async function keyParts(asked: Asked): Promise<readonly QueryPart[] | null> {
  const { query, own, keys } = asked
  if (isAll(keys) && own.definition === null && tellsTenants(asked)) return inTenants(asked, [{}])
  if (query.by === 'instances') return visibleInstances(asked)
  if (isNone(keys)) return []
  if (own.definition !== null) return ownDefinition(asked, own.definition)
  return partsBy(asked, query.by)
}

async function partsBy(asked: Asked, by: RowQuery['by']): Promise<readonly QueryPart[] | null> {
  const { query, keys } = asked
  if (by === 'instance' || (keys.isAllBut && query.hasRowsOfNone === true)) return null
  return by === 'key' ? keyedParts(asked) : listedParts(asked)
}

/** Returns one subquery for each key. For process definitions, only existing keys are used if they can be listed. */
async function keyedParts(asked: Asked): Promise<readonly QueryPart[] | null> {
  const { query, keys } = asked
  const visible = await visibleKeys(asked)
  if (visible === null && keys.isAllBut) return null
  return withDeleted(asked, inTenants(asked, [...(visible ?? keys.ids)].map(setOf(query.key ?? ''))))
}

/** Returns whether the query itself can select tenants. */
function tellsTenants(asked: Asked): boolean {
  return asked.query.tenants !== 'definitions' || !isRestricted(asked)
}

/** Returns subqueries by lists of keys if the query supports lists, otherwise one for each definition. */
async function listedParts(asked: Asked): Promise<readonly QueryPart[] | null> {
  const { query } = asked
  const listed = query.by === 'keys' ? await listedKeys(asked) : null
  return listed === null ? definitionParts(asked) : withDeleted(asked, listed)
}

/** Adds subqueries for the items of deleted definitions to subqueries by keys if the keys do not find these items. */
async function withDeleted(asked: Asked, parts: readonly QueryPart[]): Promise<readonly QueryPart[] | null> {
  if (asked.query.keysMissDeleted !== true) return parts
  const deleted = await deletedOf(asked)
  const others = deleted === null ? null : await ofDefinitions(asked, deleted.filter(isVisibleIn(asked)))
  return others === null ? null : [...parts, ...others]
}

/** Returns subqueries by lists of keys, or null if no list expresses the keys. */
async function listedKeys(asked: Asked): Promise<readonly QueryPart[] | null> {
  const { query, own, keys, method } = asked
  if (keys.isAllBut && query.exceptKeys !== undefined) {
    const except = [...new Set([...keys.ids, ...(own.exceptKeys ?? [])])]
    return except.length > MAX_CONDITION_VALUES ? null : inTenants(asked, [{ [query.exceptKeys]: except }])
  }
  const named = keys.isAllBut ? await visibleKeys(asked) : keys.ids
  if (query.keys === undefined || named === null) return null
  return inTenants(asked, [...listsOf([...named], method)].map(setOf(query.keys)))
}

function setOf(name: string): (value: string | readonly string[]) => QueryMembers {
  return (value) => ({ [name]: value })
}

function listsOf(ids: readonly string[], method: Method): Iterable<readonly string[]> {
  return inQueries(ids, method === 'POST' ? Number.POSITIVE_INFINITY : MAX_LIST_CHARS, MAX_CONDITION_VALUES)
}

/** Plans a query for one definition. */
async function ownDefinition(asked: Asked, id: string): Promise<readonly QueryPart[] | null> {
  const { keys, viewer, options } = asked
  const found = await options.lookUp('processDefinition', id)
  const key = found?.['key'] ?? null
  // The definition may be deleted while its items still exist.
  if (found === null || key === null) return null
  const definition = { id, key, tenantId: found['tenantId'] ?? null }
  if (!has(keys, key) || !isOfTenants(definition.tenantId, viewer.tenants)) return []
  return ofDefinitions(asked, [definition], {})
}

/** Returns one subquery for each visible definition, or for each key if there are too many definitions. */
async function definitionParts(asked: Asked): Promise<readonly QueryPart[] | null> {
  const { query } = asked
  if (query.definition === undefined) return null
  const visible = await visibleDefinitions(asked)
  if (visible !== null) return ofDefinitions(asked, visible)
  return query.key === undefined || !tellsTenants(asked) ? null : keyedParts(asked)
}

/** Returns the visible definitions, including deleted ones. Null if there are more than the maximum number of subqueries, or too many are deleted. */
async function visibleDefinitions(asked: Asked): Promise<readonly DefinitionRow[] | null> {
  const { definitions, maxParts } = asked.options
  const deleted = await deletedOf(asked)
  const found = deleted === null ? null : await definitions(keysAskedFor(asked), maxParts)
  if (deleted === null || found === null) return null
  return [...found, ...goneOf(deleted, found)].filter(isVisibleIn(asked))
}

/** Returns the deleted definitions whose items still exist. */
function deletedOf({ query, options }: Asked): MaybePromise<readonly DefinitionRow[] | null> {
  return query.isHistory === true ? options.deleted() : []
}

/** Returns the keys of visible process definitions, including deleted ones. Null if items have other keys, or there are too many. */
async function visibleKeys(asked: Asked): Promise<ReadonlySet<string> | null> {
  if (asked.query.definition === undefined) return null
  const deleted = await deletedOf(asked)
  const found = await asked.options.latestDefinitions(keysAskedFor(asked), MAX_PLAN_KEYS)
  if (deleted === null || found === null) return null
  return new Set([...found, ...deleted].filter(isVisibleIn(asked)).map(({ key }) => key))
}

function keysAskedFor({ keys }: Asked): readonly string[] | null {
  return keys.isAllBut ? null : [...keys.ids]
}

function isVisibleIn({ keys, viewer }: Asked): (definition: DefinitionRow) => boolean {
  return ({ key, tenantId }) => has(keys, key) && isOfTenants(tenantId, viewer.tenants)
}

function goneOf(
  deleted: readonly DefinitionRow[],
  found: readonly DefinitionRow[],
): readonly DefinitionRow[] {
  const ids = new Set(found.map(({ id }) => id))
  return deleted.filter(({ id }) => !ids.has(id))
}

/**
 * Returns the subqueries for definitions. An engine may assign tenants to the instances of a definition without a tenant,
 * and no query can exclude these. Returns null if they would be counted.
 */
async function ofDefinitions(
  asked: Asked,
  definitions: readonly DefinitionRow[],
  set?: QueryMembers,
): Promise<readonly QueryPart[] | null> {
  const { query, rows, options, accessRequest } = asked
  const untenanted = definitions.filter(({ tenantId }) => tenantId === null).map(({ key }) => key)
  const isOpen = isRestricted(asked) && query.tenants === 'definitions' && untenanted.length > 0
  const isCounted = rows.form === 'count'
  const keys = [...new Set(untenanted)]
  const isTold = isOpen && (isCounted || isFar(accessRequest))
  const hasOwn = isTold && (await options.hasOwnTenants(keys.length > MAX_CONDITION_VALUES ? null : keys))
  if (isCounted && hasOwn) return null
  const isMixed = hasOwn || (isOpen && !isTold)
  return definitions.flatMap((definition) => partsOf({ ...asked, isMixed }, definition, set))
}

/** Returns whether the page starts so late that the items before it are counted, if possible, instead of read. */
function isFar({ query }: AccessRequest): boolean {
  return (pagingOf(query)?.first ?? 0) >= FEW_ITEMS
}

/** Returns the subqueries for one definition. The items of a tenant's definition belong to the same tenant. */
function partsOf(
  asked: Asked & { readonly isMixed: boolean },
  { id, tenantId }: DefinitionRow,
  set?: QueryMembers,
): readonly QueryPart[] {
  const { definition } = asked.query
  const own = set ?? (definition === undefined ? {} : { [definition]: id })
  const sets = tenantId === null ? tenantSets(asked) : [{}]
  const isMixed = asked.isMixed && tenantId === null
  return sets.map((tenants) => ({
    set: { ...own, ...tenants },
    known: knownOf(id),
    ...(isMixed && { isMixed }),
  }))
}

/** Returns subqueries for the same items, restricted to the caller's tenants and to items without a tenant. */
function inTenants(asked: Asked, sets: readonly QueryMembers[]): readonly QueryPart[] {
  return sets.flatMap((set) =>
    tenantSets(asked).map((tenants) => ({ set: { ...set, ...tenants }, known: {} })),
  )
}

function isRestricted({ rows, viewer }: Planning): boolean {
  return rows.tenanted && viewer.tenants !== null
}

/** Returns the members that select the caller's tenants, for one subquery or for two. They are empty if only definitions determine tenants. */
function tenantSets(asked: Asked): readonly QueryMembers[] {
  const { query, own, viewer } = asked
  if (!isRestricted(asked) || query.tenants === 'definitions' || query.tenants === 'none') return [{}]
  const tenants = [...(viewer.tenants ?? [])]
  // A query with both conditions has no plan: own-query.ts.
  if (own.isWithoutTenant) return [{}]
  if (own.tenantIds !== null) {
    const asking = own.tenantIds.filter((id) => tenants.includes(id))
    return asking.length === 0 ? [] : [{ tenantIdIn: asking }]
  }
  const ofNone = { withoutTenantId: true } as const
  if (tenants.length === 0) return [ofNone]
  const isTwo = query.tenants === 'two queries'
  return isTwo ? [ofNone, { tenantIdIn: tenants }] : [{ tenantIdIn: tenants, [query.tenants]: true }]
}

/**
 * Plans a count by lists of instances if not more instances are hidden than visible: all items minus those of the hidden
 * instances. Null otherwise.
 */
async function countWithoutHidden(asked: Asked): Promise<Omit<PartsPlan, 'strategy' | 'asPost'> | null> {
  const { query, rows } = asked
  const isKnown = query.by === 'instances' && query.rest !== undefined && tellsTenants(asked)
  // The count of all items includes items without an instance, so every caller must see those.
  if (rows.form !== 'count' || !isKnown || !mayFindRest(asked)) return null
  const ids = await hiddenInstances(asked, othersOf(asked))
  const hidden = ids === null ? null : listsOfInstances(asked, ids)
  const parts = inTenants(asked, [{}])
  return hidden === null
    ? null
    : { parts, instances: [], hidden: hidden.map(weighed), rest: null, isExact: false, order: null }
}

/**
 * Plans a count of running items if most keys are visible: all items minus those of the other keys. Null otherwise. The
 * history may contain items of deleted definitions, which a list of hidden keys would miss.
 */
async function countWithoutHiddenKeys(
  asked: Asked,
  visible: readonly QueryPart[] | null,
): Promise<Omit<PartsPlan, 'strategy' | 'asPost'> | null> {
  const { query, rows } = asked
  if (rows.form !== 'count' || query.isHistory === true || visible === null || visible.length <= 1)
    return null
  const { granted, revoked } = visibleSetOf(rows, asked.viewer).instances
  const isKnown = query.rest !== undefined && tellsTenants(asked) && granted.length + revoked.length === 0
  // The count of all items includes items without a key, so every caller must see those.
  if (!isKnown || !mayFindRest(asked)) return null
  const hidden = await keyParts(othersOf(asked))
  if (hidden === null || hidden.length + 1 >= visible.length) return null
  return { parts: inTenants(asked, [{}]), instances: [], hidden, rest: null, isExact: false, order: null }
}

/** Returns the same request for all keys except the visible ones. */
function othersOf(asked: Asked): Asked {
  const { ids, isAllBut } = asked.keys
  return { ...asked, keys: { ids, isAllBut: !isAllBut } }
}

/**
 * Returns the instances of the keys in `others`. Null if they outnumber the visible ones, if no query finds them, or if
 * records name single instances.
 */
async function hiddenInstances(asked: Asked, others: Asked): Promise<readonly string[] | null> {
  const { granted, revoked } = visibleSetOf(asked.rows, asked.viewer).instances
  if (granted.length + revoked.length > 0) return null
  const [visible, hidden] = [await countInstances(asked), await countInstances(others)]
  return visible === null || hidden === null || hidden > visible ? null : idsOfDefinitions(others)
}

/** Returns lists of the cases whose items every caller sees. Null if no query expresses this, or there are too many. */
async function caseParts(asked: Asked): Promise<readonly QueryPart[] | null> {
  const { query, own, keys, rows, hasCases } = asked
  // An item of a process instance does not belong to a case.
  if (!hasCases || rows.exempt !== 'case' || own.instances !== null) return []
  if (isAll(keys) && tellsTenants(asked)) return []
  const name = query.cases
  if (name === undefined || own.names.has(name)) return null
  const ids = await idsIn(
    asked,
    'case-instance',
    inTenants({ ...asked, query: CASES, own: NO_CONDITION }, [{}]),
  )
  if (ids === null) return null
  // A case may have more or fewer items than a process instance, so these lists have no weight.
  return listsOfInstances({ ...asked, query: { ...query, instances: name } }, ids)?.map(partOf) ?? null
}

/** Selects the tenants of cases. */
const CASES: RowQuery = { by: 'instances', tenants: 'two queries' }

/** Returns lists of the visible instances. Null if there are too many, or items without an instance are visible, too. */
async function visibleInstances(asked: Asked): Promise<readonly QueryPart[] | null> {
  const { query, own, keys } = asked
  if (keys.isAllBut && query.hasRowsOfNone === true && own.instances === null) return null
  const ids = own.instances === null ? await idsOfKeys(asked) : await idsAmong(asked, own.instances)
  return (ids === null ? null : listsOfInstances(asked, ids))?.map(weighed) ?? null
}

/** Returns the subquery for a list of instances. */
function partOf(set: QueryMembers): QueryPart {
  return { set, known: {} }
}

/** Adds a weight to the subquery. Large sets of instances have about the same number of items for each instance. */
function weighed(set: QueryMembers): QueryPart {
  const [list] = Object.values(set)
  return { ...partOf(set), ...(Array.isArray(list) && { weight: list.length }) }
}

/** Splits the ids into lists for subqueries. Null if an id cannot be an element of a list. */
function listsOfInstances(asked: Asked, ids: readonly string[]): readonly QueryMembers[] | null {
  const { query, method } = asked
  if (!ids.every(isListable)) return null
  const isShort = method !== 'POST' && asPostOf(asked) === null
  const chars = isShort ? roomOf(asked) : Number.POSITIVE_INFINITY
  const lists = [...inQueries(ids, chars, MAX_CONDITION_VALUES)]
  const dealt = dealtOut(ids, lists.length).flatMap((list) => [
    ...inQueries(list, chars, MAX_CONDITION_VALUES),
  ])
  return dealt.map((list) => ({ [query.instances ?? '']: list }))
}

/** Adjacent ids are placed in different lists, so that the items of each list are spread evenly over the result. */
function dealtOut(ids: readonly string[], count: number): readonly (readonly string[])[] {
  const lists = Array.from({ length: count }, (): string[] => [])
  for (const [at, id] of ids.entries()) lists[at % count]?.push(id)
  return lists
}

/** Returns those of the given instances that the caller sees. */
async function idsAmong(asked: Asked, ids: readonly string[]): Promise<readonly string[]> {
  const { rows, viewer, query, options, accessRequest } = asked
  const kind = query.isHistory ? 'historicProcessInstance' : 'processInstance'
  const found = await options.lookUpAll(kind, ids, accessRequest.stillAwaited)
  return [...found].flatMap(([id, attributes]) => {
    const attribute = (name: string) => (name === 'processInstanceId' ? id : attributeOf(attributes, name))
    return isVisible({ ...rows, exempt: null }, {}, attribute, viewer) ? [id] : []
  })
}

/**
 * Returns the instances of visible definitions, and the instances that are visible themselves. Null if there are too many,
 * or no query finds them.
 */
async function idsOfKeys(asked: Asked): Promise<readonly string[] | null> {
  const { rows, viewer, keys } = asked
  const { granted, revoked } = visibleSetOf(rows, viewer).instances
  const found = isNone(keys) ? [] : await idsOfDefinitions(asked)
  if (found === null) return null
  const ids = new Set(found)
  for (const id of revoked) ids.delete(id)
  for (const id of await idsAmong(asked, granted)) ids.add(id)
  return [...ids]
}

/** Reads the ids with the plan for a list of instances. */
async function idsOfDefinitions(asked: Asked): Promise<readonly string[] | null> {
  const parts = await partsOfInstances(asked)
  return parts === null ? null : idsIn(asked, kindOf(asked), parts)
}

/** Returns the ids that these queries find, or null if there are more than the subqueries may name. */
async function idsIn(
  { options, accessRequest }: Asked,
  kind: InstanceKind,
  parts: readonly QueryPart[],
): Promise<readonly string[] | null> {
  const ids: string[] = []
  for (const { set } of parts) {
    accessRequest.stillAwaited?.()
    const some = await options.instanceIds(kind, set, options.maxParts * MAX_CONDITION_VALUES - ids.length)
    if (some === null) return null
    ids.push(...some)
  }
  return ids
}

/** Returns the number of instances, or null if no query finds them. */
async function countInstances(asked: Asked): Promise<number | null> {
  const parts = await partsOfInstances(asked)
  if (parts === null) return null
  let count = 0
  for (const { set } of parts) count += await asked.options.countInstances(kindOf(asked), set)
  return count
}

/** Returns the queries for the instances of visible definitions. Null if there are too many, or no query expresses this. */
async function partsOfInstances(asked: Asked): Promise<readonly QueryPart[] | null> {
  const instances = ROW_QUERIES[asked.query.isHistory ? 'historicProcessInstances' : 'processInstances']
  const parts = await keyParts({ ...asked, query: instances, own: NO_CONDITION, method: 'POST' })
  return parts === null || parts.length > asked.options.maxParts ? null : parts
}

function kindOf({ query }: Asked): InstanceKind {
  return query.isHistory === true ? 'history/process-instance' : 'process-instance'
}

/** Returns the subqueries for items that are visible, or hidden, by their instance alone. Null if no query expresses this. */
async function instanceParts(asked: Asked): Promise<Pick<PartsPlan, 'instances' | 'hidden'> | null> {
  const { query, own, keys, rows, viewer, options, accessRequest, method } = asked
  // The subqueries are lists of instances already.
  if (query.by === 'instances') return NO_INSTANCES
  const { granted, revoked } = visibleSetOf(rows, viewer).instances
  const isAsked = (id: string) => own.instances === null || own.instances.includes(id)
  const [opened, closed] = [granted.filter(isAsked), revoked.filter(isAsked)]
  if (opened.length + closed.length === 0) return NO_INSTANCES
  const name = query.instances ?? query.instance
  const isRefused = query.instances !== undefined && query.instancesNotWith?.some((one) => own.names.has(one))
  if (name === undefined || isRefused === true) return null
  const found = await options.lookUpAll('processInstance', [...opened, ...closed], accessRequest.stillAwaited)
  const isBy = (isByKey: boolean) => (id: string) => {
    const { processDefinitionKey, tenantId } = found.get(id) ?? {}
    if (
      typeof processDefinitionKey !== 'string' ||
      !isOfTenants(tenantId, rows.tenanted ? viewer.tenants : null)
    )
      return false
    return has(keys, processDefinitionKey) === isByKey
  }
  const parts = (ids: readonly string[]): readonly QueryPart[] => {
    if (!ids.every(isListable)) return []
    const values = query.instances === undefined ? ids : [...listsOf(ids, method)]
    return values.map((value) => ({ set: { [name]: value }, known: {} }))
  }
  return { instances: parts(opened.filter(isBy(false))), hidden: parts(closed.filter(isBy(true))) }
}

/** Returns the plan for items that every caller sees. Null if the query finds no such items, `unknown` if they cannot be requested. */
async function restOf(asked: Asked): Promise<RestPlan | null | 'unknown'> {
  const { query, own, method, options } = asked
  const { rest } = query
  if (!mayFindRest(asked)) return null
  // A body may have its own sort order.
  if (rest === undefined || (method === 'POST' && own.names.has('sortBy'))) return 'unknown'
  // These items are read in an order of the plan. The engine would not get the caller's order, and could not refuse it.
  if (own.sort !== null && orderOf(asked) === null) return 'unknown'
  const first = await options.nullsFirst()
  const all = inTenants(asked, [{}])
  const orders = first === null ? BOTH : [first]
  return {
    all,
    sorted: all.map((part) =>
      orders.map((sortOrder) => ({ ...part, sort: { sortBy: rest.sortBy, sortOrder } })),
    ),
    member: rest.member,
    isMixed: !tellsTenants(asked),
  }
}

const BOTH = ['asc', 'desc'] as const

function mayFindRest(asked: Asked): boolean {
  const { own, keys, rows } = asked
  const names = [own.key, own.keys, own.definition, own.instances]
  // The items of cases have their own subqueries.
  if (rows.exempt === null || rows.exempt === 'case' || names.some((one) => one !== null)) return false
  // In this case the subqueries already include every item.
  return !(isAll(keys) && tellsTenants(asked))
}

function orderOf({ query, own, options: { dateFormat } }: Asked): PartsPlan['order'] {
  const { sort } = own
  if (sort === null)
    return query.order === undefined ? null : { member: query.order, kind: 'id', isDescending: false }
  const sorts = query.sorts ?? {}
  const found = sort === 'other' || !Object.hasOwn(sorts, sort.by) ? undefined : sorts[sort.by]
  if (found === undefined || sort === 'other') return null
  const { member, kind } = found
  const { isDescending } = sort
  if (kind !== 'time') return { member, kind, isDescending }
  // The engine sorts by milliseconds. Texts without them do not tell which of two items comes first.
  return dateFormat.hasMilliseconds ? { member, kind, isDescending, dateFormat } : null
}
