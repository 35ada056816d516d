import type { LookUps, FindTargets, IsOwn } from '../entities/look-ups.ts'
import type { ImplicitGrants } from '../entities/implicit-bits.ts'
import type { FindCondition } from '../entities/engine-condition.ts'
import type { Admins } from '../decision/admin.ts'
import type { Records } from '../records/records.ts'
import type { AccessRequest } from '../../../request/access-request.ts'
import type { MaybePromise } from '../../../request/maybe-promise.ts'
import type { TraceDecision } from './decision-trace.ts'
import type { Decision } from './decision.ts'

export interface EvaluationOptions extends Admins {
  readonly records: () => Records
}

export interface AuthorizeOptions extends EvaluationOptions, LookUps {
  readonly findTargets: FindTargets
  readonly isOwn: IsOwn
  readonly findCondition: FindCondition
  /** Null: links to tasks grant nothing. */
  readonly implicitGrants: ImplicitGrants | null
  /** Whether users, groups and tenants are open to themselves and their members. */
  readonly impliesIdentity: boolean
  /** As the engine's `tenantCheckEnabled`. */
  readonly checksTenants: boolean
}

/** The checks of one operation, ready to be asked. */
export interface Authorize {
  /** Before the engine is asked. Without look-ups the answer comes at once. @throws GatewayError when a look-up fails */
  readonly before: (accessRequest: AccessRequest, trace?: TraceDecision) => MaybePromise<Decision>
  /** After the engine has answered; null: this operation has no such check. */
  readonly after: ((accessRequest: AccessRequest, created: string, trace?: TraceDecision) => Decision) | null
}
