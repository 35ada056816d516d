import type { MissingPermission } from '../../../errors.ts'
import type { AuthorizationRecord } from '../../../operations/authorization-record.ts'
import type { Check } from '../../../operations/notation.ts'
import type { RowPlan } from '../rows/row-plan.ts'

/** The record that decided a permission check: type, subject and resource id name it, for the engine holds no two alike. */
export interface Deciding {
  /** 1–12, as stepOf counts them. */
  readonly step: number
  readonly permitted: boolean
  readonly level: 'user' | 'group' | 'global'
  /** The user id, the group id, or `*`. */
  readonly subject: string
  readonly type: AuthorizationRecord['type']
  readonly resourceId: string
  /** No record, but a grant that the caller's link to the task implies. */
  readonly implied: boolean
}

/** What of a query's rows somebody sees, and why. */
export interface RowsExplanation {
  readonly sees: 'all rows' | 'some rows' | 'no rows' | 'cannot be told exactly'
  /** How they are asked for; null: all of them are, or none can be. */
  readonly plan: RowPlan['plan'] | null
  /** Every row must meet each of these. */
  readonly conditions: readonly { readonly anyOf: readonly RowsPermission[] }[]
  /** One record has to meet all of them, unless revocations count for the caller. */
  readonly oneRecord: boolean
  /** Rows that everybody sees. */
  readonly exempt: string | null
  /** Rows of other tenants are left out; null: tenants make no difference. */
  readonly tenants: readonly string[] | null
  /** Tasks that links of the user, or of the groups, open; null: links make no difference. */
  readonly linkedTasks: number | null
}

/** A permission that a row may be seen by. */
export interface RowsPermission {
  readonly permission: string
  /** As the engine's messages name it. */
  readonly resource: string
  /** What decides about all of them; null: no record does. */
  readonly record: Deciding | null
  /** Single ids with a grant, the first of them. */
  readonly ids: readonly string[]
  readonly idCount: number
}

/** Why a request is permitted, or what stands in its way: the decision itself, looked at. */
export interface Explanation {
  /** In the row's order. */
  readonly checks: readonly CheckExplanation[]
  /** Null where the operation answers no rows of its own. */
  readonly rows: RowsExplanation | null
  /** Of all checks, not only of the first that refuses. */
  readonly missing: readonly MissingPermission[]
  /** The fewest records for the user that would be enough. */
  readonly grants: readonly AuthorizationRecord[]
  /** Whether the request has been decided with these records and was permitted; null: there are none. */
  readonly sufficient: boolean | null
  /** The refusal that remains when these records are added. Null: the request is permitted, or `grants` is empty. */
  readonly otherRefusal: OtherRefusal | null
}

/** A refusal that no record changes. */
export interface OtherRefusal {
  readonly status: number
  /** The `GW_…` code; null for a response in the engine's words. */
  readonly error: string | null
  readonly reason: string
}

/** A check runs once, or once for each of what it runs over. */
export interface CheckDecision {
  readonly verdict: string
  readonly atoms: readonly DecidedPermission[]
}

/** A permission that was asked for, and what decided about it. */
export interface DecidedPermission {
  readonly permission: string
  /** As the engine's messages name it. */
  readonly resource: string
  /** `*`: all of them. */
  readonly resourceId: string
  /** Null: no record speaks about it. */
  readonly record: Deciding | null
}

export interface CheckExplanation {
  readonly check: number
  /** As the table has it. */
  readonly row: Check
  readonly verdict: string
  readonly decisions: readonly CheckDecision[]
  /** Further decisions that are not listed. */
  readonly more: number
}
