import { type PlanContext, type PlanContent, inTenants, constantsOf } from './plan-context.ts'
import type { Subquery, QueryMembers } from '../list-plan.ts'
import { isNone, isAll, has } from '../../policy/authz/visibility/visible-set.ts'
import { MAX_CONDITION_VALUES, MAX_LIST_CHARS, MAX_READ_ITEMS, FEW_ITEMS } from '../limits.ts'
import { inQueries } from '../../policy/authz/entities/lookup-lists.ts'
import { isOfTenants } from '../../policy/authz/visibility/visibility.ts'
import type { DefinitionVersion } from '../facts/definition-lists.ts'
import type { MaybePromise } from '../../request/maybe-promise.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import { pagingOf } from '../../request/paging.ts'

/** Adds the items that are visible by their key. */
export async function addKeys(context: PlanContext, content: PlanContent): Promise<PlanContent | null> {
  const subqueries = await keySubqueries(context)
  if (subqueries === null) return null
  return { ...content, subqueries, isExact: !subqueries.some(({ isCrossTenant }) => isCrossTenant) }
}

/** Returns the subqueries for items that are visible by their key, or null if no query expresses this. */
export async function keySubqueries(context: PlanContext): Promise<readonly Subquery[] | null> {
  const { query, own, keys } = context
  if (seesAllKeys(context)) return inTenants(context, [{}])
  if (isNone(keys)) return []
  if (own.definition !== null) return ownDefinition(context, own.definition)
  if (query.by === 'instance' || (keys.isAllBut && query.hasItemsOfNone === true)) return null
  if (query.by === 'key') return keyedSubqueries(context)
  const listed = query.by === 'keys' ? await listedKeys(context) : null
  if (listed === null) return definitionSubqueries(context)
  return query.keysMissDeleted === true ? withDeleted(context, listed) : listed
}

/** Returns whether the query itself selects the visible items, except by tenant. */
export function seesAllKeys(context: PlanContext): boolean {
  return isAll(context.keys) && context.own.definition === null && context.selectsTenants
}

/** Returns one subquery for each key. For process definitions, only existing keys are used if they can be listed. */
async function keyedSubqueries(context: PlanContext): Promise<readonly Subquery[] | null> {
  const { query, keys } = context
  const visible = await visibleKeys(context)
  if (visible === null && keys.isAllBut) return null
  const sets = [...(visible ?? keys.ids)].map((key) => ({ [query.key ?? '']: key }))
  const subqueries = inTenants(context, sets)
  return query.keysMissDeleted === true ? withDeleted(context, subqueries) : subqueries
}

/** Adds the items of deleted definitions to subqueries by keys that do not find these items. */
async function withDeleted(
  context: PlanContext,
  subqueries: readonly Subquery[],
): Promise<readonly Subquery[] | null> {
  const deleted = await deletedOf(context)
  const others =
    deleted === null
      ? null
      : await ofDefinitions(
          context,
          deleted.filter((one) => isVisibleIn(context, one)),
        )
  return others === null ? null : [...subqueries, ...others]
}

/** Returns subqueries by lists of keys, or null if no list expresses the keys. */
async function listedKeys(context: PlanContext): Promise<readonly Subquery[] | null> {
  const { query, own, keys } = context
  if (keys.isAllBut && query.exceptKeys !== undefined) {
    const except = [...new Set([...keys.ids, ...(own.exceptKeys ?? [])])]
    return except.length > MAX_CONDITION_VALUES ? null : inTenants(context, [{ [query.exceptKeys]: except }])
  }
  const named = keys.isAllBut ? await visibleKeys(context) : keys.ids
  const name = query.keys
  if (name === undefined || named === null) return null
  const sets = [...listsOf([...named], context)].map((list) => ({ [name]: list }))
  return inTenants(context, sets)
}

/** Splits ids into lists for subqueries, which are in a body or in a query string. */
export function listsOf(
  ids: readonly string[],
  { method, postForm }: Pick<PlanContext, 'method' | 'postForm'>,
): Iterable<readonly string[]> {
  const isInBody = method === 'POST' || postForm !== null
  return inQueries(ids, isInBody ? Number.POSITIVE_INFINITY : MAX_LIST_CHARS, MAX_CONDITION_VALUES)
}

/** Plans a query for one definition. */
async function ownDefinition(context: PlanContext, id: string): Promise<readonly Subquery[] | null> {
  const found = await context.options.lookUp('processDefinition', id)
  const key = found?.['key'] ?? null
  // The definition may be deleted while its items still exist.
  if (found === null || key === null) return null
  const definition = { id, key, tenantId: found['tenantId'] ?? null }
  return isVisibleIn(context, definition) ? ofDefinitions(context, [definition], {}) : []
}

/** Returns one subquery for each visible definition, or for each key if there are too many definitions. */
async function definitionSubqueries(context: PlanContext): Promise<readonly Subquery[] | null> {
  const { query } = context
  if (query.definition === undefined) return null
  const { subqueries } = context.options.limits
  const visible = await visibleDefinitions(context, { isLatest: false, max: subqueries })
  if (visible !== null) return ofDefinitions(context, visible)
  return query.key === undefined || !context.selectsTenants ? null : keyedSubqueries(context)
}

/** Returns the keys of visible process definitions, including deleted ones. Null if items have other keys, or there are too many. */
async function visibleKeys(context: PlanContext): Promise<ReadonlySet<string> | null> {
  if (context.query.definition === undefined) return null
  const visible = await visibleDefinitions(context, { isLatest: true, max: MAX_READ_ITEMS })
  return visible === null ? null : new Set(visible.map(({ key }) => key))
}

/** Returns the visible definitions, including deleted ones. Null if there are more than `max`, or too many are deleted. */
async function visibleDefinitions(
  context: PlanContext,
  selection: { readonly isLatest: boolean; readonly max: number },
): Promise<readonly DefinitionVersion[] | null> {
  const { keys, options } = context
  const deleted = await deletedOf(context)
  if (deleted === null) return null
  const found = await options.definitions({ ...selection, keys: keys.isAllBut ? null : [...keys.ids] })
  if (found === null) return null
  const ids = new Set(found.map(({ id }) => id))
  return [...found, ...deleted.filter(({ id }) => !ids.has(id))].filter((one) => isVisibleIn(context, one))
}

/** Returns the deleted definitions whose items still exist. */
function deletedOf({ query, options }: PlanContext): MaybePromise<readonly DefinitionVersion[] | null> {
  return query.isHistory === true ? options.deleted() : []
}

function isVisibleIn({ keys, subject }: PlanContext, { key, tenantId }: DefinitionVersion): boolean {
  return has(keys, key) && isOfTenants(tenantId, subject.tenants)
}

/** Returns the subqueries for definitions. Null if they would count items of other tenants. */
async function ofDefinitions(
  context: PlanContext,
  definitions: readonly DefinitionVersion[],
  set?: QueryMembers,
): Promise<readonly Subquery[] | null> {
  const { query, restriction } = context
  const mayCross = await mayCrossTenants(context, definitions)
  if (mayCross && restriction.form === 'count') return null
  return definitions.flatMap(({ id, tenantId }) => {
    const own = set ?? (query.definition === undefined ? {} : { [query.definition]: id })
    // The items of a tenant's definition belong to the same tenant.
    const tenantSets = tenantId === null ? context.tenantSets : [{}]
    return tenantSets.map((tenants) => ({
      set: { ...own, ...tenants },
      constants: constantsOf(id),
      ...(mayCross && tenantId === null && { isCrossTenant: true }),
    }))
  })
}

/**
 * Returns whether the items of definitions without a tenant may belong to other tenants. An engine may assign tenants to the instances
 * of such a definition, and some lists have no query that excludes these. The engine is asked only if the items are not all decided: for
 * a count, and for a page that starts late.
 */
async function mayCrossTenants(
  { query, isRestricted, options, restriction, accessRequest }: PlanContext,
  definitions: readonly DefinitionVersion[],
): Promise<boolean> {
  const keys = new Set(definitions.filter(({ tenantId }) => tenantId === null).map(({ key }) => key))
  if (!isRestricted || query.tenants !== 'definitions' || keys.size === 0) return false
  if (restriction.form !== 'count' && !isFar(accessRequest)) return true
  return options.hasOwnTenants(keys.size > MAX_CONDITION_VALUES ? null : [...keys])
}

/** Returns whether the page starts so late that the items before it are counted, if possible, instead of read. */
function isFar({ query }: AccessRequest): boolean {
  return (pagingOf(query)?.first ?? 0) >= FEW_ITEMS
}
