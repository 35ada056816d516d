import type { PlanContext } from './plan-context.ts'
import { QUERY_CHARS } from '../../policy/authz/entities/lookup-lists.ts'
import type { SubqueryPlan, QueryMembers } from '../list-plan.ts'

/** Returns whether each of the conditions fits into the query string of the request. */
export function fitInQueryString(context: PlanContext, sets: readonly QueryMembers[]): boolean {
  const room = roomOf(context)
  return sets.every((set) => queryLengthOf(set) <= room)
}

/** Returns how many characters one more condition of the query string may have. */
export function roomOf({ accessRequest }: PlanContext): number {
  return QUERY_CHARS - queryLengthOf(Object.fromEntries(accessRequest.query))
}

/** Returns how a GET is sent as a POST. Null if this is impossible or not necessary. */
export function postFormOf({ query, method, own, accessRequest }: PlanContext): SubqueryPlan['postForm'] {
  const { postForm } = query
  if (postForm === undefined || method === 'POST' || own.sort !== null) return null
  const known = new Set([...postForm.texts, ...postForm.inQuery])
  const isSaid = [...own.names].every((name) => known.has(name) && accessRequest.query.get(name) !== '')
  return isSaid ? postForm : null
}

function queryLengthOf(set: QueryMembers): number {
  return Object.values(set).reduce((sum, value) => sum + encodeURIComponent(String(value)).length, 0)
}
