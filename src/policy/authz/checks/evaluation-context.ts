import type { AccessRequest } from '../../../request/access-request.ts'
import type { Attributes } from '../../../request/attributes.ts'
import type { ImplicitBits } from '../entities/implicit-bits.ts'
import type { LoadedEntities } from '../entities/loaded-entities.ts'

/** The sources of the id in a permission check. */
export interface EvaluationContext {
  readonly accessRequest: AccessRequest
  readonly loaded: LoadedEntities
  readonly each: Attributes | null
  /** The id that an operation has just created. It is set only for checks after the engine's response. */
  readonly created: string | null
  /** The permissions that the caller's links to the task grant on it, or that its owner has on a filter. */
  readonly implicitGrants?: ImplicitBits
  /** Whether users, groups and tenants are visible to themselves and their members without a record. */
  readonly impliesIdentity: boolean
  /** Whether the owner of a filter has all permissions on it without a record. Default: false. */
  readonly impliesFilters?: boolean
}
