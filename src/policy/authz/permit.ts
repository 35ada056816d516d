import type { EngineRefusal } from '../../errors.ts'
import type { Authorize, CheckItems } from './checks/decision-trace.ts'
import type { Principal } from '../../request/principal.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import type { MaybePromise } from '../../request/maybe-promise.ts'
import type { Operation } from '../../operations/table.ts'
import type { OperationPolicy } from './operation-policy.ts'

/** All decisions of the records about one operation. */
export interface Permit extends Authorize {
  readonly operation: Operation
  readonly policy: OperationPolicy
  /** Decides this operation for each item of a list. The items contain the data of the entity. */
  readonly checkItems: CheckItems
  /** The engine's response to a body whose queries find nothing. Null if the operation does not define it. */
  readonly emptyResponse: ((accessRequest: AccessRequest) => EngineRefusal) | null
  /** Removes links from a response. Null if the response has no links. */
  readonly keepAllowedLinks: ((body: Buffer, accessRequest: AccessRequest) => MaybePromise<Buffer>) | null
  /** Returns the response to `GET /authorization/check`, because an engine without authentication cannot give it. */
  readonly answerCheck: (accessRequest: AccessRequest) => Promise<unknown>
  /** Returns the tenants whose entities exist for a caller, besides entities without a tenant. Null if the entities of every tenant do. */
  readonly tenantsOf: (principal: Principal) => ReadonlySet<string> | null
}
