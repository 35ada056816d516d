import type { MissingPermission } from '../../../errors.ts'
import type { ResourceName } from '../../../operations/permissions.ts'
import { RESOURCES } from '../../../operations/permissions.ts'
import type { Records, Rights, Subjects } from './records.ts'
import type { AuthorizationRecord } from '../../../operations/authorization-record.ts'
import { indexRecords, NOBODY } from './records.ts'
import { resourceOfType } from '../../../operations/authorization-record.ts'
import { GRANT } from '../../../operations/authorization-record.ts'

/** A permission that could be granted on one id, or on all with `*`. */
export interface Grant {
  readonly resource: ResourceName
  readonly permission: string
  readonly resourceId: string
}

/** Alternative grants: one of them is sufficient. `weight` is the number of times that it was needed; default 1. */
export interface Requirement {
  readonly anyOf: readonly Grant[]
  readonly weight?: number
}

/**
 * Returns the needs for missing permissions. Missing permissions with the same number form one need. Permissions on a resource that the
 * engine does not have are left out.
 */
export function requirementsOf(missing: readonly MissingPermission[]): readonly Requirement[] {
  const requirements = new Map<number, Grant[]>()
  for (const { resource, permission, resourceId, need } of missing) {
    const name = RESOURCE_BY_NAME.get(resource)
    if (name === undefined) continue
    const grant = { resource: name, permission, resourceId }
    const anyOf = requirements.get(need)
    if (anyOf === undefined) requirements.set(need, [grant])
    else anyOf.push(grant)
  }
  return [...requirements.values()].map((anyOf) => ({ anyOf }))
}

const RESOURCE_BY_NAME: ReadonlyMap<string, ResourceName> = new Map(
  Object.values(RESOURCES).flatMap(({ id, name }) => {
    const resource = resourceOfType(id)
    return resource === null ? [] : [[name, resource]]
  }),
)

/**
 * Returns the fewest grants that meet every need, as far as a greedy search finds them. It first takes grants without an
 * alternative, then in each step the grant that meets most needs. Among equal grants it prefers one on an id that is chosen
 * already, because it adds no record, then the one that the engine checks first. `*` is used only if no single id is
 * sufficient.
 */
export function smallestGrants(requirements: readonly Requirement[]): readonly Grant[] {
  const chosen = new Map<string, Grant>()
  const open = requirements.map(({ anyOf, weight = 1 }) => ({ anyOf: narrowest(anyOf), weight }))
  const isMet = ({ anyOf }: Requirement): boolean =>
    anyOf.some(
      (grant) => chosen.has(grantKeyOf(grant)) || chosen.has(grantKeyOf({ ...grant, resourceId: '*' })),
    )
  for (const onlyAll of [true, false]) {
    const forced = open.filter(({ anyOf }) => anyOf.length === 1 && isOnAll(anyOf) === onlyAll)
    for (const requirement of forced)
      for (const grant of requirement.anyOf) if (!isMet(requirement)) chosen.set(grantKeyOf(grant), grant)
  }
  let left = open.filter((requirement) => requirement.anyOf.length > 0 && !isMet(requirement))
  while (left.length > 0) {
    const best = mostWanted(left, new Set([...chosen.values()].map(recordKeyOf)))
    chosen.set(grantKeyOf(best), best)
    left = left.filter((requirement) => !isMet(requirement))
  }
  return [...chosen.values()]
}

/** Returns the alternatives on single ids, or all alternatives if none is on a single id. */
function narrowest(anyOf: readonly Grant[]): readonly Grant[] {
  const single = anyOf.filter(({ resourceId }) => resourceId !== '*')
  return single.length > 0 ? single : anyOf
}

function isOnAll(anyOf: readonly Grant[]): boolean {
  return anyOf.every(({ resourceId }) => resourceId === '*')
}

interface Vote {
  readonly grant: Grant
  weight: number
}

/**
 * Returns the grant that meets most needs.
 * @param chosen the keys of the records that are needed in any case
 */
function mostWanted(requirements: readonly Required<Requirement>[], chosen: ReadonlySet<string>): Grant {
  const votes = new Map<string, Vote>()
  for (const { anyOf, weight } of requirements) {
    for (const grant of anyOf) {
      const vote = votes.get(grantKeyOf(grant))
      if (vote === undefined) votes.set(grantKeyOf(grant), { grant, weight })
      else vote.weight += weight
    }
  }
  const isBetter = (vote: Vote, best: Vote): boolean =>
    vote.weight === best.weight
      ? chosen.has(recordKeyOf(vote.grant)) && !chosen.has(recordKeyOf(best.grant))
      : vote.weight > best.weight
  return [...votes.values()].reduce((best, vote) => (isBetter(vote, best) ? vote : best)).grant
}

/** Returns the key of the record of a grant. Grants with the same key share a record. */
function recordKeyOf(grant: Grant): string {
  return grantKeyOf({ ...grant, permission: '' })
}

function grantKeyOf({ resource, permission, resourceId }: Grant): string {
  return `${resource}.${permission} ${resourceId}`
}

/** Returns the records for grants as an engine accepts them: one record for each resource id. */
export function recordsOfGrants(
  grants: readonly Grant[],
  subject: Pick<AuthorizationRecord, 'userId' | 'groupId'>,
): readonly AuthorizationRecord[] {
  const permissions = new Map<string, { readonly grant: Grant; readonly names: string[] }>()
  for (const grant of grants) {
    const key = recordKeyOf(grant)
    const record = permissions.get(key)
    if (record === undefined) permissions.set(key, { grant, names: [grant.permission] })
    else if (!record.names.includes(grant.permission)) record.names.push(grant.permission)
  }
  return [...permissions.values()].map(({ grant: { resource, resourceId }, names }) => ({
    type: GRANT,
    ...subject,
    resourceType: RESOURCES[resource].id,
    resourceId,
    permissions: names,
  }))
}

/** Returns the records with additional grants for one user, to test whether these are sufficient. */
export function withGrants(records: Records, userId: string, grants: readonly Grant[]): Records {
  const rights = new Map(records.rights)
  for (const [type, more] of indexRecords(recordsOfGrants(grants, { userId })).rights) {
    const byId = new Map(rights.get(type))
    for (const [id, { users }] of more) byId.set(id, joined(byId.get(id), userId, users.get(userId)))
    rights.set(type, byId)
  }
  return { ...records, rights }
}

function joined(known: Subjects | undefined, userId: string, more: Rights | undefined): Subjects {
  const { users, groups, global } = known ?? NOBODY
  const { granted = null, revoked = 0 } = users.get(userId) ?? {}
  const rights = { granted: (granted ?? 0) | (more?.granted ?? 0), revoked }
  return { users: new Map(users).set(userId, rights), groups, global }
}
