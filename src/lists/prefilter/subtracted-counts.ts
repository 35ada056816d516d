import { type PlanContext, type PlanContent, EMPTY, inTenants } from './plan-context.ts'
import { mayFindNullGroup } from './null-group-subqueries.ts'
import {
  listsOfInstances,
  withEstimatedShare,
  countInstances,
  idsOfDefinitions,
} from './instance-subqueries.ts'
import { keySubqueries } from './key-subqueries.ts'
import type { Subquery } from '../list-plan.ts'

/**
 * Counts items by lists of instances if not more instances are hidden than visible: all items minus those of the hidden instances.
 * Otherwise the next step counts the visible instances.
 */
export async function subtractInstances(context: PlanContext, content: PlanContent): Promise<PlanContent> {
  if (!context.selectsTenants || !mayFindNullGroup(context)) return content
  const ids = await excludedInstances(context, othersOf(context))
  const excluded = ids === null ? null : listsOfInstances(context, ids)
  return excluded === null ? content : allBut(context, excluded.map(withEstimatedShare))
}

/** Counts running items if most keys are visible: all items minus those of the other keys. */
export async function subtractKeys(context: PlanContext, content: PlanContent): Promise<PlanContent> {
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
