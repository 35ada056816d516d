import {
  type PlanContent,
  type PlanContext,
  type Planner,
  type PlannerInput,
  type PlanStep,
  EMPTY,
  constantsOf,
  queryLengthOf,
} from './plan-context.ts'
import { type ListPlan, type Subquery, FILTER } from '../list-plan.ts'
import { INSTANCES_A_PART } from '../limits.ts'
import { isNone } from '../../policy/authz/visibility/visible-set.ts'
import { subtractHiddenInstances, subtractInstances, subtractKeys } from './subtracted-counts.ts'
import { addVisibleInstances, addCases, addNamedInstances, isInstanceVisible } from './instance-subqueries.ts'
import { addKeys } from './key-subqueries.ts'
import { addOwned } from './owned-subqueries.ts'
import { addNullGroup } from './null-group-subqueries.ts'

/** Creates the planner of an operation with a prefilter. It has only the steps that the operation needs. */
export function createPlanner(input: PlannerInput): Planner {
  return { ...input, steps: STEPS.flatMap(([step, isNeeded]) => (isNeeded(input) ? [step] : [])) }
}

/** All steps in their order, each with the operations that need it. */
const STEPS: readonly (readonly [step: PlanStep, isNeeded: (planner: PlannerInput) => boolean])[] = [
  // First, because it can find without a request to the engine that a query has no plan.
  [addNullGroup, (planner) => hasNullGroup(planner) && !maySubtract(planner)],
  [subtractInstances, (planner) => isByInstances(planner) && maySubtract(planner)],
  [subtractHiddenInstances, (planner) => isByInstances(planner) && maySubtractHidden(planner)],
  [addVisibleInstances, isByInstances],
  [addKeys, (planner) => !isByInstances(planner)],
  [subtractKeys, (planner) => !isByInstances(planner) && maySubtract(planner) && !isOfHistory(planner)],
  [addOwned, ({ query }) => query.owner !== undefined],
  [addCases, ({ restriction }) => restriction.exempt === 'case'],
  [addNamedInstances, (planner) => !isByInstances(planner) && planner.permissions.instance !== null],
  [addNullGroup, maySubtract],
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

/** The items without a definition belong to the count if all keys but some are visible. */
function maySubtractHidden({ restriction, query }: PlannerInput): boolean {
  return restriction.form === 'count' && query.hasItemsOfNone === true && query.tenants === 'definitions'
}

/** Returns whether the plan first reads the ids of instances, and there may be many. */
export function readsInstances({ query, own, keys }: PlanContext): boolean {
  const isByInstance = query.by === 'instances' || query.by === 'instance'
  // The ids of instances that are granted one by one are known.
  return isByInstance && own.instance === null && !isNone(keys)
}

/**
 * Plans how to request the items that the caller may see. This may require requests to the engine, but a query for items that the
 * caller may not see causes none. A restriction that the parameters of the table cannot express exactly is applied by a filter.
 */
export async function createPlan(context: PlanContext): Promise<ListPlan> {
  const { own } = context
  const content =
    own.instance === null ? await addSteps(context) : await contentOfInstance(context, own.instance)
  return content === null ? FILTER : planOf(context, content)
}

function planOf(context: PlanContext, content: PlanContent): ListPlan {
  const { own, order, postForm, isAnswerable } = context
  const { subqueries, instances, excluded, nullGroup, isExact, isCurrent } = content
  const others = [...subqueries, ...excluded, ...(nullGroup?.all ?? [])]
  const all = [...others, ...instances]
  if (all.length === 0) return { strategy: 'denied', isValid: own.isPlain && isAnswerable }
  if (areTooMany(context, others.length, all)) return FILTER
  const strategy = all.length === 1 && nullGroup === null ? 'rewrite' : 'union'
  const plan = { strategy, subqueries, instances, excluded, nullGroup, isExact, order, postForm } as const
  return isCurrent === undefined ? plan : { ...plan, isCurrent }
}

/** Returns whether the subqueries are too many, or one of them is too long. `otherCount` is the number without those for single instances. */
function areTooMany(
  { options, maxChars }: PlanContext,
  otherCount: number,
  all: readonly Subquery[],
): boolean {
  const { subqueries } = options.limits
  if (otherCount > subqueries || all.length > INSTANCES_A_PART * subqueries) return true
  return all.some(({ set }) => queryLengthOf(set) > maxChars)
}

async function addSteps(context: PlanContext): Promise<PlanContent | null> {
  let content: PlanContent | null = EMPTY
  for (const step of context.steps) {
    content = await step(context, content)
    if (content === null || content.isComplete === true) break
  }
  return content
}

/** Returns the content for a query for one instance. Either all or none of its items are visible. */
async function contentOfInstance(context: PlanContext, id: string): Promise<PlanContent | null> {
  const { query, options } = context
  const found = await options.lookUp(query.isHistory ? 'historicProcessInstance' : 'processInstance', id)
  if (found === null) return null
  const isShown = isInstanceVisible(context, id, found)
  return { ...EMPTY, subqueries: isShown ? [{ set: {}, constants: constantsOf(found['definitionId']) }] : [] }
}
