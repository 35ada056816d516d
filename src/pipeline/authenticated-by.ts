import { ANONYMOUS, authenticationOf, type Principal } from '../request/principal.ts'

/** How a caller has proved who it is, with the name of the issuer in the configuration: `oidc keycloak`; `none`: not at all. */
export function authenticatedBy(principal: Principal | null): string {
  const authentication = principal === ANONYMOUS ? null : authenticationOf(principal)
  if (authentication === null) return 'none'
  const { method, issuer } = authentication
  return issuer === null ? method : `${method} ${issuer}`
}
