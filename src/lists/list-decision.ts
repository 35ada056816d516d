import type { GatewayError, MissingPermission } from '../errors.ts'
import type { ListItem } from '../policy/authz/entities/look-ups.ts'
import type { QueryPlanner } from './list-plan.ts'

/** The parts of a query that a restriction may change. */
export interface EngineQuery {
  readonly method: string
  /** The path below the node's base, with the query string. */
  readonly path: string
  readonly body: Buffer | null
}

/** Rewrites a query to select the items that the caller may see. Returns null if the caller may see nothing of it. */
export type Narrow = (query: EngineQuery, parameters: ReadonlyMap<string, string>) => EngineQuery | null

/** How much of a list the caller sees: everything, nothing, or the items that records, links and tenants name. */
export type Visibility = 'all' | 'none' | 'conditional'

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
      /** Avoids reading items that are not visible. Absent if the table defines no query for this. */
      readonly planner?: QueryPlanner
    }
  /** The visible items cannot be determined. */
  | { readonly visibility: 'undecidable'; readonly refusal: GatewayError; readonly strategy?: never }

/** Returns for each item of a list whether the caller sees it. */
export type Postfilter = (template: string, items: readonly ListItem[]) => Promise<readonly boolean[]>

/** Returns the permissions that would open the items of a list that the caller does not see. */
export type FindMissingItemPermissions = (
  template: string,
  items: readonly ListItem[],
) => Promise<readonly MissingPermission[]>
