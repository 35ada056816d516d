import { type PlanContext, type PlanContent, EMPTY, inTenants, isListable } from './plan-context.ts'
import { isOfTenants } from '../../policy/authz/visibility/visibility.ts'
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

/**
 * Counts items by lists of instances if all keys but some are visible, and therefore also the items without a definition, which no
 * query selects: all items minus those of other tenants, minus those of the hidden instances of the caller's tenants.
 */
export async function subtractHiddenInstances(
  context: PlanContext,
  content: PlanContent,
): Promise<PlanContent> {
  if (!context.keys.isAllBut || !mayFindNullGroup(context)) return content
  const [hidden, ids] = await Promise.all([hiddenTenants(context), hiddenInstances(context)])
  if (hidden === null || ids === null) return content
  const lists = listsOfInstances(context, ids)
  if (lists === null) return content
  const { tenants, isCurrent } = hidden
  const ofTenants = tenants.length === 0 ? [] : [{ set: { tenantIdIn: tenants }, constants: {} }]
  const counted = allBut(context, [...ofTenants, ...lists.map(withEstimatedShare)])
  return isCurrent === null ? counted : { ...counted, isCurrent }
}

async function hiddenInstances(context: PlanContext): Promise<readonly string[] | null> {
  const { granted, revoked } = context.instances
  const found = await idsOfDefinitions(othersOf(context))
  if (found === null) return null
  const ids = new Set([...found, ...revoked])
  for (const id of granted) ids.delete(id)
  return [...ids]
}

/** The tenants whose items are subtracted. */
interface HiddenTenants {
  readonly tenants: readonly string[]
  /** Null if they were just read. */
  readonly isCurrent: (() => Promise<boolean>) | null
}

/** Returns the tenants whose items are subtracted. Null if their items and those of hidden instances may be the same. */
async function hiddenTenants(context: PlanContext): Promise<HiddenTenants | null> {
  if (!context.isRestricted) return { tenants: [], isCurrent: null }
  // A hidden instance may belong to another tenant, whose items are subtracted as well.
  if (context.own.tenantIds !== null || context.instances.revoked.length > 0) return null
  return otherTenants(context)
}

/** Returns the tenants of items that are not the caller's. Null if they are too many, or a query cannot name them. */
async function otherTenants({ subject, options }: PlanContext): Promise<HiddenTenants | null> {
  const recent = options.recentVariableTenants()
  const tenants = recent ?? (await options.variableTenants())
  const others = tenants?.filter((tenant) => !isOfTenants(tenant, subject.tenants)) ?? null
  if (others?.every(isListable) !== true) return null
  const isCurrent = async () => {
    const current = await options.variableTenants()
    // A tenant without variables any more changes no count.
    return current?.every((tenant) => recent?.includes(tenant)) === true
  }
  return { tenants: others, isCurrent: recent === null ? null : isCurrent }
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
