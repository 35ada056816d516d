import type { ExemptEntity, ResponseForm } from '../../../operations/notation.ts'
import type { Prefilter } from '../../../operations/prefilters.ts'
import type { Records } from '../records/records.ts'
import type { ImplicitTasks } from '../entities/implicit-bits.ts'
import type { Principal } from '../../../request/principal.ts'
import type { Permission } from '../checks/compiled-permission.ts'

/** How much of a list the caller sees: everything, nothing, or the items that records, links and tenants name. */
export type Visibility = 'all' | 'none' | 'conditional'

/** The compiled restriction of the items in a response. */
export interface CompiledRestriction {
  readonly form: ResponseForm | 'list'
  /** The conditions that a visible item must meet. All of them must hold. */
  readonly conditions: readonly ItemCondition[]
  readonly exempt: ExemptEntity | null
  /** Whether only members of a tenant see its items. */
  readonly tenanted: boolean
  /** Selects the visible items by a query; null if all items are read and filtered. */
  readonly prefilter: CompiledPrefilter | null
  /** Whether links to tasks may open items that no record names. */
  readonly concernsTasks: boolean
  /** Whether items may be visible because they are the caller, or the caller's group or tenant. */
  readonly concernsIdentity: boolean
  /** Whether items may be visible because the caller is their owner. */
  readonly concernsFilters: boolean
  /** The restriction that replaces this one if a parameter of the query is true, or null. */
  readonly where: { readonly query: string; readonly restriction: CompiledRestriction } | null
}

/** The query for the visible items of a list, and the permissions that decide them. */
export interface CompiledPrefilter {
  readonly query: Prefilter
  readonly permissions: ItemPermissions
}

/** The permissions that decide items: on a key, with an optional instance before it or task after it. */
export interface ItemPermissions {
  /** The attribute of an item that contains the key. */
  readonly key: string
  readonly instance: Permission | null
  readonly task: Permission | null
  /** The numbers of the resource types whose records name keys or tasks. */
  readonly keyTypes: readonly number[]
}

/** A condition that a visible item must meet. */
export interface ItemCondition {
  readonly permissions: readonly Permission[]
  /** All permissions must be granted by one record; if revocations count, each is decided separately. Default: any of them is sufficient. */
  readonly together?: true
}

/** The facts about a caller that decide whether the caller sees an item. */
export interface ListSubject {
  readonly principal: Principal
  readonly records: Records
  /** The tenants whose items the caller sees, besides items without a tenant. Null if the caller sees the items of every tenant. */
  readonly tenants: ReadonlySet<string> | null
  /** The tasks that the caller's links open; null if links open nothing here. */
  readonly implicitGrants: ImplicitTasks | null
  /** Whether users, groups and tenants are visible to themselves and their members without a record. */
  readonly impliesIdentity: boolean
  /** Whether filters are visible to their owners without a record. Default: false. */
  readonly impliesFilters?: boolean
}
