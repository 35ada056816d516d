import { type PlanContext, type PlanContent, inTenants, contextOfQuery, isListable } from './plan-context.ts'
import { isAll, has, isNone } from '../../policy/authz/visibility/visible-set.ts'
import { type Prefilter, PREFILTERS } from '../../operations/prefilters.ts'
import { seesAllKeys, keySubqueries, listsOf } from './key-subqueries.ts'
import type { QueryMembers, Subquery } from '../list-plan.ts'
import { inQueries } from '../../policy/authz/entities/lookup-lists.ts'
import { MAX_CONDITION_VALUES } from '../limits.ts'
import { isVisible, isOfTenants } from '../../policy/authz/visibility/visibility.ts'
import type { Attributes } from '../../request/attributes.ts'
import type { InstanceKind } from '../facts/instance-lists.ts'

/** Adds lists of the cases whose items every caller sees. */
export async function addCases(context: PlanContext, content: PlanContent): Promise<PlanContent | null> {
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
  return {
    ...content,
    subqueries: [...content.subqueries, ...lists.map((set) => ({ set, constants: {} }))],
  }
}

/** Selects the tenants of cases. */
const CASES: Prefilter = { by: 'instances', tenants: 'two queries' }

/** Adds lists of the visible instances. Null if there are too many, or items without an instance are visible, too. */
export async function addVisibleInstances(
  context: PlanContext,
  content: PlanContent,
): Promise<PlanContent | null> {
  const { query, own, keys } = context
  if (seesAllKeys(context)) return { ...content, subqueries: inTenants(context, [{}]) }
  if (keys.isAllBut && query.hasItemsOfNone === true && own.instances === null) return null
  const ids = own.instances === null ? await idsOfKeys(context) : await idsAmong(context, own.instances)
  const lists = ids === null ? null : listsOfInstances(context, ids)
  return lists === null ? null : { ...content, subqueries: lists.map(withEstimatedShare) }
}

/** Returns a subquery for a list of instances. Large sets of instances have about the same number of items for each instance. */
export function withEstimatedShare(set: QueryMembers): Subquery {
  const [list] = Object.values(set)
  return { set, constants: {}, ...(Array.isArray(list) && { estimatedShare: list.length }) }
}

/** Splits the ids into lists for subqueries. Null if an id cannot be an element of a list. */
export function listsOfInstances(
  context: PlanContext,
  ids: readonly string[],
): readonly QueryMembers[] | null {
  const { query, maxChars } = context
  if (!ids.every(isListable)) return null
  const lists = [...inQueries(ids, maxChars, MAX_CONDITION_VALUES)]
  const dealt = dealtOut(ids, lists.length).flatMap((list) => [
    ...inQueries(list, maxChars, MAX_CONDITION_VALUES),
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
  const { query, options, accessRequest } = context
  const kind = query.isHistory ? 'historicProcessInstance' : 'processInstance'
  const found = await options.lookUpAll(kind, ids, accessRequest.checkDeadline)
  return [...found].flatMap(([id, attributes]) => (isInstanceVisible(context, id, attributes) ? [id] : []))
}

/** Returns whether the items of an instance are visible. Its key, its tenant and its own id decide all of them. */
export function isInstanceVisible(
  { restriction, subject }: PlanContext,
  id: string,
  { processDefinitionKey = null, tenantId = null }: Attributes,
): boolean {
  const attribute = (name: string) =>
    name === 'processInstanceId' ? id : name === 'tenantId' ? tenantId : processDefinitionKey
  return isVisible({ ...restriction, exempt: null }, {}, attribute, subject)
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
export async function idsOfDefinitions(context: PlanContext): Promise<readonly string[] | null> {
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
      options.limits.subqueries * MAX_CONDITION_VALUES - ids.length,
    )
    if (some === null) return null
    ids.push(...some)
  }
  return ids
}

/** Returns the number of instances, or null if no query finds them. */
export async function countInstances(context: PlanContext): Promise<number | null> {
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
  return subqueries === null || subqueries.length > context.options.limits.subqueries ? null : subqueries
}

function kindOf({ query }: PlanContext): InstanceKind {
  return query.isHistory === true ? 'history/process-instance' : 'process-instance'
}

/** Adds the items that are visible, or hidden, by their instance alone. */
export async function addNamedInstances(
  context: PlanContext,
  content: PlanContent,
): Promise<PlanContent | null> {
  const { query, own, keys, restriction, subject, options, accessRequest } = context
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
  const tenants = restriction.tenanted ? subject.tenants : null
  /** Null if the instance does not exist, or belongs to another tenant. */
  const seesKeyOf = (id: string): boolean | null => {
    const { processDefinitionKey, tenantId } = found.get(id) ?? {}
    const isKnown = typeof processDefinitionKey === 'string' && isOfTenants(tenantId, tenants)
    return isKnown ? has(keys, processDefinitionKey) : null
  }
  const subqueries = (ids: readonly string[]): readonly Subquery[] => {
    if (!ids.every(isListable)) return []
    const values = query.instances === undefined ? ids : [...listsOf(ids, context)]
    return values.map((value) => ({ set: { [name]: value }, constants: {} }))
  }
  const excluded = subqueries(closed.filter((id) => seesKeyOf(id) === true))
  return {
    ...content,
    instances: subqueries(opened.filter((id) => seesKeyOf(id) === false)),
    excluded,
    isExact: content.isExact && excluded.length === 0,
  }
}
