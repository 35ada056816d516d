import type { LookUps } from '../../policy/authz/entities/look-ups.ts'
import type { DefinitionLists } from '../facts/definition-lists.ts'
import type { InstanceLists } from '../facts/instance-lists.ts'
import type { VariableTenants } from '../facts/variable-tenants.ts'
import type { ListLimits } from '../limits.ts'
import type { DateFormat } from '../../request/date-format.ts'
import type {
  ListSubject,
  CompiledPrefilter,
  CompiledRestriction,
} from '../../policy/authz/visibility/compiled-restriction.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import type { Method } from '../../operations/table.ts'
import { type OwnQuery, ownQueryOf, NO_CONDITION } from './own-query.ts'
import {
  type VisibleSet,
  type IdSet,
  visibleSetOf,
  intersect,
  namesTasks,
} from '../../policy/authz/visibility/visible-set.ts'
import type { PostForm, Prefilter } from '../../operations/prefilters.ts'
import { QUERY_CHARS } from '../../policy/authz/entities/lookup-lists.ts'
import { isNameable } from '../../policy/authz/entities/lookup.ts'
import { MAX_LIST_CHARS } from '../limits.ts'
import type { ListOrder, QueryMembers, Subquery, SubqueryPlan } from '../list-plan.ts'

/** The options of a plan. */
export interface PlanOptions extends LookUps, DefinitionLists, InstanceLists, VariableTenants {
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

/** The facts about an operation that are known before a request. */
export interface PlannerInput extends CompiledPrefilter {
  readonly method: Method
  readonly restriction: CompiledRestriction
  readonly options: PlanOptions
}

/** The facts about an operation, and the steps that its plans need. */
export interface Planner extends PlannerInput {
  readonly steps: readonly PlanStep[]
}

/** Adds the subqueries for some of the visible items to a plan. Returns null if no query expresses them. */
export type PlanStep = (context: PlanContext, content: PlanContent) => Promise<PlanContent | null>

/** The subqueries of a plan, as far as its steps have added them. */
export interface PlanContent extends Omit<SubqueryPlan, 'strategy' | 'postForm' | 'order'> {
  /** The subqueries include all visible items, so no further step adds any. */
  readonly isComplete?: true
}

export const EMPTY: PlanContent = {
  subqueries: [],
  instances: [],
  excluded: [],
  nullGroup: null,
  isExact: true,
}

/** A query with the facts that its plan depends on. */
export interface PlanContext extends Planner, PlanInput, TenantSelection {
  readonly own: OwnQuery
  /** The instances that records name. */
  readonly instances: VisibleSet['instances']
  /** The visible keys that the query selects. */
  readonly keys: IdSet
  /** The order in which the items are sorted. Null if it is not known. */
  readonly order: ListOrder | null
  /** How a GET is sent as a POST. Null if this is impossible or not necessary. */
  readonly postForm: PostForm | null
  /** Maximum characters of the members that a subquery sets. They must fit into a query string, unless they are in a body. */
  readonly maxChars: number
}

/**
 * Reads the caller's conditions, and decides the keys and instances that the records name. Returns null if a part of the query cannot
 * be read with certainty, or if records or links open items that keys and instances cannot express. All items are then read and
 * filtered.
 */
export function planContextOf(planning: Planner & PlanInput): PlanContext | null {
  const { method, restriction, query, permissions, subject, accessRequest } = planning
  if (subject.records.disabled.size > 0 && hasDisabled(restriction, subject)) return null
  if (permissions.task !== null && namesTasks(subject)) return null
  const own = ownQueryOf(query, method, accessRequest)
  if (own === null) return null
  const visible = visibleSetOf(restriction, permissions, subject)
  const keys = keysOf(visible, own)
  if (own.instance === null && ![...keys.ids, ...(subject.tenants ?? [])].every(isListable)) return null
  const postForm = postFormOf(planning, own, visible)
  const isInBody = method === 'POST' || postForm !== null
  return {
    ...planning,
    ...tenantSelectionOf(planning, query, own),
    own,
    instances: visible.instances,
    keys,
    order: orderOf(query, own, planning.options.dateFormat),
    postForm,
    maxChars: isInBody
      ? Number.POSITIVE_INFINITY
      : QUERY_CHARS - queryLengthOf(Object.fromEntries(accessRequest.query)),
  }
}

/** Returns whether a permission is disabled. A check leaves a disabled permission out, but the engine's lists treat it differently. */
function hasDisabled({ conditions }: CompiledRestriction, { records }: ListSubject): boolean {
  return conditions.some(({ permissions }) =>
    permissions.some(({ permission }) => records.disabled.has(permission)),
  )
}

/** Returns the order of the items, or null if it is not known. */
function orderOf(query: Prefilter, own: OwnQuery, dateFormat: DateFormat): ListOrder | null {
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

/** Returns whether the ids of instances may not fit into a GET. */
function mayBeLong({ by }: Prefilter, { instances: { granted, revoked } }: VisibleSet): boolean {
  return by === 'instances' || queryLengthOf({ ids: [...granted, ...revoked] }) > MAX_LIST_CHARS
}

/** Returns how a GET is sent as a POST that has all its members. Null if this is impossible or not necessary. */
function postFormOf(
  { method, query: prefilter, accessRequest: { query } }: Planner & PlanInput,
  own: OwnQuery,
  visible: VisibleSet,
): PostForm | null {
  const { postForm } = prefilter
  if (method === 'POST' || postForm === undefined || !mayBeLong(prefilter, visible)) return null
  const known = new Set([...postForm.texts, ...postForm.inQuery])
  return [...own.names].every((name) => known.has(name) && query.get(name) !== '') ? postForm : null
}

/** Returns the number of characters that members need in a query string. */
export function queryLengthOf(members: QueryMembers): number {
  return Object.values(members).reduce((sum, value) => sum + encodeURIComponent(String(value)).length, 0)
}

/** Returns the context of another query for the same caller. The caller has set no conditions in it. */
export function contextOfQuery(context: PlanContext, query: Prefilter): PlanContext {
  const own = NO_CONDITION
  return { ...context, ...tenantSelectionOf(context, query, own), query, own }
}

function keysOf(visible: VisibleSet, { key, keys }: OwnQuery): IdSet {
  const ofKey = key === null ? visible.keys : intersect(visible.keys, [key])
  return keys === null ? ofKey : intersect(ofKey, keys)
}

/** Returns whether an id can be an element of a list. In a query string a comma separates two ids. */
export function isListable(id: string): boolean {
  return isNameable(id) && !id.includes(',')
}

export function constantsOf(definitionId: string | null | undefined): Readonly<Record<string, string>> {
  return typeof definitionId === 'string' ? { processDefinitionId: definitionId } : {}
}

/** Returns subqueries for the same items, restricted to the caller's tenants and to items without a tenant. */
export function inTenants(context: PlanContext, sets: readonly QueryMembers[]): readonly Subquery[] {
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
