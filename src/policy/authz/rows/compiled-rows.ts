import type { Exempt, RowsForm } from '../../../operations/notation.ts'
import type { RowQuery } from '../../../operations/row-queries.ts'
import type { Records } from '../records/records.ts'
import type { ImplicitTasks } from '../entities/implicit-bits.ts'
import type { Principal } from '../../../request/principal.ts'
import type { Permission } from '../checks/compiled-permission.ts'

/** The compiled restriction of an answer's rows. */
export interface CompiledRows {
  readonly form: RowsForm | 'list'
  /** Every one of these must hold for a visible row. */
  readonly conditions: readonly RowCondition[]
  readonly exempt: Exempt | null
  /** Rows of a tenant are for its members. */
  readonly tenanted: boolean
  /** How visible rows are asked for; null: rows are read and filtered. */
  readonly query: RowQuery | null
  /** The restriction in the place of this one, where a parameter of the query is true; null: there is none. */
  readonly where: { readonly query: string; readonly rows: CompiledRows } | null
}

/** What a visible row must meet. */
export interface RowCondition {
  readonly permissions: readonly Permission[]
  /** All of them, in one record; where revocations count, each by itself. Default: any of them. */
  readonly together?: true
}

/** How much of a query's answer the caller may see: everything, nothing, or rows that the records name. */
export type Scope = 'all' | 'none' | 'some'

/** What each row is compared with for a caller. */
export interface Viewer {
  readonly principal: Principal
  readonly records: Records
  /** Whose rows the caller sees beside those of no tenant; null: every tenant's. */
  readonly tenants: ReadonlySet<string> | null
  /** Tasks that the caller's links open; null: links open nothing here. */
  readonly implicitGrants: ImplicitTasks | null
  /** Whether users, groups and tenants are open to themselves and their members. */
  readonly impliesIdentity: boolean
}
