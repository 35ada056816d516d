import type { DateFormat } from '../../../request/date-format.ts'
import { ROW_QUERIES, type RowQuery } from '../../../operations/row-queries.ts'
import type { Method } from '../../../operations/table.ts'
import type { AccessRequest } from '../../../request/access-request.ts'
import type { Attributes } from '../../../request/attributes.ts'
import type { DefinitionLists, DefinitionRow } from '../entities/definition-lists.ts'
import type { InstanceKind, InstanceLists } from '../entities/instance-lists.ts'
import type { MaybePromise } from '../../../request/maybe-promise.ts'
import { isNameable } from '../entities/lookup.ts'
import { inQueries } from '../entities/lookup-lists.ts'
import { pagingOf } from '../../../request/paging.ts'
import type { LookUps } from '../entities/look-ups.ts'
import type { CompiledRows, Viewer } from './compiled-rows.ts'
import { NO_CONDITION, ownQueryOf, type OwnQuery } from './own-query.ts'
import {
  FILTER,
  type PartsPlan,
  type QueryMembers,
  type QueryPart,
  type RestPlan,
  type RowPlan,
} from './row-plan.ts'
import { isOfTenants, isVisible } from './rows.ts'
import { has, intersect, isAll, isNone, namesTasks, visibleSetOf, type IdSet } from './visible-set.ts'

/** What plans are made of. */
export interface PlanOptions extends LookUps, DefinitionLists, InstanceLists {
  /** More requests than this are not made for one query. */
  readonly maxParts: number
  readonly dateFormat: DateFormat
}

export interface Planning {
  readonly method: Method
  readonly rows: CompiledRows
  readonly viewer: Viewer
  readonly accessRequest: AccessRequest
  readonly options: PlanOptions
  /** The client takes the answer, and its paging can be read. */
  readonly isAnswerable: boolean
  /** There may be rows of cases, which everybody sees where the restriction says so. */
  readonly hasCases: boolean
}

/**
 * How to ask for the rows of a query that the caller may see. The caller's own conditions are looked at first: a query for
 * what may not be seen asks for nothing. Whatever cannot be said exactly by the parameters of the table is filtered.
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

/** Whether a plan is made of ids of instances that must be read: those that are granted one by one are known. */
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
  /** Visible keys that the query asks for. */
  readonly keys: IdSet
}

/** A permission that is disabled drops out of a check, and the engine's lists have their own way with it. */
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

/** In a list of a query string a comma parts two ids. */
function isListable(id: string): boolean {
  return isNameable(id) && !id.includes(',')
}

/** All rows of one instance are visible, or none. */
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

function planOf(asked: Asked, plan: Omit<PartsPlan, 'plan' | 'asPost'>): RowPlan {
  const { parts, instances, hidden, rest } = plan
  const all = [...parts, ...instances, ...hidden, ...(rest?.all ?? [])]
  if (all.length === 0) return { plan: 'none', isValid: asked.own.isPlain && asked.isAnswerable }
  const asPost = asPostOf(asked)
  const isTooLong = asPost === null && all.some(({ set }) => lengthOf(set) > roomOf(asked))
  if (all.length > asked.options.maxParts || isTooLong) return FILTER
  return { plan: all.length === 1 && rest === null ? 'narrowed' : 'parts', asPost, ...plan }
}

/** What one more condition of the query may have. */
function roomOf({ method, accessRequest }: Asked): number {
  if (method === 'POST') return Number.POSITIVE_INFINITY
  return MAX_QUERY_CHARS - lengthOf(Object.fromEntries(accessRequest.query))
}

/** How a GET is asked as the POST; null: it cannot be, or need not. */
function asPostOf({ query, method, own, accessRequest }: Asked): PartsPlan['asPost'] {
  const { asPost } = query
  if (asPost === undefined || method === 'POST' || own.sort !== null) return null
  const known = new Set([...asPost.texts, ...asPost.inQuery])
  const isSaid = [...own.names].every((name) => known.has(name) && accessRequest.query.get(name) !== '')
  return isSaid ? asPost : null
}

/** Servers read request lines of 8 KB. */
const MAX_QUERY_CHARS = 6000
/** Databases take at most 1,000 (Oracle) or 2,100 (SQL Server) in one condition. */
const MAX_LIST = 1000
/** Of a list in a query string: with a second one it must fit a request line. */
const LIST_CHARS = 3000

function lengthOf(set: QueryMembers): number {
  return Object.values(set).reduce((sum, value) => sum + encodeURIComponent(String(value)).length, 0)
}

/** What is visible by its key; null: no query says it. */
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

/** Once for each key: of process definitions for those that there are, where they can be listed. */
async function keyedParts(asked: Asked): Promise<readonly QueryPart[] | null> {
  const { query, keys } = asked
  const visible = await visibleKeys(asked)
  if (visible === null && keys.isAllBut) return null
  return withDeleted(asked, inTenants(asked, [...(visible ?? keys.ids)].map(setOf(query.key ?? ''))))
}

/** Whether the query itself can say which tenants are meant. */
function tellsTenants(asked: Asked): boolean {
  return asked.query.tenants !== 'definitions' || !isRestricted(asked)
}

/** By lists of keys where there are any, else by one definition after the other. */
async function listedParts(asked: Asked): Promise<readonly QueryPart[] | null> {
  const { query } = asked
  const listed = query.by === 'keys' ? await listedKeys(asked) : null
  return listed === null ? definitionParts(asked) : withDeleted(asked, listed)
}

/** Parts by keys, with what those do not find. */
async function withDeleted(asked: Asked, parts: readonly QueryPart[]): Promise<readonly QueryPart[] | null> {
  if (asked.query.keysMissDeleted !== true) return parts
  const deleted = await deletedOf(asked)
  const others = deleted === null ? null : await ofDefinitions(asked, deleted.filter(isVisibleIn(asked)))
  return others === null ? null : [...parts, ...others]
}

/** In lists of keys; null: no list says it. */
async function listedKeys(asked: Asked): Promise<readonly QueryPart[] | null> {
  const { query, own, keys, method } = asked
  if (keys.isAllBut && query.exceptKeys !== undefined) {
    const except = [...new Set([...keys.ids, ...(own.exceptKeys ?? [])])]
    return except.length > MAX_LIST ? null : inTenants(asked, [{ [query.exceptKeys]: except }])
  }
  const named = keys.isAllBut ? await visibleKeys(asked) : keys.ids
  if (query.keys === undefined || named === null) return null
  return inTenants(asked, [...listsOf([...named], method)].map(setOf(query.keys)))
}

function setOf(name: string): (value: string | readonly string[]) => QueryMembers {
  return (value) => ({ [name]: value })
}

function listsOf(ids: readonly string[], method: Method): Iterable<readonly string[]> {
  return inQueries(ids, method === 'POST' ? Number.POSITIVE_INFINITY : LIST_CHARS, MAX_LIST)
}

/** The query is about one definition. */
async function ownDefinition(asked: Asked, id: string): Promise<readonly QueryPart[] | null> {
  const { keys, viewer, options } = asked
  const found = await options.lookUp('processDefinition', id)
  const key = found?.['key'] ?? null
  // It may be deleted, and its rows still there.
  if (found === null || key === null) return null
  const definition = { id, key, tenantId: found['tenantId'] ?? null }
  if (!has(keys, key) || !isOfTenants(definition.tenantId, viewer.tenants)) return []
  return ofDefinitions(asked, [definition], {})
}

/** One part for each visible definition, or for each key where these are too many. */
async function definitionParts(asked: Asked): Promise<readonly QueryPart[] | null> {
  const { query } = asked
  if (query.definition === undefined) return null
  const visible = await visibleDefinitions(asked)
  if (visible !== null) return ofDefinitions(asked, visible)
  return query.key === undefined || !tellsTenants(asked) ? null : keyedParts(asked)
}

/** With those that are deleted; null: there are more than parts may be, or too many are deleted. */
async function visibleDefinitions(asked: Asked): Promise<readonly DefinitionRow[] | null> {
  const { definitions, maxParts } = asked.options
  const deleted = await deletedOf(asked)
  const found = deleted === null ? null : await definitions(keysAskedFor(asked), maxParts)
  if (deleted === null || found === null) return null
  return [...found, ...goneOf(deleted, found)].filter(isVisibleIn(asked))
}

/** Definitions that are gone, and whose rows are still there. */
function deletedOf({ query, options }: Asked): MaybePromise<readonly DefinitionRow[] | null> {
  return query.isHistory === true ? options.deleted() : []
}

/** Keys of visible process definitions, with those that are deleted; null: rows have other keys, or there are too many. */
async function visibleKeys(asked: Asked): Promise<ReadonlySet<string> | null> {
  if (asked.query.definition === undefined) return null
  const deleted = await deletedOf(asked)
  const found = await asked.options.latestDefinitions(keysAskedFor(asked), MAX_KEYS)
  if (deleted === null || found === null) return null
  return new Set([...found, ...deleted].filter(isVisibleIn(asked)).map(({ key }) => key))
}

/** A query has lists of them, or a part for each. */
const MAX_KEYS = 2000

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
 * An engine may give instances of definitions that are of no tenant tenants of their own, which no query can leave out: null
 * where they would be counted.
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
  const hasOwn = isTold && (await options.hasOwnTenants(keys.length > MAX_LIST ? null : keys))
  if (isCounted && hasOwn) return null
  const isMixed = hasOwn || (isOpen && !isTold)
  return definitions.flatMap((definition) => partsOf({ ...asked, isMixed }, definition, set))
}

/** Rows before a page that are counted rather than read, where they can be. */
function isFar({ query }: AccessRequest): boolean {
  return (pagingOf(query)?.first ?? 0) >= FAR
}

const FAR = 500

/** Rows of a tenant's definition are the tenant's. */
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

/** The same rows, of the caller's tenants and of none. */
function inTenants(asked: Asked, sets: readonly QueryMembers[]): readonly QueryPart[] {
  return sets.flatMap((set) =>
    tenantSets(asked).map((tenants) => ({ set: { ...set, ...tenants }, known: {} })),
  )
}

function isRestricted({ rows, viewer }: Planning): boolean {
  return rows.tenanted && viewer.tenants !== null
}

/** What the query says for the caller's tenants, once or twice. Nothing where only definitions tell tenants. */
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
 * A count of rows by lists of instances, where fewer of these are hidden than visible: all rows, less those of the hidden ones. Null:
 * otherwise.
 */
async function countWithoutHidden(asked: Asked): Promise<Omit<PartsPlan, 'plan' | 'asPost'> | null> {
  const { query, rows } = asked
  const isKnown = query.by === 'instances' && query.rest !== undefined && tellsTenants(asked)
  // What lacks an instance is counted with the others.
  if (rows.form !== 'count' || !isKnown || !mayFindRest(asked)) return null
  const ids = await hiddenInstances(asked, othersOf(asked))
  const hidden = ids === null ? null : listsOfInstances(asked, ids)
  const parts = inTenants(asked, [{}])
  return hidden === null
    ? null
    : { parts, instances: [], hidden: hidden.map(weighed), rest: null, isExact: false, order: null }
}

/**
 * A count of running rows where most keys are visible: all rows, less those of the other keys. Null: otherwise. Of the history
 * there may be rows of definitions that are gone, which no list of hidden ones would have.
 */
async function countWithoutHiddenKeys(
  asked: Asked,
  visible: readonly QueryPart[] | null,
): Promise<Omit<PartsPlan, 'plan' | 'asPost'> | null> {
  const { query, rows } = asked
  if (rows.form !== 'count' || query.isHistory === true || visible === null || visible.length <= 1)
    return null
  const { granted, revoked } = visibleSetOf(rows, asked.viewer).instances
  const isKnown = query.rest !== undefined && tellsTenants(asked) && granted.length + revoked.length === 0
  // What lacks a key is counted with the others.
  if (!isKnown || !mayFindRest(asked)) return null
  const hidden = await keyParts(othersOf(asked))
  if (hidden === null || hidden.length + 1 >= visible.length) return null
  return { parts: inTenants(asked, [{}]), instances: [], hidden, rest: null, isExact: false, order: null }
}

/** The same for all keys but the visible ones. */
function othersOf(asked: Asked): Asked {
  const { ids, isAllBut } = asked.keys
  return { ...asked, keys: { ids, isAllBut: !isAllBut } }
}

/** Those that `others` would see; null: more than are visible, or no query finds them, or single instances are decided by themselves. */
async function hiddenInstances(asked: Asked, others: Asked): Promise<readonly string[] | null> {
  const { granted, revoked } = visibleSetOf(asked.rows, asked.viewer).instances
  if (granted.length + revoked.length > 0) return null
  const [visible, hidden] = [await countInstances(asked), await countInstances(others)]
  return visible === null || hidden === null || hidden > visible ? null : idsOfDefinitions(others)
}

/** Lists of the cases whose rows everybody sees; null: no query says it, or there are too many. */
async function caseParts(asked: Asked): Promise<readonly QueryPart[] | null> {
  const { query, own, keys, rows, hasCases } = asked
  // A row of a process instance is of no case.
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
  // Of a case there may be more rows than of a process instance, or fewer.
  return listsOfInstances({ ...asked, query: { ...query, instances: name } }, ids)?.map(partOf) ?? null
}

/** Their tenants are asked for so. */
const CASES: RowQuery = { by: 'instances', tenants: 'two queries' }

/** Lists of the visible instances; null: there are too many, or rows of none are visible as well. */
async function visibleInstances(asked: Asked): Promise<readonly QueryPart[] | null> {
  const { query, own, keys } = asked
  if (keys.isAllBut && query.hasRowsOfNone === true && own.instances === null) return null
  const ids = own.instances === null ? await idsOfKeys(asked) : await idsAmong(asked, own.instances)
  return (ids === null ? null : listsOfInstances(asked, ids))?.map(weighed) ?? null
}

/** A part for a list of instances. */
function partOf(set: QueryMembers): QueryPart {
  return { set, known: {} }
}

/** Rows of many instances are about as many for each. */
function weighed(set: QueryMembers): QueryPart {
  const [list] = Object.values(set)
  return { ...partOf(set), ...(Array.isArray(list) && { weight: list.length }) }
}

/** Null: they cannot be listed. */
function listsOfInstances(asked: Asked, ids: readonly string[]): readonly QueryMembers[] | null {
  const { query, method } = asked
  if (!ids.every(isListable)) return null
  const isShort = method !== 'POST' && asPostOf(asked) === null
  const chars = isShort ? roomOf(asked) : Number.POSITIVE_INFINITY
  const lists = [...inQueries(ids, chars, MAX_LIST)]
  const dealt = dealtOut(ids, lists.length).flatMap((list) => [...inQueries(list, chars, MAX_LIST)])
  return dealt.map((list) => ({ [query.instances ?? '']: list }))
}

/** Neighbours go to different lists, so that the rows of each are spread alike over all of them. */
function dealtOut(ids: readonly string[], count: number): readonly (readonly string[])[] {
  const lists = Array.from({ length: count }, (): string[] => [])
  for (const [at, id] of ids.entries()) lists[at % count]?.push(id)
  return lists
}

/** Those of the caller's own query. */
async function idsAmong(asked: Asked, ids: readonly string[]): Promise<readonly string[]> {
  const { rows, viewer, query, options, accessRequest } = asked
  const kind = query.isHistory ? 'historicProcessInstance' : 'processInstance'
  const found = await options.lookUpAll(kind, ids, accessRequest.stillAwaited)
  return [...found].flatMap(([id, attributes]) => {
    const attribute = (name: string) => (name === 'processInstanceId' ? id : attributeOf(attributes, name))
    return isVisible({ ...rows, exempt: null }, {}, attribute, viewer) ? [id] : []
  })
}

/** Those of visible definitions, and those that are visible by themselves; null: there are too many, or no query finds them. */
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

/** By the plan for a list of instances. */
async function idsOfDefinitions(asked: Asked): Promise<readonly string[] | null> {
  const parts = await partsOfInstances(asked)
  return parts === null ? null : idsIn(asked, kindOf(asked), parts)
}

/** The ids that these queries find; null: more than parts may name. */
async function idsIn(
  { options, accessRequest }: Asked,
  kind: InstanceKind,
  parts: readonly QueryPart[],
): Promise<readonly string[] | null> {
  const ids: string[] = []
  for (const { set } of parts) {
    accessRequest.stillAwaited?.()
    const some = await options.instanceIds(kind, set, options.maxParts * MAX_LIST - ids.length)
    if (some === null) return null
    ids.push(...some)
  }
  return ids
}

/** Null: no query finds them. */
async function countInstances(asked: Asked): Promise<number | null> {
  const parts = await partsOfInstances(asked)
  if (parts === null) return null
  let count = 0
  for (const { set } of parts) count += await asked.options.countInstances(kindOf(asked), set)
  return count
}

/** The queries for the instances of visible definitions; null: there are too many, or none says it. */
async function partsOfInstances(asked: Asked): Promise<readonly QueryPart[] | null> {
  const instances = ROW_QUERIES[asked.query.isHistory ? 'historicProcessInstances' : 'processInstances']
  const parts = await keyParts({ ...asked, query: instances, own: NO_CONDITION, method: 'POST' })
  return parts === null || parts.length > asked.options.maxParts ? null : parts
}

function kindOf({ query }: Asked): InstanceKind {
  return query.isHistory === true ? 'history/process-instance' : 'process-instance'
}

/** What is visible, or hidden, by its instance alone; null: no query says it. */
async function instanceParts(asked: Asked): Promise<Pick<PartsPlan, 'instances' | 'hidden'> | null> {
  const { query, own, keys, rows, viewer, options, accessRequest, method } = asked
  // Its parts are lists of them.
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

/** Rows that everybody sees, where the query may find some; `unknown`: they cannot be asked for. */
async function restOf(asked: Asked): Promise<RestPlan | null | 'unknown'> {
  const { query, own, method, options } = asked
  const { rest } = query
  if (!mayFindRest(asked)) return null
  // A body may sort by members of its own.
  if (rest === undefined || (method === 'POST' && own.names.has('sortBy'))) return 'unknown'
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
  // Rows of cases are asked for by parts of their own.
  if (rows.exempt === null || rows.exempt === 'case' || names.some((one) => one !== null)) return false
  // Then the parts leave nothing out.
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
