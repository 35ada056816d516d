import type { FindCondition, FindTargets, IsOwn, LookUps } from '../entities/look-ups.ts'
import type { TenantsOfKey } from '../entities/tenants-of-key.ts'
import type { ImplicitGrants } from '../entities/implicit-bits.ts'
import type { Admins } from '../decision/admin.ts'
import type { Records } from '../records/records.ts'

export interface EvaluationOptions extends Admins {
  readonly records: () => Records
}

export interface AuthorizeOptions extends EvaluationOptions, LookUps {
  readonly findTargets: FindTargets
  readonly isOwn: IsOwn
  readonly tenantsOfKey: TenantsOfKey
  readonly findCondition: FindCondition
  /** Null if links to tasks grant nothing. */
  readonly implicitGrants: ImplicitGrants | null
  /** Whether users, groups and tenants are visible to themselves and their members without a record. */
  readonly impliesIdentity: boolean
  /** Whether the owner of a filter has all permissions on it without a record. Default: false. */
  readonly impliesFilters?: boolean
  /** The engine's `tenantCheckEnabled`. */
  readonly checksTenants: boolean
}
