import type { Principal } from '../request/principal.ts'
import type { AuthorizeOptions } from '../policy/authz/checks/authorize-options.ts'
import type { Records } from '../policy/authz/records/records.ts'

/** A caller with the policy that decides about them. */
export interface PermitSubject
  extends Pick<
    AuthorizeOptions,
    'adminGroups' | 'adminUsers' | 'checksTenants' | 'impliesIdentity' | 'impliesFilters'
  > {
  readonly principal: Principal
  readonly records: Records
  /** The bits that a link to a task grants on it. Zero if links grant nothing. */
  readonly linkBits: number
  /** Whether the engine has cases. Every caller may work on their tasks. */
  readonly hasCases: boolean
}
