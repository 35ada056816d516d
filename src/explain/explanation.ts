import type { MissingPermission } from '../errors.ts'
import type { AuthorizationRecord } from '../operations/authorization-record.ts'
import type { OperationCheck } from '../operations/notation.ts'
import type { Strategy } from '../lists/list-plan.ts'

/**
 * The record that decided a permission check. Its type, subject and resource id identify it, because the engine stores no
 * two records with the same three.
 */
export interface DecidingRecord {
  /** The step, 1–12, as stepOf counts. */
  readonly step: number
  readonly permitted: boolean
  readonly level: 'user' | 'group' | 'global'
  /** The user id, the group id, or `*`. */
  readonly subject: string
  readonly type: AuthorizationRecord['type']
  readonly resourceId: string
  /** There is no record, but the caller's link to the task, or the ownership of the filter, implies a grant. */
  readonly implied: boolean
}

/** The items of a query that a user sees, and the reason. */
export interface ItemsExplanation {
  readonly sees: 'all items' | 'some items' | 'no items' | 'cannot be told exactly'
  /** How the items are requested. Null if every item is requested, or none can be. */
  readonly plan: Strategy | null
  /** The conditions that every item must meet. */
  readonly conditions: readonly { readonly anyOf: readonly ItemsPermission[] }[]
  /** Whether one record must meet all conditions, unless revocations count for the caller. */
  readonly oneRecord: boolean
  /** The items that every caller sees. */
  readonly exempt: string | null
  /** The caller's tenants. Items of other tenants are removed. Null if tenants restrict nothing. */
  readonly tenants: readonly string[] | null
  /** The number of tasks that links of the user or of the user's groups open. Null if links open nothing. */
  readonly linkedTasks: number | null
  /** The user who sees their own items without a record. Null if owners need a record, too. */
  readonly owner: string | null
}

/** A permission that makes an item visible. */
export interface ItemsPermission {
  readonly permission: string
  /** The name of the resource in the engine's messages. */
  readonly resource: string
  /** The record that decides about all ids. Null if there is no such record. */
  readonly record: DecidingRecord | null
  /** The first single ids with a grant. */
  readonly ids: readonly string[]
  readonly idCount: number
}

/** The reason why a request is permitted or refused, taken from the decision itself. */
export interface Explanation {
  /** In the order of the operation. */
  readonly checks: readonly CheckExplanation[]
  /** Null if the operation returns no items of its own. */
  readonly items: ItemsExplanation | null
  /** The missing permissions of all checks, not only of the first that refuses. */
  readonly missing: readonly MissingPermission[]
  /** The smallest set of records that would permit the user's request. */
  readonly grants: readonly AuthorizationRecord[]
  /** Whether the request is permitted with these records, found by deciding it again. Null if `grants` is empty. */
  readonly sufficient: boolean | null
  /** The refusal that remains if these records are added. Null if the request is permitted, or `grants` is empty. */
  readonly otherRefusal: OtherRefusal | null
}

/** A refusal that no record changes. */
export interface OtherRefusal {
  readonly status: number
  /** The `GW_…` code. Null for a response with the engine's message. */
  readonly error: string | null
  readonly reason: string
}

/** One run of a check. A check runs once, or once for each entity of its set. */
export interface CheckDecision {
  readonly outcome: string
  readonly permissions: readonly DecidedPermission[]
}

/** A checked permission, and the record that decided it. */
export interface DecidedPermission {
  readonly permission: string
  /** The name of the resource in the engine's messages. */
  readonly resource: string
  /** `*` for all ids. */
  readonly resourceId: string
  /** Null if no record decides it. */
  readonly record: DecidingRecord | null
}

export interface CheckExplanation {
  readonly check: number
  /** The check as the table defines it. */
  readonly requirement: OperationCheck
  readonly outcome: string
  readonly decisions: readonly CheckDecision[]
  /** The number of further decisions that are not listed. */
  readonly more: number
}
