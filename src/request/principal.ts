/** The caller, once proved: an engine's user with the groups and tenants that hold for this request. */
export interface Principal {
  readonly userId: string
  readonly groups: readonly string[]
  readonly tenants: readonly string[]
  /** How the caller was authenticated; absent: by Basic. `authenticationOf` reads it. */
  readonly authentication?: Authentication
}

/** How a caller was authenticated. All values are from the code and the configuration. */
export interface Authentication {
  readonly method: 'basic' | 'certificate' | 'oidc' | 'session'
  /** The issuer's name in the configuration; null: no issuer. */
  readonly issuer: string | null
}

const BASIC: Authentication = { method: 'basic', issuer: null }

/** For the lines about a request; null: nobody was authenticated. */
export function authenticationOf(principal: Principal | null): Authentication | null {
  return principal === null ? null : (principal.authentication ?? BASIC)
}

/** Who asks what is open without credentials. No credential is of a user without a name. */
export const ANONYMOUS: Principal = { userId: '', groups: [], tenants: [] }
