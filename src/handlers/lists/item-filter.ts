import type { HandlerContext } from '../../pipeline/context.ts'
import type { Postfilter } from '../../lists/item-decision.ts'
import type { ListDecision } from '../../lists/answer/list-decision.ts'
import type { ItemFilter } from '../../lists/postfilter/visible-items.ts'

/** A decision for which all items are read, or planned. */
export type ScanDecision = Extract<ListDecision, { readonly strategy: 'scan' }>

/** Returns the restriction of a list. It counts plans and items by operation. `decision` is null if the caller sees no item. */
export function itemFilterOf(
  { dependencies, context }: HandlerContext,
  decision: Pick<ScanDecision, 'postfilter' | 'planContext' | 'signedCounts'> | null,
): ItemFilter {
  const { metrics, config } = dependencies
  const operation = context.operation.id
  const counted: Postfilter = async (template, items) => {
    const visible = (await decision?.postfilter(template, items)) ?? []
    const shown = visible.filter(Boolean).length
    metrics.listItems({ operation, result: 'shown' }, shown)
    metrics.listItems({ operation, result: 'hidden' }, visible.length - shown)
    return visible
  }
  return {
    postfilter: decision === null ? null : counted,
    planContext: decision?.planContext,
    signedCounts: decision?.signedCounts,
    limits: config.limits,
    onPlan: (strategy) => metrics.listPlan({ operation, plan: strategy }),
  }
}
