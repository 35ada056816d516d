import type { EngineRefusal, GatewayError, MissingPermission } from '../../errors.ts'
import type { Authorize, CheckItems } from './checks/decision-trace.ts'
import type { Principal } from '../../request/principal.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import type { OtherForm } from '../../request/accept.ts'
import type { Operation } from '../../operations/table.ts'
import type { ListRow } from './entities/look-ups.ts'
import type { OperationPolicy } from './operation-policy.ts'
import type { Narrow } from './rows/narrow.ts'
import type { PlanRows } from './rows/row-plan.ts'

/** The decision about the items of a response. */
export type RowsDecision =
  | { readonly rows: 'all' }
  /** No item is visible. If `valid`, the query has been validated completely, so the engine need not check it. */
  | { readonly rows: 'none'; readonly valid: boolean }
  /** The query is rewritten to select the visible items, because the engine can do this exactly. */
  | {
      readonly rows: 'narrowed'
      readonly narrow: Narrow
      /** The tenants whose items the response may contain. Set if the engine may have tenants that the rewritten query cannot name. */
      readonly tenants?: ReadonlySet<string>
    }
  /** The items are counted again without those of other tenants. */
  | { readonly rows: 'recounted'; readonly tenants: ReadonlySet<string> }
  /** All items are read, and `keep` selects the visible ones. */
  | {
      readonly rows: 'filtered'
      readonly keep: KeepRows
      /** Avoids reading items that are not visible. Absent if the table defines no query for this. */
      readonly plan?: PlanRows
    }
  | { readonly rows: 'refused'; readonly refusal: GatewayError }

/** A decision that removes something from the response. */
export type Restriction = Exclude<RowsDecision, { readonly rows: 'all' | 'refused' }>

/** Returns for each item of a list whether the caller sees it. */
export type KeepRows = (template: string, rows: readonly ListRow[]) => Promise<readonly boolean[]>

/** Returns the permissions that would open the items of a list that the caller does not see. */
export type FindMissingRows = (
  template: string,
  rows: readonly ListRow[],
) => Promise<readonly MissingPermission[]>

/** All decisions of the records about one operation. */
export interface Permit extends Authorize {
  readonly operation: Operation
  readonly policy: OperationPolicy
  /** Decides this operation for each item of a list. The items contain the data of the entity. */
  readonly checkItems: CheckItems
  /** The engine's response to a body whose queries find nothing. Null if the operation does not define it. */
  readonly emptyAnswer: ((accessRequest: AccessRequest) => EngineRefusal) | null
  /** Removes links from a response. Null if the response has no links. */
  readonly keepAllowedLinks: ((body: Buffer, accessRequest: AccessRequest) => Buffer) | null
  /** Returns the response to `GET /authorization/check`, because an engine without authentication cannot give it. */
  readonly answerCheck: (accessRequest: AccessRequest) => Promise<unknown>
  /** Returns the tenants whose entities exist for a caller, besides entities without a tenant. Null if the entities of every tenant do. */
  readonly tenantsOf: (principal: Principal) => ReadonlySet<string> | null
  /**
   * Decides which items of a query, or of a response that embeds other entities, the caller sees. `other` is the form that
   * the engine would use instead of JSON. Null if the operation returns no items of its own.
   */
  readonly rows:
    | ((accessRequest: AccessRequest, other: OtherForm | false) => RowsDecision | Promise<RowsDecision>)
    | null
  /** Finds the permissions for a report. Null if the operation returns no items of its own. */
  readonly missingRows: ((accessRequest: AccessRequest) => FindMissingRows) | null
}
