import { isSameName } from '../../request/same-name.ts'
import type { Subquery } from '../list-plan.ts'
import { has, ownedIdsOf } from '../../policy/authz/visibility/visible-set.ts'
import { seesAllKeys } from './key-subqueries.ts'
import type { PlanContent, PlanContext } from './plan-context.ts'

/**
 * Adds the items that the caller owns. An item that a record names is subtracted if the record hides it from its owner, or if another
 * subquery finds it, too. Returns null if the engine may read the caller's condition on the owner differently.
 */
export async function addOwned(context: PlanContext, content: PlanContent): Promise<PlanContent | null> {
  const { query, own, subject } = context
  const { userId } = subject.principal
  if (subject.impliesFilters !== true || seesAllKeys(context)) return content
  if (own.owner !== null && own.owner !== userId) return isSameName(own.owner, userId) ? null : content
  const ownedBy = { [query.owner ?? '']: userId }
  const excluded = excludedIds(context).map(
    (id): Subquery => ({ set: { ...ownedBy, [query.key ?? '']: id }, constants: {} }),
  )
  return {
    ...content,
    subqueries: [...content.subqueries, { set: ownedBy, constants: {} }],
    excluded: [...content.excluded, ...excluded],
    isExact: content.isExact && excluded.length === 0,
  }
}

/** Returns the ids whose items, if the caller owns them, are hidden or found by another subquery. */
function excludedIds({ own, subject, restriction, permissions, keys }: PlanContext): readonly string[] {
  return [...ownedIdsOf(restriction, permissions, subject)]
    .filter(([id]) => own.key === null || own.key === id)
    .filter(([id, isShown]) => !isShown || has(keys, id))
    .map(([id]) => id)
}
