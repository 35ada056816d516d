import type { OperatorText, EngineRefusal } from '../../../errors.ts'
import type {
  DenialResponse,
  CheckTargetSet,
  EngineCondition,
  ExemptEntity,
} from '../../../operations/notation.ts'
import type { BodyReach } from '../../../operations/acts-on-key.ts'
import type { PermissionCheck } from '../decision/permission-check.ts'
import type { Permission, Reference } from './compiled-permission.ts'
import type { EvaluationContext } from './evaluation-context.ts'

/** The part of the context that a condition may read. */
export type Situation = Pick<EvaluationContext, 'accessRequest' | 'loaded' | 'each' | 'impliesFilters'>

/** A compiled `when`. */
export interface Condition {
  /** Whether the condition holds for a request. Null if only the engine knows, or the entity has not been looked up. */
  readonly holds: (situation: Situation) => boolean | null
  /** The condition that the engine must evaluate; null if there is no such condition. */
  readonly ofEngine: EngineCondition | null
  /** The condition reads only the body, so it can be decided before any entity is loaded. */
  readonly isOfBody: boolean
  /** The condition holds only for entities of another tenant. */
  readonly isOfTenant: boolean
  /** The members of the request that the condition compares. */
  readonly members: readonly ConditionMember[]
}

/** A member of the body, or a parameter of the query, that a condition compares. */
export interface ConditionMember {
  readonly from: 'body' | 'query'
  readonly name: string
  /** Whether the condition only holds if the request has a value for the member. */
  readonly isRequired: boolean
}

/** A compiled response of the engine. `reason` is written to the audit log only. */
export type Template = (context: EvaluationContext, reason?: OperatorText) => EngineRefusal

/** The engine's response for another tenant's entity. With `ignored` the engine does not check the tenant. */
export type CrossTenantTemplate = Template | 'ignored'

/** A compiled check of an operation. */
export interface CompiledCheck {
  /** The position of the check in its operation. */
  readonly index: number
  readonly permissions: readonly Permission[]
  /** The permissions that a grant on all ids certainly covers, as checks without an id. */
  readonly globalChecks: readonly PermissionCheck[]
  readonly mode: 'any' | 'all'
  /** The message of a refusal lists alternatives even if there is only one. */
  readonly listsAlternatives: boolean
  readonly admin: boolean
  /** Null if the check always applies. */
  readonly when: Condition | null
  /** The set that the check runs over; null if it runs once. */
  readonly each: CheckTargetSet | null
  /** The place of `each` in the request; null if `each` is not a list in the request. */
  readonly list: { readonly from: 'body' | 'query'; readonly name: string } | null
  /** If `each` finds nothing, the entity is missing and the request is refused with `notFound`. */
  readonly needsTarget: boolean
  readonly denied: DenialResponse
  /** Null if the operation does not define it. The gateway then refuses with GW_CHECK_NOT_EXACT. */
  readonly notFound: Template | null
  readonly crossTenant: CrossTenantTemplate | null
  /** The engine finds the entity by a restricted query. An id that the entity lacks is checked as `*`. */
  readonly isFound: boolean
  readonly exempt: ExemptEntity | null
  /** The entity that the engine loads before the check. If it is missing, the response is `notFound`, before any refusal. */
  readonly entity: Reference | null
  readonly after: boolean
  /** The engine checks it before it reads the entities that the body selects. */
  readonly isUnselected: boolean
}

/** An entity that the engine loads before it checks any permission. */
export interface RequiredEntity {
  readonly reference: Reference
  /** Null if the entity is always loaded. */
  readonly when: Condition | null
  readonly notFound: Template | null
  readonly crossTenant: CrossTenantTemplate | null
}

/** A compiled precondition of an operation. */
export interface CompiledPrecondition {
  readonly when: Condition
  readonly response: Template
  readonly afterPermission: boolean
}

/** The entities that the engine loads, and the conditions that it evaluates, before it checks any permission. */
export interface Preconditions {
  readonly entities: readonly RequiredEntity[]
  readonly responses: readonly CompiledPrecondition[]
  /** Whether the tenant of an entity, or of an entity to be created, may matter. */
  readonly isTenanted: boolean
  /** Whether some of them are evaluated only after the permission is granted. */
  readonly hasPostconditions: boolean
}

/** The compiled checks of one operation. */
export interface CompiledChecks {
  /** The checks that run before the request is sent to the engine, in the operation's order. */
  readonly before: readonly CompiledCheck[]
  /** The checks that run after the engine's response, in the operation's order. */
  readonly after: readonly CompiledCheck[]
  readonly preconditions: Preconditions
  /** The definitions that the operation changes if the body names them by key. Null if the body has no key. */
  readonly bodyReach: BodyReach | null
  /** The response to a body whose queries find nothing; null if the operation does not define it. */
  readonly empty: Template | null
}
