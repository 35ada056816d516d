import type { ResourceName } from '../../../operations/permissions.ts'
import { RESOURCES } from '../../../operations/permissions.ts'
import type { Principal } from '../../../request/principal.ts'
import { isAuthorized } from './decide.ts'
import type { Records } from '../records/records.ts'
import { usesRevokes } from '../records/records.ts'

/** One permission on all of a resource, for narrowing a query: an id in neither list has the answer of `any`. */
export interface GrantedIds {
  /** The decision on `*`; null when no record speaks about it. */
  readonly any: boolean | null
  /** Ids with records of their own whose decision is yes. */
  readonly ids: readonly string[]
  /** Ids with records of their own whose decision is no. */
  readonly revokedIds: readonly string[]
  /** Whether revocations count for this caller at all: without them `any` or `ids` opens, and nothing closes. */
  readonly hasRevokes: boolean
}

/** Costs one decision for each id that the caller's, the groups' and the global records name. */
export function grantedIds(
  records: Records,
  principal: Principal,
  { resource, permission }: { readonly resource: ResourceName; readonly permission: string },
): GrantedIds {
  const decide = (id: string) => isAuthorized(records, principal, { resource, permission, id })
  const ids: string[] = []
  const revokedIds: string[] = []
  for (const id of namedIds(records, principal, RESOURCES[resource].id)) {
    const answer = decide(id)
    if (answer === true) ids.push(id)
    if (answer === false) revokedIds.push(id)
  }
  return { any: decide('*'), ids, revokedIds, hasRevokes: usesRevokes(records, principal) }
}

/** Ids that the caller's, the groups' or the global records of one resource type name, without `*`. */
export function namedIds(
  { named }: Records,
  { userId, groups }: Principal,
  type: number,
): ReadonlySet<string> {
  const ids = new Set<string>()
  const subjects = [named.users.get(userId), ...groups.map((group) => named.groups.get(group)), named.global]
  for (const subject of subjects) for (const id of subject?.get(type) ?? []) ids.add(id)
  ids.delete('*')
  return ids
}
