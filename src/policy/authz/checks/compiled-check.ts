import type {
  When,
  Each,
  Denied,
  NotFoundAnswer,
  OtherTenantAnswer,
  Exempt,
} from '../../../operations/notation.ts'
import type { PermissionCheck } from '../decision/permission-check.ts'
import type { Permission, Reference } from './compiled-permission.ts'

/** A row's check, taken apart once. */
export interface CompiledCheck {
  /** Its place in the row. */
  readonly index: number
  readonly permissions: readonly Permission[]
  /** Those that a grant on all surely reaches, asked for on all. */
  readonly onAll: readonly PermissionCheck[]
  readonly mode: 'any' | 'all'
  readonly admin: boolean
  readonly when: When | null
  readonly each: Each | null
  readonly denied: Denied
  readonly notFound: NotFoundAnswer | null
  readonly otherTenant: OtherTenantAnswer | null
  /** Found by a restricted query: an id that the entity lacks is asked for as `*`. */
  readonly isFound: boolean
  readonly exempt: Exempt | null
  /** Missing, it comes before a refusal. */
  readonly entity: Reference | null
  readonly after: boolean
  /** Asked for before the engine looks at what the body selects. */
  readonly isUnselected: boolean
}
