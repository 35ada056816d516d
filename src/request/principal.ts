import type { TokenClaims } from './claims.ts'

/** An authenticated caller: a user of the engine with the groups and tenants for this request. */
export interface Principal {
  readonly userId: string
  readonly groups: readonly string[]
  readonly tenants: readonly string[]
  /** How the caller was authenticated. Absent for Basic. `authenticationOf` reads it. */
  readonly authentication?: Authentication
  /** The claims of the token that the ceilings need. Absent without a token, or if the ceilings need none. */
  readonly claims?: TokenClaims
}

/** How a caller was authenticated. All values come from the code and the configuration. */
export interface Authentication {
  readonly method: 'basic' | 'certificate' | 'oidc' | 'session'
  /** The name of the issuer in the configuration. Null without an issuer. */
  readonly issuer: string | null
}

const BASIC: Authentication = { method: 'basic', issuer: null }

/** Returns how a caller was authenticated, for the log lines of a request. Null without an authenticated caller. */
export function authenticationOf(principal: Principal | null): Authentication | null {
  return principal === null ? null : (principal.authentication ?? BASIC)
}

/** The caller of a request without credentials. No credential belongs to a user with an empty name. */
export const ANONYMOUS: Principal = { userId: '', groups: [], tenants: [] }
