import type { DateFormat } from '../../request/date-format.ts'
import { PREFILTERS, type Prefilter } from '../../operations/prefilters.ts'
import type { Method } from '../../operations/table.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import type { Attributes } from '../../request/attributes.ts'
import type { DefinitionLists, DefinitionRow } from '../facts/definition-lists.ts'
import type { InstanceKind, InstanceLists } from '../facts/instance-lists.ts'
import type { MaybePromise } from '../../request/maybe-promise.ts'
import { isNameable } from '../../policy/authz/entities/lookup.ts'
import { inQueries, QUERY_CHARS } from '../../policy/authz/entities/lookup-lists.ts'
import { pagingOf } from '../../request/paging.ts'
import type { LookUps } from '../../policy/authz/entities/look-ups.ts'
import type {
  CompiledPrefilter,
  CompiledRestriction,
  ListSubject,
} from '../visibility/compiled-restriction.ts'
import { NO_CONDITION, ownQueryOf, type OwnQuery } from './own-query.ts'
import {
  FILTER,
  type SubqueryPlan,
  type QueryMembers,
  type Subquery,
  type NullGroup,
  type ListPlan,
  type PlanRows,
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
  type VisibleSet,
} from '../visibility/visible-set.ts'
import {
  FEW_ITEMS,
  MAX_CONDITION_VALUES,
  MAX_LIST_CHARS,
  MAX_READ_ITEMS,
  type ListLimits,
} from '../limits.ts'

/** The options of a plan. */
export interface PlanOptions extends LookUps, DefinitionLists, InstanceLists {
  readonly limits: ListLimits
  readonly dateFormat: DateFormat
}

export interface PlanInput extends CompiledPrefilter {
  readonly method: Method
  readonly restriction: CompiledRestriction
  readonly subject: ListSubject
  readonly accessRequest: AccessRequest
  readonly options: PlanOptions
  /** Whether the client accepts the response form, and the paging can be read. */
  readonly isAnswerable: boolean
  /** Whether there may be items of cases. Every caller sees them if the restriction exempts cases. */
  readonly hasCases: boolean
}

/**
 * Creates the plan of a query: how to request the items that the caller may see. The caller's own conditions are read first, and
 * only once. A query for items that the caller may not see causes no request. A restriction that the parameters of the table
 * cannot express exactly is applied by a filter.
 */
export function createPlan(planning: PlanInput): PlanRows {
  const { restriction, query, subjects, subject } = planning
  let read: { readonly context: PlanContext | null } | undefined
  const contextOnce = () => (read ??= { context: contextOf(planning) }).context
  const planRows = async (): Promise<ListPlan> => {
    if (hasDisabled(restriction, subject) || namesTasks(subjects, subject)) return FILTER
    const context = contextOnce()
    if (context === null) return FILTER
    return context.own.instance === null ? planKeys(context) : planInstance(context, context.own.instance)
  }
  // The ids of instances that are granted one by one are known.
  const readsInstances = (): boolean => {
    if (query.by !== 'instances' && query.by !== 'instance') return false
    const context = contextOnce()
    return context !== null && context.own.instance === null && !isNone(context.keys)
  }
  return Object.assign(planRows, { readsInstances })
}

/** Reads the query. Returns null if a part of it cannot be read with certainty. */
function contextOf(planning: PlanInput): PlanContext | null {
  const { method, restriction, query, subjects, subject, accessRequest } = planning
  const own = ownQueryOf(query, method, accessRequest)
  if (own === null) return null
  const visible = visibleSetOf(restriction, subjects, subject)
  return { ...planning, own, instances: visible.instances, keys: keysOf(visible, own) }
}

async function planKeys(context: PlanContext): Promise<ListPlan> {
  const { keys, restriction, subject } = context
  if ([...keys.ids, ...(subject.tenants ?? [])].some((id) => !isListable(id))) return FILTER
  const isCount = restriction.form === 'count'
  const allButExcluded = isCount ? await countWithoutExcluded(context) : null
  if (allButExcluded !== null) return planOf(context, allButExcluded)
  const subqueries = await keySubqueries(context)
  const allButSome = isCount ? await countWithoutExcludedKeys(context, subqueries) : null
  if (allButSome !== null) return planOf(context, allButSome)
  const cases = await caseSubqueries(context)
  const instances = await instanceSubqueries(context)
  if (subqueries === null || cases === null || instances === null) return FILTER
  const nullGroup = await nullGroupOf(context)
  if (nullGroup === 'unknown') return FILTER
  const isExact = instances.excluded.length === 0 && !subqueries.some(({ isCrossTenant }) => isCrossTenant)
  return planOf(context, {
    subqueries: [...subqueries, ...cases],
    ...instances,
    nullGroup,
    isExact,
    order: orderOf(context),
  })
}

interface PlanContext extends PlanInput {
  readonly own: OwnQuery
  /** The instances that records name. */
  readonly instances: VisibleSet['instances']
  /** The visible keys that the query selects. */
  readonly keys: IdSet
}

/** Returns whether a permission is disabled. A check leaves a disabled permission out, but the engine's lists treat it differently. */
function hasDisabled({ conditions }: CompiledRestriction, { records }: ListSubject): boolean {
  return conditions.some(({ permissions }) =>
    permissions.some(({ permission }) => records.disabled.has(permission)),
  )
}

function keysOf(visible: VisibleSet, { key, keys }: OwnQuery): IdSet {
  const ofKey = key === null ? visible.keys : intersect(visible.keys, [key])
  return keys === null ? ofKey : intersect(ofKey, keys)
}

/** Returns whether an id can be an element of a list. In a query string a comma separates two ids. */
function isListable(id: string): boolean {
  return isNameable(id) && !id.includes(',')
}

/** Plans a query for one instance. Either all or none of its items are visible. */
async function planInstance(context: PlanContext, id: string): Promise<ListPlan> {
  const { restriction, subject, query, options } = context
  const found = await options.lookUp(query.isHistory ? 'historicProcessInstance' : 'processInstance', id)
  if (found === null) return FILTER
  const attribute = (name: string) => (name === 'processInstanceId' ? id : attributeOf(found, name))
  const isOpen = isVisible({ ...restriction, exempt: null }, {}, attribute, subject)
  return planOf(context, {
    subqueries: isOpen ? [{ set: {}, constants: constantsOf(found['definitionId']) }] : [],
    ...NO_INSTANCES,
    nullGroup: null,
    isExact: true,
    order: null,
  })
}

function attributeOf({ processDefinitionKey = null, tenantId = null }: Attributes, name: string) {
  return name === 'tenantId' ? tenantId : processDefinitionKey
}

function constantsOf(definitionId: string | null | undefined): Readonly<Record<string, string>> {
  return typeof definitionId === 'string' ? { processDefinitionId: definitionId } : {}
}

const NO_INSTANCES = { instances: [], excluded: [] }

function planOf(context: PlanContext, plan: Omit<SubqueryPlan, 'strategy' | 'postForm'>): ListPlan {
  const { subqueries, instances, excluded, nullGroup } = plan
  const all = [...subqueries, ...instances, ...excluded, ...(nullGroup?.all ?? [])]
  if (all.length === 0) return { strategy: 'denied', isValid: context.own.isPlain && context.isAnswerable }
  const postForm = postFormOf(context)
  const isTooLong = postForm === null && all.some(({ set }) => lengthOf(set) > roomOf(context))
  if (all.length > context.options.limits.rowParts || isTooLong) return FILTER
  return { strategy: all.length === 1 && nullGroup === null ? 'rewrite' : 'union', postForm, ...plan }
}

/** Returns how many characters one more condition of the query may have. */
function roomOf({ method, accessRequest }: PlanContext): number {
  if (method === 'POST') return Number.POSITIVE_INFINITY
  return QUERY_CHARS - lengthOf(Object.fromEntries(accessRequest.query))
}

/** Returns how a GET is sent as a POST. Null if this is impossible or not necessary. */
function postFormOf({ query, method, own, accessRequest }: PlanContext): SubqueryPlan['postForm'] {
  const { postForm } = query
  if (postForm === undefined || method === 'POST' || own.sort !== null) return null
  const known = new Set([...postForm.texts, ...postForm.inQuery])
  const isSaid = [...own.names].every((name) => known.has(name) && accessRequest.query.get(name) !== '')
  return isSaid ? postForm : null
}

function lengthOf(set: QueryMembers): number {
  return Object.values(set).reduce((sum, value) => sum + encodeURIComponent(String(value)).length, 0)
}

/** Returns the subqueries for items that are visible by their key, or null if no query expresses this. */
async function keySubqueries(context: PlanContext): Promise<readonly Subquery[] | null> {
  const { query, own, keys } = context
  if (isAll(keys) && own.definition === null && tellsTenants(context)) return inTenants(context, [{}])
  if (query.by === 'instances') return visibleInstances(context)
  if (isNone(keys)) return []
  if (own.definition !== null) return ownDefinition(context, own.definition)
  if (query.by === 'instance' || (keys.isAllBut && query.hasRowsOfNone === true)) return null
  return query.by === 'key' ? keyedSubqueries(context) : listedSubqueries(context)
}

/** Returns one subquery for each key. For process definitions, only existing keys are used if they can be listed. */
async function keyedSubqueries(context: PlanContext): Promise<readonly Subquery[] | null> {
  const { query, keys } = context
  const visible = await visibleKeys(context)
  if (visible === null && keys.isAllBut) return null
  return withDeleted(context, inTenants(context, [...(visible ?? keys.ids)].map(setOf(query.key ?? ''))))
}

/** Returns whether the query itself can select tenants. */
function tellsTenants(context: PlanContext): boolean {
  return context.query.tenants !== 'definitions' || !isRestricted(context)
}

/** Returns subqueries by lists of keys if the query supports lists, otherwise one for each definition. */
async function listedSubqueries(context: PlanContext): Promise<readonly Subquery[] | null> {
  const { query } = context
  const listed = query.by === 'keys' ? await listedKeys(context) : null
  return listed === null ? definitionSubqueries(context) : withDeleted(context, listed)
}

/** Adds subqueries for the items of deleted definitions to subqueries by keys if the keys do not find these items. */
async function withDeleted(
  context: PlanContext,
  subqueries: readonly Subquery[],
): Promise<readonly Subquery[] | null> {
  if (context.query.keysMissDeleted !== true) return subqueries
  const deleted = await deletedOf(context)
  const others = deleted === null ? null : await ofDefinitions(context, deleted.filter(isVisibleIn(context)))
  return others === null ? null : [...subqueries, ...others]
}

/** Returns subqueries by lists of keys, or null if no list expresses the keys. */
async function listedKeys(context: PlanContext): Promise<readonly Subquery[] | null> {
  const { query, own, keys, method } = context
  if (keys.isAllBut && query.exceptKeys !== undefined) {
    const except = [...new Set([...keys.ids, ...(own.exceptKeys ?? [])])]
    return except.length > MAX_CONDITION_VALUES ? null : inTenants(context, [{ [query.exceptKeys]: except }])
  }
  const named = keys.isAllBut ? await visibleKeys(context) : keys.ids
  if (query.keys === undefined || named === null) return null
  return inTenants(context, [...listsOf([...named], method)].map(setOf(query.keys)))
}

function setOf(name: string): (value: string | readonly string[]) => QueryMembers {
  return (value) => ({ [name]: value })
}

function listsOf(ids: readonly string[], method: Method): Iterable<readonly string[]> {
  return inQueries(ids, method === 'POST' ? Number.POSITIVE_INFINITY : MAX_LIST_CHARS, MAX_CONDITION_VALUES)
}

/** Plans a query for one definition. */
async function ownDefinition(context: PlanContext, id: string): Promise<readonly Subquery[] | null> {
  const { keys, subject, options } = context
  const found = await options.lookUp('processDefinition', id)
  const key = found?.['key'] ?? null
  // The definition may be deleted while its items still exist.
  if (found === null || key === null) return null
  const definition = { id, key, tenantId: found['tenantId'] ?? null }
  if (!has(keys, key) || !isOfTenants(definition.tenantId, subject.tenants)) return []
  return ofDefinitions(context, [definition], {})
}

/** Returns one subquery for each visible definition, or for each key if there are too many definitions. */
async function definitionSubqueries(context: PlanContext): Promise<readonly Subquery[] | null> {
  const { query } = context
  if (query.definition === undefined) return null
  const visible = await visibleDefinitions(context)
  if (visible !== null) return ofDefinitions(context, visible)
  return query.key === undefined || !tellsTenants(context) ? null : keyedSubqueries(context)
}

/** Returns the visible definitions, including deleted ones. Null if there are more than the maximum number of subqueries, or too many are deleted. */
async function visibleDefinitions(context: PlanContext): Promise<readonly DefinitionRow[] | null> {
  const { definitions, limits } = context.options
  const deleted = await deletedOf(context)
  const found = deleted === null ? null : await definitions(keysAskedFor(context), limits.rowParts)
  if (deleted === null || found === null) return null
  return [...found, ...goneOf(deleted, found)].filter(isVisibleIn(context))
}

/** Returns the deleted definitions whose items still exist. */
function deletedOf({ query, options }: PlanContext): MaybePromise<readonly DefinitionRow[] | null> {
  return query.isHistory === true ? options.deleted() : []
}

/** Returns the keys of visible process definitions, including deleted ones. Null if items have other keys, or there are too many. */
async function visibleKeys(context: PlanContext): Promise<ReadonlySet<string> | null> {
  if (context.query.definition === undefined) return null
  const deleted = await deletedOf(context)
  const found = await context.options.latestDefinitions(keysAskedFor(context), MAX_READ_ITEMS)
  if (deleted === null || found === null) return null
  return new Set([...found, ...deleted].filter(isVisibleIn(context)).map(({ key }) => key))
}

function keysAskedFor({ keys }: PlanContext): readonly string[] | null {
  return keys.isAllBut ? null : [...keys.ids]
}

function isVisibleIn({ keys, subject }: PlanContext): (definition: DefinitionRow) => boolean {
  return ({ key, tenantId }) => has(keys, key) && isOfTenants(tenantId, subject.tenants)
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
  context: PlanContext,
  definitions: readonly DefinitionRow[],
  set?: QueryMembers,
): Promise<readonly Subquery[] | null> {
  const { query, restriction, options, accessRequest } = context
  const untenanted = definitions.filter(({ tenantId }) => tenantId === null).map(({ key }) => key)
  const isOpen = isRestricted(context) && query.tenants === 'definitions' && untenanted.length > 0
  const isCounted = restriction.form === 'count'
  const keys = [...new Set(untenanted)]
  const idsOnly = isOpen && (isCounted || isFar(accessRequest))
  const hasOwn = idsOnly && (await options.hasOwnTenants(keys.length > MAX_CONDITION_VALUES ? null : keys))
  if (isCounted && hasOwn) return null
  const isCrossTenant = hasOwn || (isOpen && !idsOnly)
  return definitions.flatMap((definition) =>
    definitionSubqueriesOf({ ...context, isCrossTenant }, definition, set),
  )
}

/** Returns whether the page starts so late that the items before it are counted, if possible, instead of read. */
function isFar({ query }: AccessRequest): boolean {
  return (pagingOf(query)?.first ?? 0) >= FEW_ITEMS
}

/** Returns the subqueries for one definition. The items of a tenant's definition belong to the same tenant. */
function definitionSubqueriesOf(
  context: PlanContext & { readonly isCrossTenant: boolean },
  { id, tenantId }: DefinitionRow,
  set?: QueryMembers,
): readonly Subquery[] {
  const { definition } = context.query
  const own = set ?? (definition === undefined ? {} : { [definition]: id })
  const sets = tenantId === null ? tenantSets(context) : [{}]
  const isCrossTenant = context.isCrossTenant && tenantId === null
  return sets.map((tenants) => ({
    set: { ...own, ...tenants },
    constants: constantsOf(id),
    ...(isCrossTenant && { isCrossTenant }),
  }))
}

/** Returns subqueries for the same items, restricted to the caller's tenants and to items without a tenant. */
function inTenants(context: PlanContext, sets: readonly QueryMembers[]): readonly Subquery[] {
  return sets.flatMap((set) =>
    tenantSets(context).map((tenants) => ({ set: { ...set, ...tenants }, constants: {} })),
  )
}

function isRestricted({ restriction, subject }: PlanInput): boolean {
  return restriction.tenanted && subject.tenants !== null
}

/** Returns the members that select the caller's tenants, for one subquery or for two. They are empty if only definitions determine tenants. */
function tenantSets(context: PlanContext): readonly QueryMembers[] {
  const { query, own, subject } = context
  if (!isRestricted(context) || query.tenants === 'definitions' || query.tenants === 'none') return [{}]
  const tenants = [...(subject.tenants ?? [])]
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
async function countWithoutExcluded(
  context: PlanContext,
): Promise<Omit<SubqueryPlan, 'strategy' | 'postForm'> | null> {
  const { query } = context
  const isKnown = query.by === 'instances' && query.nullGroup !== undefined && tellsTenants(context)
  // The count of all items includes items without an instance, so every caller must see those.
  if (!isKnown || !mayFindNullGroup(context)) return null
  const ids = await excludedInstances(context, othersOf(context))
  const excluded = ids === null ? null : listsOfInstances(context, ids)
  const subqueries = inTenants(context, [{}])
  return excluded === null
    ? null
    : {
        subqueries,
        instances: [],
        excluded: excluded.map(withEstimatedShare),
        nullGroup: null,
        isExact: false,
        order: null,
      }
}

/**
 * Plans a count of running items if most keys are visible: all items minus those of the other keys. Null otherwise. The
 * history may contain items of deleted definitions, which a list of hidden keys would miss.
 */
async function countWithoutExcludedKeys(
  context: PlanContext,
  visible: readonly Subquery[] | null,
): Promise<Omit<SubqueryPlan, 'strategy' | 'postForm'> | null> {
  const { query } = context
  if (query.isHistory === true || visible === null || visible.length <= 1) return null
  const { granted, revoked } = context.instances
  const isKnown =
    query.nullGroup !== undefined && tellsTenants(context) && granted.length + revoked.length === 0
  // The count of all items includes items without a key, so every caller must see those.
  if (!isKnown || !mayFindNullGroup(context)) return null
  const excluded = await keySubqueries(othersOf(context))
  if (excluded === null || excluded.length + 1 >= visible.length) return null
  return {
    subqueries: inTenants(context, [{}]),
    instances: [],
    excluded,
    nullGroup: null,
    isExact: false,
    order: null,
  }
}

/** Returns the same request for all keys except the visible ones. */
function othersOf(context: PlanContext): PlanContext {
  const { ids, isAllBut } = context.keys
  return { ...context, keys: { ids, isAllBut: !isAllBut } }
}

/**
 * Returns the instances of the keys in `others`. Null if they outnumber the visible ones, if no query finds them, or if
 * records name single instances.
 */
async function excludedInstances(
  context: PlanContext,
  others: PlanContext,
): Promise<readonly string[] | null> {
  const { granted, revoked } = context.instances
  if (granted.length + revoked.length > 0) return null
  const [visible, excluded] = [await countInstances(context), await countInstances(others)]
  return visible === null || excluded === null || excluded > visible ? null : idsOfDefinitions(others)
}

/** Returns lists of the cases whose items every caller sees. Null if no query expresses this, or there are too many. */
async function caseSubqueries(context: PlanContext): Promise<readonly Subquery[] | null> {
  const { query, own, keys, restriction, hasCases } = context
  // An item of a process instance does not belong to a case.
  if (!hasCases || restriction.exempt !== 'case' || own.instances !== null) return []
  if (isAll(keys) && tellsTenants(context)) return []
  const name = query.cases
  if (name === undefined || own.names.has(name)) return null
  const ids = await idsIn(
    context,
    'case-instance',
    inTenants({ ...context, query: CASES, own: NO_CONDITION }, [{}]),
  )
  if (ids === null) return null
  // A case may have more or fewer items than a process instance, so these lists have no estimated share.
  return (
    listsOfInstances({ ...context, query: { ...query, instances: name } }, ids)?.map(instancesSubquery) ??
    null
  )
}

/** Selects the tenants of cases. */
const CASES: Prefilter = { by: 'instances', tenants: 'two queries' }

/** Returns lists of the visible instances. Null if there are too many, or items without an instance are visible, too. */
async function visibleInstances(context: PlanContext): Promise<readonly Subquery[] | null> {
  const { query, own, keys } = context
  if (keys.isAllBut && query.hasRowsOfNone === true && own.instances === null) return null
  const ids = own.instances === null ? await idsOfKeys(context) : await idsAmong(context, own.instances)
  return (ids === null ? null : listsOfInstances(context, ids))?.map(withEstimatedShare) ?? null
}

/** Returns the subquery for a list of instances. */
function instancesSubquery(set: QueryMembers): Subquery {
  return { set, constants: {} }
}

/** Adds an estimated share to the subquery. Large sets of instances have about the same number of items for each instance. */
function withEstimatedShare(set: QueryMembers): Subquery {
  const [list] = Object.values(set)
  return { ...instancesSubquery(set), ...(Array.isArray(list) && { estimatedShare: list.length }) }
}

/** Splits the ids into lists for subqueries. Null if an id cannot be an element of a list. */
function listsOfInstances(context: PlanContext, ids: readonly string[]): readonly QueryMembers[] | null {
  const { query, method } = context
  if (!ids.every(isListable)) return null
  const isShort = method !== 'POST' && postFormOf(context) === null
  const chars = isShort ? roomOf(context) : Number.POSITIVE_INFINITY
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
async function idsAmong(context: PlanContext, ids: readonly string[]): Promise<readonly string[]> {
  const { restriction, subject, query, options, accessRequest } = context
  const kind = query.isHistory ? 'historicProcessInstance' : 'processInstance'
  const found = await options.lookUpAll(kind, ids, accessRequest.checkDeadline)
  return [...found].flatMap(([id, attributes]) => {
    const attribute = (name: string) => (name === 'processInstanceId' ? id : attributeOf(attributes, name))
    return isVisible({ ...restriction, exempt: null }, {}, attribute, subject) ? [id] : []
  })
}

/**
 * Returns the instances of visible definitions, and the instances that are visible themselves. Null if there are too many,
 * or no query finds them.
 */
async function idsOfKeys(context: PlanContext): Promise<readonly string[] | null> {
  const { keys } = context
  const { granted, revoked } = context.instances
  const found = isNone(keys) ? [] : await idsOfDefinitions(context)
  if (found === null) return null
  const ids = new Set(found)
  for (const id of revoked) ids.delete(id)
  for (const id of await idsAmong(context, granted)) ids.add(id)
  return [...ids]
}

/** Reads the ids with the plan for a list of instances. */
async function idsOfDefinitions(context: PlanContext): Promise<readonly string[] | null> {
  const subqueries = await subqueriesOfInstances(context)
  return subqueries === null ? null : idsIn(context, kindOf(context), subqueries)
}

/** Returns the ids that these queries find, or null if there are more than the subqueries may name. */
async function idsIn(
  { options, accessRequest }: PlanContext,
  kind: InstanceKind,
  subqueries: readonly Subquery[],
): Promise<readonly string[] | null> {
  const ids: string[] = []
  for (const { set } of subqueries) {
    accessRequest.checkDeadline?.()
    const some = await options.instanceIds(
      kind,
      set,
      options.limits.rowParts * MAX_CONDITION_VALUES - ids.length,
    )
    if (some === null) return null
    ids.push(...some)
  }
  return ids
}

/** Returns the number of instances, or null if no query finds them. */
async function countInstances(context: PlanContext): Promise<number | null> {
  const subqueries = await subqueriesOfInstances(context)
  if (subqueries === null) return null
  let count = 0
  for (const { set } of subqueries) count += await context.options.countInstances(kindOf(context), set)
  return count
}

/** Returns the queries for the instances of visible definitions. Null if there are too many, or no query expresses this. */
async function subqueriesOfInstances(context: PlanContext): Promise<readonly Subquery[] | null> {
  const instances = PREFILTERS[context.query.isHistory ? 'historicProcessInstances' : 'processInstances']
  const subqueries = await keySubqueries({ ...context, query: instances, own: NO_CONDITION, method: 'POST' })
  return subqueries === null || subqueries.length > context.options.limits.rowParts ? null : subqueries
}

function kindOf({ query }: PlanContext): InstanceKind {
  return query.isHistory === true ? 'history/process-instance' : 'process-instance'
}

/** Returns the subqueries for items that are visible, or hidden, by their instance alone. Null if no query expresses this. */
async function instanceSubqueries(
  context: PlanContext,
): Promise<Pick<SubqueryPlan, 'instances' | 'excluded'> | null> {
  const { query, own, keys, restriction, subject, options, accessRequest, method } = context
  // The subqueries are lists of instances already.
  if (query.by === 'instances') return NO_INSTANCES
  const { granted, revoked } = context.instances
  const isAsked = (id: string) => own.instances === null || own.instances.includes(id)
  const [opened, closed] = [granted.filter(isAsked), revoked.filter(isAsked)]
  if (opened.length + closed.length === 0) return NO_INSTANCES
  const name = query.instances ?? query.instance
  const isRefused = query.instances !== undefined && query.instancesNotWith?.some((one) => own.names.has(one))
  if (name === undefined || isRefused === true) return null
  const found = await options.lookUpAll(
    'processInstance',
    [...opened, ...closed],
    accessRequest.checkDeadline,
  )
  const isBy = (isByKey: boolean) => (id: string) => {
    const { processDefinitionKey, tenantId } = found.get(id) ?? {}
    if (
      typeof processDefinitionKey !== 'string' ||
      !isOfTenants(tenantId, restriction.tenanted ? subject.tenants : null)
    )
      return false
    return has(keys, processDefinitionKey) === isByKey
  }
  const subqueries = (ids: readonly string[]): readonly Subquery[] => {
    if (!ids.every(isListable)) return []
    const values = query.instances === undefined ? ids : [...listsOf(ids, method)]
    return values.map((value) => ({ set: { [name]: value }, constants: {} }))
  }
  return {
    instances: subqueries(opened.filter(isBy(false))),
    excluded: subqueries(closed.filter(isBy(true))),
  }
}

/** Returns the plan for items that every caller sees. Null if the query finds no such items, `unknown` if they cannot be requested. */
async function nullGroupOf(context: PlanContext): Promise<NullGroup | null | 'unknown'> {
  const { query, own, method, options } = context
  const { nullGroup } = query
  if (!mayFindNullGroup(context)) return null
  // A body may have its own sort order.
  if (nullGroup === undefined || (method === 'POST' && own.names.has('sortBy'))) return 'unknown'
  // These items are read in an order of the plan. The engine would not get the caller's order, and could not refuse it.
  if (own.sort !== null && orderOf(context) === null) return 'unknown'
  const first = await options.nullsFirst()
  const all = inTenants(context, [{}])
  const orders = first === null ? BOTH : [first]
  return {
    all,
    sorted: all.map((subquery) =>
      orders.map((sortOrder) => ({ ...subquery, sort: { sortBy: nullGroup.sortBy, sortOrder } })),
    ),
    member: nullGroup.member,
    isCrossTenant: !tellsTenants(context),
  }
}

const BOTH = ['asc', 'desc'] as const

function mayFindNullGroup(context: PlanContext): boolean {
  const { own, keys, restriction } = context
  const names = [own.key, own.keys, own.definition, own.instances]
  // The items of cases have their own subqueries.
  if (restriction.exempt === null || restriction.exempt === 'case' || names.some((one) => one !== null))
    return false
  // In this case the subqueries already include every item.
  return !(isAll(keys) && tellsTenants(context))
}

function orderOf({ query, own, options: { dateFormat } }: PlanContext): SubqueryPlan['order'] {
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
