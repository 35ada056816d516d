/** What one request of a plan says beside the caller's query, or in the place of it: parameters of a query string, members of a body. */
export interface QueryPart {
  readonly set: QueryMembers
  /** Members that every row of this part has, where rows do not show them. */
  readonly known: Readonly<Record<string, string>>
}

export type QueryMembers = Readonly<Record<string, string | readonly string[] | true>>

/** How the rows of a query that a caller may see are asked for. */
export type RowPlan =
  /** There are none. `isValid`: the engine need not be asked whether it reads the query. */
  | { readonly plan: 'none'; readonly isValid: boolean }
  /** In one query, or in several that have no row in common. */
  | PartsPlan
  /** All are read, and those are kept that the caller may see. */
  | { readonly plan: 'filter' }

export interface PartsPlan {
  readonly plan: 'narrowed' | 'parts'
  /** What is visible by its definition, or by itself. */
  readonly parts: readonly QueryPart[]
  /** What is visible by its process instance alone. */
  readonly instances: readonly QueryPart[]
  /** Rows of `parts` that the caller may not see: of counts they are taken off, of lists they are left out. */
  readonly hidden: readonly QueryPart[]
  /** What is counted beside the parts; null: nothing. */
  readonly rest: RestPlan | null
  /** Every row of a list's parts is visible, so that the engine's pages are the caller's. Of counts they always are. */
  readonly isExact: boolean
  /** How lists are merged; null: rows of several parts have no order that is known here. */
  readonly order: RowOrder | null
}

/** Rows that belong to no definition are what is in `all`, and in none of `parts` and `others`. */
export interface RestPlan {
  readonly all: readonly QueryPart[]
  /** Rows of all definitions that the caller may not see: to be called once `all` is counted, for definitions come and go. Null: there are too many. */
  readonly others: () => Promise<readonly QueryPart[] | null>
  /** Where there are any, they cannot be told from rows that the caller may not see. */
  readonly mustBeNone: boolean
}

/** The value of a row that it is sorted by. */
export interface RowOrder {
  readonly member: string
  readonly kind: 'id' | 'number' | 'time'
  readonly isDescending: boolean
}

export const FILTER = { plan: 'filter' } as const satisfies RowPlan

/** Made when it is needed: it may take requests to the engine. */
export type PlanRows = () => Promise<RowPlan>
