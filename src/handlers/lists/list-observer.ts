import type { HandlerContext } from '../../pipeline/context.ts'
import { STRATEGY_NAMES } from '../../lists/list-plan.ts'
import type { ListObserver } from '../../lists/postfilter/visible-items.ts'

/** Returns an observer that counts plans and items by operation. */
export function observerOf({
  dependencies: { metrics },
  context: { operation },
}: HandlerContext): ListObserver {
  const { id } = operation
  return {
    onPlan: (strategy) => metrics.rowsPlan({ operation: id, plan: STRATEGY_NAMES[strategy] }),
    onItems(shown, hidden) {
      metrics.rowsRead({ operation: id, result: 'shown' }, shown)
      metrics.rowsRead({ operation: id, result: 'hidden' }, hidden)
    },
  }
}
