import type { Principal } from '../../../request/principal.ts'

/** The engine's administrators. */
export interface Admins {
  readonly adminGroups: readonly string[]
  readonly adminUsers: readonly string[]
}

export function isAdmin({ userId, groups }: Principal, { adminGroups, adminUsers }: Admins): boolean {
  return adminUsers.includes(userId) || groups.some((group) => adminGroups.includes(group))
}

/** Returns the caller's tenants. Null for admins, and for every caller if tenants are not checked: they see the entities of every tenant. */
export function tenantsFor(
  { principal }: { readonly principal: Principal },
  options: Admins & { readonly checksTenants: boolean },
): readonly string[] | null {
  return !options.checksTenants || isAdmin(principal, options) ? null : principal.tenants
}
