import { RESOURCES, type ResourceName } from '../../../operations/permissions.ts'
import type { Principal } from '../../../request/principal.ts'
import { isAuthorized } from './decide.ts'
import type { Records } from '../records/records.ts'

/** The decisions about one permission on all ids of a resource, to narrow a query. `any` decides an id that is in neither list. */
export interface GrantedIds {
  /** The decision on `*`. Null if no record decides it. */
  readonly any: boolean | null
  /** The granted ids among those that records name. */
  readonly ids: readonly string[]
  /** The denied ids among those that records name. */
  readonly revokedIds: readonly string[]
}

/** Returns the granted and denied ids. Makes one decision for each id in the caller's, the groups' and the global records. */
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
  return { any: decide('*'), ids, revokedIds }
}

/** Returns the ids in the caller's, the groups' and the global records of one resource type, without `*`. */
export function namedIds(records: Records, principal: Principal, type: number): ReadonlySet<string> {
  const ids = new Set<string>()
  for (const named of namedBySubject(records, principal, type)) for (const id of named) ids.add(id)
  ids.delete('*')
  return ids
}

/** Yields `namedIds` without a copy, so that other work can run meanwhile. An id in the records of several subjects is repeated. */
export function* eachNamedId(records: Records, principal: Principal, type: number): Generator<string> {
  for (const named of namedBySubject(records, principal, type))
    for (const id of named) if (id !== '*') yield id
}

/** Returns whether one of `namedIds` passes a test. The first one is enough: a caller may have thousands. */
export function someNamedId(
  records: Records,
  principal: Principal,
  type: number,
  test: (id: string) => boolean,
): boolean {
  for (const named of namedBySubject(records, principal, type))
    for (const id of named) if (id !== '*' && test(id)) return true
  return false
}

function namedBySubject(
  { named }: Records,
  { userId, groups }: Principal,
  type: number,
): readonly Iterable<string>[] {
  const subjects = [named.users.get(userId), ...groups.map((group) => named.groups.get(group)), named.global]
  return subjects.flatMap((subject) => {
    const ids = subject?.get(type)
    return ids === undefined ? [] : [ids]
  })
}
