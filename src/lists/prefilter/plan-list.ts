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

/** The facts of one request from which a plan is made. */
export interface PlanInput {
  readonly subject: ListSubject
  readonly accessRequest: AccessRequest
  /** Whether the client accepts the response form, and the paging can be read. */
  readonly isAnswerable: boolean
  /** Whether there may be items of cases. Every caller sees them if the restriction exempts cases. */
  readonly hasCases: boolean
}

export type Planner = (input: PlanInput) => PlanRows

/** The facts about an operation that are known before a request. */
interface PlannerInput extends CompiledPrefilter {
  readonly method: Method
  readonly restriction: CompiledRestriction
  readonly options: PlanOptions
}

/**
 * Creates the planner of an operation with a prefilter. It has only the steps that the operation needs. The plan of a query says how
 * to request the items that the caller may see. The caller's own conditions are read first, and only once. A query for items that
 * the caller may not see causes no request. A restriction that the parameters of the table cannot express exactly is applied by a
 * filter.
 */
export function createPlanner(planner: PlannerInput): Planner {
  const { restriction, query, subjects } = planner
  const steps = STEPS.flatMap(([step, isNeeded]) => (isNeeded(planner) ? [step] : []))
  const mayReadInstances = query.by === 'instances' || query.by === 'instance'
  return (input) => {
    const { subject } = input
    let read: { readonly context: PlanContext | null } | undefined
    const contextOnce = () => (read ??= { context: contextOf({ ...planner, ...input }) }).context
    const planRows = async (): Promise<ListPlan> => {
      if (subject.records.disabled.size > 0 && hasDisabled(restriction, subject)) return FILTER
      if (subjects.task !== null && namesTasks(subject)) return FILTER
      const context = contextOnce()
      if (context === null) return FILTER
      return context.own.instance === null
        ? planSteps(context, steps)
        : planInstance(context, context.own.instance)
    }
    // The ids of instances that are granted one by one are known.
    const readsInstances = (): boolean => {
      const context = contextOnce()
      return context !== null && context.own.instance === null && !isNone(context.keys)
    }
    return mayReadInstances ? Object.assign(planRows, { readsInstances }) : planRows
  }
}

/** The subqueries of a plan, as far as its steps have added them. */
interface PlanContent extends Omit<SubqueryPlan, 'strategy' | 'postForm'> {
  /** The subqueries include all visible items, so no further step adds any. */
  readonly isComplete?: true
}

/** Adds the subqueries for some of the visible items to a plan. Returns null if no query expresses them. */
type PlanStep = (context: PlanContext, content: PlanContent) => Promise<PlanContent | null>

const EMPTY: PlanContent = {
  subqueries: [],
  instances: [],
  excluded: [],
  nullGroup: null,
  isExact: true,
  order: null,
}

/** All steps in their order, each with the operations that need it. */
const STEPS: readonly (readonly [step: PlanStep, isNeeded: (planner: PlannerInput) => boolean])[] = [
  [subtractInstances, (planner) => isByInstances(planner) && maySubtract(planner)],
  [addVisibleInstances, isByInstances],
  [addKeys, (planner) => !isByInstances(planner)],
  [subtractKeys, (planner) => !isByInstances(planner) && maySubtract(planner) && !isOfHistory(planner)],
  [addCases, ({ restriction }) => restriction.exempt === 'case'],
  [addNamedInstances, (planner) => !isByInstances(planner) && planner.subjects.instance !== null],
  [addNullGroup, hasNullGroup],
]

function isByInstances({ query }: PlannerInput): boolean {
  return query.by === 'instances'
}

/** The history may contain items of deleted definitions, which a list of hidden keys would miss. */
function isOfHistory({ query }: PlannerInput): boolean {
  return query.isHistory === true
}

/** The items of cases have their own subqueries. */
function hasNullGroup({ restriction: { exempt } }: PlannerInput): boolean {
  return exempt !== null && exempt !== 'case'
}

/** The count of all items includes the null group, so every caller must see it. */
function maySubtract(planner: PlannerInput): boolean {
  return (
    planner.restriction.form === 'count' && hasNullGroup(planner) && planner.query.nullGroup !== undefined
  )
}

async function planSteps(context: PlanContext, steps: readonly PlanStep[]): Promise<ListPlan> {
  const { keys, subject } = context
  if ([...keys.ids, ...(subject.tenants ?? [])].some((id) => !isListable(id))) return FILTER
  let content: PlanContent = { ...EMPTY, order: orderOf(context) }
  for (const step of steps) {
    const added = await step(context, content)
    if (added === null) return FILTER
    content = added
    if (content.isComplete === true) break
  }
  return planOf(context, content)
}

/** A query with the facts that its plan depends on. */
interface PlanContext extends PlannerInput, PlanInput, TenantSelection {
  readonly own: OwnQuery
  /** The instances that records name. */
  readonly instances: VisibleSet['instances']
  /** The visible keys that the query selects. */
  readonly keys: IdSet
}

/** Reads the query. Returns null if a part of it cannot be read with certainty. */
function contextOf(planning: PlannerInput & PlanInput): PlanContext | null {
  const { method, restriction, query, subjects, subject, accessRequest } = planning
  const own = ownQueryOf(query, method, accessRequest)
  if (own === null) return null
  const visible = visibleSetOf(restriction, subjects, subject)
  return {
    ...planning,
    ...tenantSelectionOf(planning, query, own),
    own,
    instances: visible.instances,
    keys: keysOf(visible, own),
  }
}

/** Returns the context of another query for the same caller. The caller has set no conditions in it. */
function contextOfQuery(context: PlanContext, query: Prefilter): PlanContext {
  const own = NO_CONDITION
  return { ...context, ...tenantSelectionOf(context, query, own), query, own }
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
    ...EMPTY,
    subqueries: isOpen ? [{ set: {}, constants: constantsOf(found['definitionId']) }] : [],
  })
}

function attributeOf({ processDefinitionKey = null, tenantId = null }: Attributes, name: string) {
  return name === 'tenantId' ? tenantId : processDefinitionKey
}

function constantsOf(definitionId: string | null | undefined): Readonly<Record<string, string>> {
  return typeof definitionId === 'string' ? { processDefinitionId: definitionId } : {}
}

function planOf(context: PlanContext, content: PlanContent): ListPlan {
  const { subqueries, instances, excluded, nullGroup, isExact, order } = content
  const { query, method, own, options } = context
  const all = [...subqueries, ...instances, ...excluded, ...(nullGroup?.all ?? [])]
  if (all.length === 0) return { strategy: 'denied', isValid: own.isPlain && context.isAnswerable }
  if (all.length > options.limits.rowParts) return FILTER
  const postForm = query.postForm === undefined ? null : postFormOf(context)
  if (method !== 'POST' && postForm === null) {
    const room = roomOf(context)
    if (all.some(({ set }) => lengthOf(set) > room)) return FILTER
  }
  const strategy = all.length === 1 && nullGroup === null ? 'rewrite' : 'union'
  return { strategy, subqueries, instances, excluded, nullGroup, isExact, order, postForm }
}

/** Returns how many characters one more condition of the query string may have. */
function roomOf({ accessRequest }: PlanContext): number {
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

/** Adds the items that are visible by their key. */
async function addKeys(context: PlanContext, content: PlanContent): Promise<PlanContent | null> {
  const subqueries = await keySubqueries(context)
  if (subqueries === null) return null
  return { ...content, subqueries, isExact: !subqueries.some(({ isCrossTenant }) => isCrossTenant) }
}

/** Returns the subqueries for items that are visible by their key, or null if no query expresses this. */
async function keySubqueries(context: PlanContext): Promise<readonly Subquery[] | null> {
  const { query, own, keys } = context
  if (seesAllKeys(context)) return inTenants(context, [{}])
  if (isNone(keys)) return []
  if (own.definition !== null) return ownDefinition(context, own.definition)
  if (query.by === 'instance' || (keys.isAllBut && query.hasRowsOfNone === true)) return null
  return query.by === 'key' ? keyedSubqueries(context) : listedSubqueries(context)
}

/** Returns whether the query itself selects the visible items, except by tenant. */
function seesAllKeys(context: PlanContext): boolean {
  return isAll(context.keys) && context.own.definition === null && context.selectsTenants
}

/** Returns one subquery for each key. For process definitions, only existing keys are used if they can be listed. */
async function keyedSubqueries(context: PlanContext): Promise<readonly Subquery[] | null> {
  const { query, keys } = context
  const visible = await visibleKeys(context)
  if (visible === null && keys.isAllBut) return null
  const subqueries = inTenants(context, setsOf(query.key ?? '', [...(visible ?? keys.ids)]))
  return query.keysMissDeleted === true ? withDeleted(context, subqueries) : subqueries
}

/** Returns subqueries by lists of keys if the query supports lists, otherwise one for each definition. */
async function listedSubqueries(context: PlanContext): Promise<readonly Subquery[] | null> {
  const { query } = context
  const listed = query.by === 'keys' ? await listedKeys(context) : null
  if (listed === null) return definitionSubqueries(context)
  return query.keysMissDeleted === true ? withDeleted(context, listed) : listed
}

/** Adds the items of deleted definitions to subqueries by keys that do not find these items. */
async function withDeleted(
  context: PlanContext,
  subqueries: readonly Subquery[],
): Promise<readonly Subquery[] | null> {
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
  return inTenants(context, setsOf(query.keys, [...listsOf([...named], method)]))
}

/** Returns for each value the member of a query that has it. */
function setsOf(name: string, values: readonly (string | readonly string[])[]): readonly QueryMembers[] {
  return values.map((value) => ({ [name]: value }))
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
  return query.key === undefined || !context.selectsTenants ? null : keyedSubqueries(context)
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
  const isOpen = context.isRestricted && query.tenants === 'definitions' && untenanted.length > 0
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
  const sets = tenantId === null ? context.tenantSets : [{}]
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
    context.tenantSets.map((tenants) => ({ set: { ...set, ...tenants }, constants: {} })),
  )
}

/** How a query selects the tenants of its items. */
interface TenantSelection {
  /** Whether tenants restrict the items that the caller sees. */
  readonly isRestricted: boolean
  /** Whether the query itself can select tenants. */
  readonly selectsTenants: boolean
  /** The members that select the caller's tenants, for one subquery or for two. They are empty if only definitions determine tenants. */
  readonly tenantSets: readonly QueryMembers[]
}

function tenantSelectionOf(
  { restriction, subject }: PlannerInput & PlanInput,
  { tenants: mode }: Prefilter,
  own: OwnQuery,
): TenantSelection {
  const { tenants } = subject
  if (!restriction.tenanted || tenants === null)
    return { isRestricted: false, selectsTenants: true, tenantSets: [{}] }
  if (mode === 'definitions') return { isRestricted: true, selectsTenants: false, tenantSets: [{}] }
  const tenantSets = mode === 'none' ? [{}] : tenantSetsOf([...tenants], mode, own)
  return { isRestricted: true, selectsTenants: true, tenantSets }
}

function tenantSetsOf(
  tenants: readonly string[],
  mode: Exclude<Prefilter['tenants'], 'definitions' | 'none'>,
  own: OwnQuery,
): readonly QueryMembers[] {
  // A query with both conditions has no plan: own-query.ts.
  if (own.isWithoutTenant) return [{}]
  if (own.tenantIds !== null) {
    const selected = own.tenantIds.filter((id) => tenants.includes(id))
    return selected.length === 0 ? [] : [{ tenantIdIn: selected }]
  }
  const ofNone = { withoutTenantId: true } as const
  if (tenants.length === 0) return [ofNone]
  return mode === 'two queries' ? [ofNone, { tenantIdIn: tenants }] : [{ tenantIdIn: tenants, [mode]: true }]
}

/**
 * Counts items by lists of instances if not more instances are hidden than visible: all items minus those of the hidden instances.
 * Otherwise the next step counts the visible instances.
 */
async function subtractInstances(context: PlanContext, content: PlanContent): Promise<PlanContent> {
  if (!context.selectsTenants || !mayFindNullGroup(context)) return content
  const ids = await excludedInstances(context, othersOf(context))
  const excluded = ids === null ? null : listsOfInstances(context, ids)
  return excluded === null ? content : allBut(context, excluded.map(withEstimatedShare))
}

/** Counts running items if most keys are visible: all items minus those of the other keys. */
async function subtractKeys(context: PlanContext, content: PlanContent): Promise<PlanContent> {
  const visible = content.subqueries
  const { granted, revoked } = context.instances
  if (visible.length <= 1 || granted.length + revoked.length > 0) return content
  if (!context.selectsTenants || !mayFindNullGroup(context)) return content
  const excluded = await keySubqueries(othersOf(context))
  return excluded === null || excluded.length + 1 >= visible.length ? content : allBut(context, excluded)
}

/** Returns a complete plan for a count: all items of the caller's tenants minus some. */
function allBut(context: PlanContext, excluded: readonly Subquery[]): PlanContent {
  return { ...EMPTY, subqueries: inTenants(context, [{}]), excluded, isExact: false, isComplete: true }
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

/** Adds lists of the cases whose items every caller sees. */
async function addCases(context: PlanContext, content: PlanContent): Promise<PlanContent | null> {
  const { query, own, keys, hasCases } = context
  // An item of a process instance does not belong to a case.
  if (!hasCases || own.instances !== null) return content
  if (isAll(keys) && context.selectsTenants) return content
  const name = query.cases
  if (name === undefined || own.names.has(name)) return null
  const ids = await idsIn(context, 'case-instance', inTenants(contextOfQuery(context, CASES), [{}]))
  const lists =
    ids === null ? null : listsOfInstances({ ...context, query: { ...query, instances: name } }, ids)
  if (lists === null) return null
  // A case may have more or fewer items than a process instance, so these lists have no estimated share.
  return { ...content, subqueries: [...content.subqueries, ...lists.map(instancesSubquery)] }
}

/** Selects the tenants of cases. */
const CASES: Prefilter = { by: 'instances', tenants: 'two queries' }

/** Adds lists of the visible instances. Null if there are too many, or items without an instance are visible, too. */
async function addVisibleInstances(context: PlanContext, content: PlanContent): Promise<PlanContent | null> {
  const { query, own, keys } = context
  if (seesAllKeys(context)) return { ...content, subqueries: inTenants(context, [{}]) }
  if (keys.isAllBut && query.hasRowsOfNone === true && own.instances === null) return null
  const ids = own.instances === null ? await idsOfKeys(context) : await idsAmong(context, own.instances)
  const lists = ids === null ? null : listsOfInstances(context, ids)
  return lists === null ? null : { ...content, subqueries: lists.map(withEstimatedShare) }
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
  const isShort = method !== 'POST' && (query.postForm === undefined || postFormOf(context) === null)
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
  const subqueries = await keySubqueries({ ...contextOfQuery(context, instances), method: 'POST' })
  return subqueries === null || subqueries.length > context.options.limits.rowParts ? null : subqueries
}

function kindOf({ query }: PlanContext): InstanceKind {
  return query.isHistory === true ? 'history/process-instance' : 'process-instance'
}

/** Adds the items that are visible, or hidden, by their instance alone. */
async function addNamedInstances(context: PlanContext, content: PlanContent): Promise<PlanContent | null> {
  const { query, own, keys, restriction, subject, options, accessRequest, method } = context
  const { granted, revoked } = context.instances
  const isAsked = (id: string) => own.instances === null || own.instances.includes(id)
  const [opened, closed] = [granted.filter(isAsked), revoked.filter(isAsked)]
  if (opened.length + closed.length === 0) return content
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
  const excluded = subqueries(closed.filter(isBy(true)))
  return {
    ...content,
    instances: subqueries(opened.filter(isBy(false))),
    excluded,
    isExact: content.isExact && excluded.length === 0,
  }
}

/** Adds the items that every caller sees because they lack a member. */
async function addNullGroup(context: PlanContext, content: PlanContent): Promise<PlanContent | null> {
  const { query, own, method, options } = context
  if (!mayFindNullGroup(context)) return content
  // A body may have its own sort order.
  if (query.nullGroup === undefined || (method === 'POST' && own.names.has('sortBy'))) return null
  // These items are read in an order of the plan. The engine would not get the caller's order, and could not refuse it.
  if (own.sort !== null && content.order === null) return null
  const { member, sortBy } = query.nullGroup
  const first = await options.nullsFirst()
  const all = inTenants(context, [{}])
  const orders = first === null ? BOTH : [first]
  const sorted = all.map((subquery) =>
    orders.map((sortOrder) => ({ ...subquery, sort: { sortBy, sortOrder } })),
  )
  return { ...content, nullGroup: { all, sorted, member, isCrossTenant: !context.selectsTenants } }
}

const BOTH = ['asc', 'desc'] as const

/** Returns whether the query may find items that lack the member. */
function mayFindNullGroup(context: PlanContext): boolean {
  const { own, keys } = context
  const names = [own.key, own.keys, own.definition, own.instances]
  // If every key is visible, the subqueries already include every item.
  return names.every((one) => one === null) && !(isAll(keys) && context.selectsTenants)
}

/** Returns the order of the items, or null if it is not known. */
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
