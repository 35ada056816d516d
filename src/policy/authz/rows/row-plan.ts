import type { DateFormat } from '../../../request/date-format.ts'
import type { AsPost, SortOrder } from '../../../operations/row-queries.ts'

/** What one request of a plan says beside the caller's query, or in the place of it: parameters of a query string, members of a body. */
export interface QueryPart {
  readonly set: QueryMembers
  /** Members that every row of this part has, where rows do not show them. */
  readonly known: Readonly<Record<string, string>>
  /** In the place of the caller's; absent: it stays. */
  readonly sort?: PartSort
  /** Rows of other tenants may be among them. */
  readonly isMixed?: true
  /** How many rows it has beside the other parts, in any unit: its process instances. */
  readonly weight?: number
}

export type QueryMembers = Readonly<Record<string, string | readonly string[] | true>>

export interface PartSort {
  readonly sortBy: string
  readonly sortOrder: SortOrder
}

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
  /** What is visible beside the parts; null: nothing. */
  readonly rest: RestPlan | null
  /** The parts of a GET are asked as POST. */
  readonly asPost: AsPost | null
  /** Every row of a list's parts is visible, so that the engine's pages are the caller's. Of counts they always are. */
  readonly isExact: boolean
  /** How lists are merged; null: rows of several parts have no order that is known here. */
  readonly order: RowOrder | null
}

/** Rows that everybody sees, for they lack a member. */
export interface RestPlan {
  /** All rows of the query, in the caller's tenants. */
  readonly all: readonly QueryPart[]
  /** The same, each in the orders that may begin with the rows that lack the member: by one of them they do, if there are any. */
  readonly sorted: readonly (readonly QueryPart[])[]
  readonly member: string
  /** Rows of other tenants may be among them. */
  readonly isMixed: boolean
}

/** The value of a row that it is sorted by. */
export type RowOrder = {
  readonly member: string
  readonly isDescending: boolean
} & ({ readonly kind: 'id' | 'number' } | { readonly kind: 'time'; readonly dateFormat: DateFormat })

export const FILTER = { plan: 'filter' } as const satisfies RowPlan

/** Made when it is needed: it may take requests to the engine. */
export interface PlanRows {
  (): Promise<RowPlan>
  /** Whether it first reads the ids of instances, which may be many. */
  readonly readsInstances: () => boolean
}
