import type { GatewayError } from '../../errors.ts'
import type { Postfilter } from '../item-decision.ts'
import type { PlanContext } from '../prefilter/plan-context.ts'
import type { Narrow } from '../rewrite/narrow.ts'
import type { SignedCount } from '../rewrite/narrow-tasks.ts'

/** The decision about the items of a response. */
export type ListDecision =
  | { readonly visibility: 'all'; readonly strategy?: never }
  /** No item is visible. If `valid`, the query has been validated completely, so the engine need not check it. */
  | { readonly visibility: 'none'; readonly valid: boolean; readonly strategy?: never }
  /** The query is rewritten to select the visible items, because the engine can do this exactly. */
  | {
      readonly visibility: 'conditional'
      readonly strategy: 'rewrite'
      readonly narrow: Narrow
      /** The tenants whose items the response may contain. Set if the engine may have tenants that the rewritten query cannot name. */
      readonly tenants?: ReadonlySet<string>
    }
  /** The items are counted again without those of other tenants. */
  | {
      readonly visibility: 'conditional'
      readonly strategy: 'recount'
      readonly tenants: ReadonlySet<string>
    }
  /** All items are read, and `postfilter` selects the visible ones. */
  | {
      readonly visibility: 'conditional'
      readonly strategy: 'scan'
      readonly postfilter: Postfilter
      /** The facts from which a plan is made that avoids reading hidden items. Absent if no query selects the visible items. */
      readonly planContext?: PlanContext
      /** The counts that give the number of visible items without reading any. Absent for a list, and if no queries express it. */
      readonly signedCounts?: readonly SignedCount[]
    }
  /** The visible items cannot be determined. */
  | { readonly visibility: 'undecidable'; readonly refusal: GatewayError; readonly strategy?: never }
