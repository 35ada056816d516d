import type { SubqueryPlan } from '../list-plan.ts'
import type { PlanContext } from './plan-context.ts'

/** The subqueries of a plan, as far as its steps have added them. */
export interface PlanContent extends Omit<SubqueryPlan, 'strategy' | 'postForm' | 'order'> {
  /** The subqueries include all visible items, so no further step adds any. */
  readonly isComplete?: true
}

/** Adds the subqueries for some of the visible items to a plan. Returns null if no query expresses them. */
export type PlanStep = (context: PlanContext, content: PlanContent) => Promise<PlanContent | null>

export const EMPTY: PlanContent = {
  subqueries: [],
  instances: [],
  excluded: [],
  nullGroup: null,
  isExact: true,
}
