import type { DateFormat } from '../request/date-format.ts'
import type { PostForm, SortOrder } from '../operations/prefilters.ts'

/** A subquery of a plan. It adds members to the caller's query, or replaces them: parameters of a query string, or members of a body. */
export interface Subquery {
  readonly set: QueryMembers
  /** The members that every item of this subquery has, if the items do not contain them. */
  readonly constants: Readonly<Record<string, string>>
  /** The sort order that replaces the caller's. Absent if the caller's order stays. */
  readonly sort?: SubquerySort
  /** The items may include items of other tenants. */
  readonly isCrossTenant?: true
  /** The number of items relative to other subqueries, in any unit: the number of its process instances. */
  readonly estimatedShare?: number
}

export type QueryMembers = Readonly<Record<string, string | readonly string[] | true>>

export interface SubquerySort {
  readonly sortBy: string
  readonly sortOrder: SortOrder
}

/** How the visible items of a query are requested. Metrics and explanations publish these names. */
export type Strategy = ListPlan['strategy']

/** A strategy with the requests for it. */
export type ListPlan =
  /** No item is visible. If `isValid`, the engine need not validate the query. */
  | { readonly strategy: 'denied'; readonly isValid: boolean }
  /** The items are requested by one query, or by several queries. */
  | SubqueryPlan
  /** All items are read, and the visible ones are kept. */
  | { readonly strategy: 'scan' }

export interface SubqueryPlan {
  readonly strategy: 'rewrite' | 'union'
  /** The items that are visible by their definition, or by themselves. */
  readonly subqueries: readonly Subquery[]
  /** The items that are visible only by their process instance. */
  readonly instances: readonly Subquery[]
  /**
   * The items of `subqueries` that the caller may not see, and those that two of them find. They are subtracted from counts and left
   * out of lists.
   */
  readonly excluded: readonly Subquery[]
  /** The visible items that `subqueries` do not include, or null if they include all. */
  readonly nullGroup: NullGroup | null
  /** How the subqueries of a GET are sent as a POST; null if they are not. */
  readonly postForm: PostForm | null
  /** Whether every item of a list's subqueries is visible, so that the engine's pages are the caller's pages. Counts are always exact. */
  readonly isExact: boolean
  /**
   * Returns whether a remembered fact from which the plan was made is still true. Absent if the plan needs none. It costs as much as
   * the subqueries, so it is called while they are counted. Only plans of counts have it.
   */
  readonly isCurrent?: () => Promise<boolean>
  /** The order in which lists are merged. Null if the order of items from several subqueries is not known. */
  readonly order: ListOrder | null
}

/** The items that every caller sees because they lack a member. */
export interface NullGroup {
  /** All items of the query that belong to the caller's tenants or to none. */
  readonly all: readonly Subquery[]
  /**
   * The same queries, each in the sort orders that may start with the items without the member. If there are such items, one
   * of the orders starts with them.
   */
  readonly sorted: readonly (readonly Subquery[])[]
  readonly member: string
  /** The items may include items of other tenants. */
  readonly isCrossTenant: boolean
}

/** The member of an item by which the items are sorted. */
export type ListOrder = {
  readonly member: string
  readonly isDescending: boolean
} & ({ readonly kind: 'id' | 'number' } | { readonly kind: 'time'; readonly dateFormat: DateFormat })

export const FILTER = { strategy: 'scan' } as const satisfies ListPlan
