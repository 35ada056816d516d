import {
  type PlanInput,
  type PlannerInput,
  type PlanContext,
  planContextOf,
  isListable,
  constantsOf,
  queryLengthOf,
} from './plan-context.ts'
import { type ListPlan, type QueryPlanner, FILTER } from '../list-plan.ts'
import { namesTasks, isNone } from '../visibility/visible-set.ts'
import { type PlanStep, type PlanContent, EMPTY } from './plan-step.ts'
import { subtractInstances, subtractKeys } from './subtracted-counts.ts'
import { addVisibleInstances, addCases, addNamedInstances, isInstanceVisible } from './instance-subqueries.ts'
import { addKeys } from './key-subqueries.ts'
import { addNullGroup } from './null-group-subqueries.ts'
import type { CompiledRestriction, ListSubject } from '../visibility/compiled-restriction.ts'

export type Planner = (input: PlanInput) => QueryPlanner

/**
 * Creates the planner of an operation with a prefilter. It has only the steps that the operation needs. The plan of a query says how
 * to request the items that the caller may see. The caller's own conditions are read first, and only once. A query for items that
 * the caller may not see causes no request. A restriction that the parameters of the table cannot express exactly is applied by a
 * filter.
 */
export function createPlanner(planner: PlannerInput): Planner {
  const { restriction, query, permissions } = planner
  const steps = STEPS.flatMap(([step, isNeeded]) => (isNeeded(planner) ? [step] : []))
  const mayReadInstances = query.by === 'instances' || query.by === 'instance'
  return (input) => {
    const { subject } = input
    let read: { readonly context: PlanContext | null } | undefined
    const contextOnce = () => (read ??= { context: planContextOf({ ...planner, ...input }) }).context
    return {
      async createPlan() {
        if (subject.records.disabled.size > 0 && hasDisabled(restriction, subject)) return FILTER
        if (permissions.task !== null && namesTasks(subject)) return FILTER
        const context = contextOnce()
        if (context === null) return FILTER
        return context.own.instance === null
          ? planSteps(context, steps)
          : planInstance(context, context.own.instance)
      },
      readsInstances() {
        const context = mayReadInstances ? contextOnce() : null
        // The ids of instances that are granted one by one are known.
        return context !== null && context.own.instance === null && !isNone(context.keys)
      },
    }
  }
}

/** All steps in their order, each with the operations that need it. */
const STEPS: readonly (readonly [step: PlanStep, isNeeded: (planner: PlannerInput) => boolean])[] = [
  [subtractInstances, (planner) => isByInstances(planner) && maySubtract(planner)],
  [addVisibleInstances, isByInstances],
  [addKeys, (planner) => !isByInstances(planner)],
  [subtractKeys, (planner) => !isByInstances(planner) && maySubtract(planner) && !isOfHistory(planner)],
  [addCases, ({ restriction }) => restriction.exempt === 'case'],
  [addNamedInstances, (planner) => !isByInstances(planner) && planner.permissions.instance !== null],
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
  let content: PlanContent = EMPTY
  for (const step of steps) {
    const added = await step(context, content)
    if (added === null) return FILTER
    content = added
    if (content.isComplete === true) break
  }
  return planOf(context, content)
}

/** Returns whether a permission is disabled. A check leaves a disabled permission out, but the engine's lists treat it differently. */
function hasDisabled({ conditions }: CompiledRestriction, { records }: ListSubject): boolean {
  return conditions.some(({ permissions }) =>
    permissions.some(({ permission }) => records.disabled.has(permission)),
  )
}

/** Plans a query for one instance. Either all or none of its items are visible. */
async function planInstance(context: PlanContext, id: string): Promise<ListPlan> {
  const { query, options } = context
  const found = await options.lookUp(query.isHistory ? 'historicProcessInstance' : 'processInstance', id)
  if (found === null) return FILTER
  return planOf(context, {
    ...EMPTY,
    subqueries: isInstanceVisible(context, id, found)
      ? [{ set: {}, constants: constantsOf(found['definitionId']) }]
      : [],
  })
}

function planOf(context: PlanContext, content: PlanContent): ListPlan {
  const { subqueries, instances, excluded, nullGroup, isExact } = content
  const { own, options, order, postForm, maxChars } = context
  const all = [...subqueries, ...instances, ...excluded, ...(nullGroup?.all ?? [])]
  if (all.length === 0) return { strategy: 'denied', isValid: own.isPlain && context.isAnswerable }
  if (all.length > options.limits.rowParts) return FILTER
  if (all.some(({ set }) => queryLengthOf(set) > maxChars)) return FILTER
  const strategy = all.length === 1 && nullGroup === null ? 'rewrite' : 'union'
  return { strategy, subqueries, instances, excluded, nullGroup, isExact, order, postForm }
}
