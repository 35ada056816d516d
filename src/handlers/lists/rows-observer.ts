import type { Exchange } from '../../pipeline/context.ts'
import type { RowsObserver } from '../../lists/postfilter/visible-rows.ts'

/** Returns an observer that counts plans and items by operation. */
export function observerOf({ parts: { metrics }, match: { operation } }: Exchange): RowsObserver {
  const { id } = operation
  return {
    onPlan: (plan) => metrics.rowsPlan({ operation: id, plan }),
    onRows(shown, hidden) {
      metrics.rowsRead({ operation: id, result: 'shown' }, shown)
      metrics.rowsRead({ operation: id, result: 'hidden' }, hidden)
    },
  }
}
