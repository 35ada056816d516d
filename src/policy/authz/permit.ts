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

/** What a row-restricted query may answer. */
export type RowsDecision =
  | { readonly rows: 'all' }
  /** Nothing. `valid`: the query has been checked whole, so the engine need not be asked whether it is one. */
  | { readonly rows: 'none'; readonly valid: boolean }
  /** Ask for those the caller sees: the engine can tell them by itself. */
  | {
      readonly rows: 'narrowed'
      readonly narrow: Narrow
      /** Whose rows the answer may hold, where the engine may know tenants that the narrowed query could not name. */
      readonly tenants?: ReadonlySet<string>
    }
  /** Counted without what is of other tenants. */
  | { readonly rows: 'recounted'; readonly tenants: ReadonlySet<string> }
  /** Read them all and keep those that `keep` says. */
  | {
      readonly rows: 'filtered'
      readonly keep: KeepRows
      /** How fewer of them are read; absent: the table does not say. */
      readonly plan?: PlanRows
    }
  | { readonly rows: 'refused'; readonly refusal: GatewayError }

/** A decision that leaves something out. */
export type Restriction = Exclude<RowsDecision, { readonly rows: 'all' | 'refused' }>

/** Which of these rows of this list the caller sees. */
export type KeepRows = (template: string, rows: readonly ListRow[]) => Promise<readonly boolean[]>

/** What would open the rows of this list that the caller does not see. */
export type FindMissingRows = (
  template: string,
  rows: readonly ListRow[],
) => Promise<readonly MissingPermission[]>

/** All that the records say about one operation. */
export interface Permit extends Authorize {
  readonly operation: Operation
  readonly policy: OperationPolicy
  /** Decides this operation for each item of a list whose items carry its data. */
  readonly checkItems: CheckItems
  /** The engine's answer to a body whose queries find nothing; null: the row does not say. */
  readonly emptyAnswer: ((accessRequest: AccessRequest) => EngineRefusal) | null
  /** Null where the answer offers no links. */
  readonly keepAllowedLinks: ((body: Buffer, accessRequest: AccessRequest) => Buffer) | null
  /** `GET /authorization/check`, which a bare engine cannot answer. */
  readonly answerCheck: (accessRequest: AccessRequest) => Promise<unknown>
  /** Whose entities are there for a caller, beside those of no tenant; null: every tenant's. */
  readonly tenantsOf: (principal: Principal) => ReadonlySet<string> | null
  /** For queries, and what embeds more than was asked for; null where the operation answers no rows of its own. `other`: what the engine would answer in the place of JSON. */
  readonly rows:
    | ((accessRequest: AccessRequest, other: OtherForm | false) => RowsDecision | Promise<RowsDecision>)
    | null
  /** For a report; null where the operation answers no rows of its own. */
  readonly missingRows: ((accessRequest: AccessRequest) => FindMissingRows) | null
}
