import type { AccessRequest } from '../../../request/access-request.ts'
import type { Attributes } from '../../../request/attributes.ts'
import type { ImplicitBits } from '../entities/implicit-bits.ts'
import type { LoadedEntities } from '../entities/loaded-entities.ts'

/** Everything an atom's id may come from. */
export interface EvaluationContext {
  readonly accessRequest: AccessRequest
  readonly loaded: LoadedEntities
  readonly each: Attributes | null
  /** The id an operation has just created; only for checks that come after. */
  readonly created: string | null
  /** What the caller's links to the task grant on it. */
  readonly linked?: ImplicitBits
  /** Whether users, groups and tenants are open to themselves and their members. */
  readonly impliesIdentity: boolean
}
