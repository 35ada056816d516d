import type { EngineRefusal } from '../../../errors.ts'
import type { Denied, Each, EngineCondition, Exempt } from '../../../operations/notation.ts'
import type { BodyReach } from '../../../operations/acts-on.ts'
import type { PermissionCheck } from '../decision/permission-check.ts'
import type { Permission, Reference } from './compiled-permission.ts'
import type { EvaluationContext } from './evaluation-context.ts'

/** What a condition may look at. */
export type Situation = Pick<EvaluationContext, 'accessRequest' | 'loaded' | 'each'>

/** A compiled `when`. */
export interface Condition {
  /** Whether it holds for a request; null: only the engine knows, or the entity has not been looked up. */
  readonly holds: (situation: Situation) => boolean | null
  /** What the engine must be asked about; null: nothing. */
  readonly ofEngine: EngineCondition | null
  /** Reads the body alone, so it can be decided before any entity is loaded. */
  readonly isOfBody: boolean
  /** Holds only for what belongs to another tenant. */
  readonly isOfTenant: boolean
}

/** A compiled answer of the engine. `reason` goes to the audit log only. */
export type Template = (context: EvaluationContext, reason?: string) => EngineRefusal

/** What the engine answers for another tenant's entity; `ignored`: it does not look at the tenant. */
export type OtherTenantTemplate = Template | 'ignored'

/** A compiled check of a row. */
export interface CompiledCheck {
  /** Its place in the row. */
  readonly index: number
  readonly permissions: readonly Permission[]
  /** Those that a grant on all surely reaches, asked for on all. */
  readonly onAll: readonly PermissionCheck[]
  readonly mode: 'any' | 'all'
  /** The message of a refusal lists alternatives even if there is only one. */
  readonly listsAlternatives: boolean
  readonly admin: boolean
  /** Null: it always applies. */
  readonly when: Condition | null
  /** What the check runs over; null: it runs once. */
  readonly each: Each | null
  /** Where `each` is a list in the request; null: it is not. */
  readonly list: { readonly from: 'body' | 'query'; readonly name: string } | null
  /** If `each` finds nothing, the entity is missing and the request is refused with `notFound`. */
  readonly needsTarget: boolean
  readonly denied: Denied
  /** Null: the row does not say, and the gateway refuses with GW_CHECK_NOT_EXACT. */
  readonly notFound: Template | null
  readonly otherTenant: OtherTenantTemplate | null
  /** Found by a restricted query: an id that the entity lacks is asked for as `*`. */
  readonly isFound: boolean
  readonly exempt: Exempt | null
  /** Loaded before the check. If it is missing, `notFound` comes before a refusal. */
  readonly entity: Reference | null
  readonly after: boolean
  /** Asked for before the engine looks at what the body selects. */
  readonly isUnselected: boolean
}

/** An entity that the engine loads before it asks for any permission. */
export interface RequiredEntity {
  readonly reference: Reference
  /** Null: it is always loaded. */
  readonly when: Condition | null
  readonly notFound: Template | null
  readonly otherTenant: OtherTenantTemplate | null
}

/** A compiled precondition of a row. */
export interface CompiledPrecondition {
  readonly when: Condition
  readonly answer: Template
  readonly afterPermission: boolean
}

/** What the engine loads and looks at before it asks for any permission. */
export interface Preconditions {
  readonly entities: readonly RequiredEntity[]
  readonly answers: readonly CompiledPrecondition[]
  /** Whether a tenant may be concerned: of an entity, or of what is to be made. */
  readonly isTenanted: boolean
  /** Whether some of it is looked at only once permission is granted. */
  readonly hasPostconditions: boolean
}

/** The compiled checks of one row. */
export interface CompiledChecks {
  /** Asked before the request goes to the engine, in the row's order. */
  readonly before: readonly CompiledCheck[]
  /** Asked after the engine has answered, in the row's order. */
  readonly after: readonly CompiledCheck[]
  readonly preconditions: Preconditions
  /** The definitions of the body's key that the operation changes. Null: the body names none by a key. */
  readonly bodyReach: BodyReach | null
  /** The answer to a body whose queries find nothing; null: the row does not say. */
  readonly empty: Template | null
}
