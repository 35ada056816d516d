import { type PlanContext, type PlanContent, inTenants } from './plan-context.ts'
import { isAll } from '../../policy/authz/visibility/visible-set.ts'

/** Adds the items that every caller sees because they lack a member. */
export async function addNullGroup(context: PlanContext, content: PlanContent): Promise<PlanContent | null> {
  const { query, own, method, options } = context
  if (!mayFindNullGroup(context)) return content
  // A body may have its own sort order.
  if (query.nullGroup === undefined || (method === 'POST' && own.names.has('sortBy'))) return null
  // These items are read in an order of the plan. The engine would not get the caller's order, and could not refuse it.
  if (own.sort !== null && context.order === null) return null
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
export function mayFindNullGroup(context: PlanContext): boolean {
  const { own, keys } = context
  const names = [own.key, own.keys, own.definition, own.instances]
  // If every key is visible, the subqueries already include every item.
  return names.every((one) => one === null) && !(isAll(keys) && context.selectsTenants)
}
