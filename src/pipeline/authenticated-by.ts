import { ANONYMOUS, authenticationOf, type Principal } from '../request/principal.ts'

/**
 * Returns how a caller was authenticated, with the name of the issuer in the configuration: `oidc keycloak`. Returns `none` for an
 * unauthenticated caller.
 */
export function authenticatedBy(principal: Principal | null): string {
  const authentication = principal === ANONYMOUS ? null : authenticationOf(principal)
  if (authentication === null) return 'none'
  const { method, issuer } = authentication
  return issuer === null ? method : `${method} ${issuer}`
}
