import type { Principal } from '../../../request/principal.ts'

/** The engine's administrators. */
export interface Admins {
  readonly adminGroups: readonly string[]
  readonly adminUsers: readonly string[]
}

export function isAdmin({ userId, groups }: Principal, { adminGroups, adminUsers }: Admins): boolean {
  return adminUsers.includes(userId) || groups.some((group) => adminGroups.includes(group))
}
