import type { Memberships } from '../files/groups-file.ts'
import { recordKeyOf } from '../files/records-file.ts'
import { type AuthorizationRecord, REVOKE, resourceOfType } from '../operations/authorization-record.ts'
import { bitOf } from '../operations/permissions.ts'
import type { EngineRequest } from '../request/engine-request.ts'
import type { EngineIdentities, IdentifiedRecord } from './engine-content.ts'
import { membershipsIn } from './exported-users.ts'
import { describeRecord } from './exported-records.ts'

/** One write of an import. */
export interface ImportStep {
  readonly kind: 'create' | 'change' | 'remove'
  /** `grant user mary TASK 17 READ` */
  readonly what: string
  readonly request: Pick<EngineRequest, 'method' | 'path' | 'body'>
}

export interface ImportOptions {
  /** Whether records and memberships that the file does not contain are removed from the engine. */
  readonly remove: boolean
}

/**
 * Returns the writes after which the engine has the records of a file. Revocations are extended first, and reduced last, so that no
 * caller has more permissions in between than before or after. A revocation that changes in both directions is written twice.
 */
export function planRecords(
  wanted: readonly AuthorizationRecord[],
  stored: readonly IdentifiedRecord[],
  { remove }: ImportOptions,
): readonly ImportStep[] {
  const unused = new Map(stored.map((record) => [record.id, record]))
  const byKey = new Map(stored.map((record) => [recordKeyOf(record), record]))
  const writes = wanted.flatMap((record): readonly RecordWrite[] => {
    const found = byKey.get(recordKeyOf(record))
    if (found === undefined)
      return [{ turn: record.type === REVOKE ? 'first' : 'write', step: createStep(record) }]
    unused.delete(found.id)
    return changesOf(found, record)
  })
  const removals = [...(remove ? unused.values() : [])].map(
    (record): RecordWrite => ({
      turn: record.type === REVOKE ? 'last' : 'remove',
      step: removeStep(record),
    }),
  )
  const all = [...writes, ...removals]
  return TURNS.flatMap((turn) => all.filter((write) => write.turn === turn)).map(({ step }) => step)
}

/** The order of the writes. `first` extends revocations, and `last` reduces them. */
const TURNS = ['first', 'write', 'remove', 'last'] as const

interface RecordWrite {
  readonly turn: (typeof TURNS)[number]
  readonly step: ImportStep
}

/** Returns the writes that change a record. */
function changesOf(found: IdentifiedRecord, record: AuthorizationRecord): readonly RecordWrite[] {
  const [before, after] = [permissionBits(found), permissionBits(record)]
  if (before === after) return []
  if (record.type !== REVOKE) return [{ turn: 'write', step: changeStep(found, record) }]
  const isExtended = (after & ~before) !== 0
  const isReduced = (before & ~after) !== 0
  if (!isReduced) return [{ turn: 'first', step: changeStep(found, record) }]
  if (!isExtended) return [{ turn: 'last', step: changeStep(found, record) }]
  const both = { ...found, permissions: [...new Set([...found.permissions, ...record.permissions])] }
  return [
    { turn: 'first', step: changeStep(found, { ...record, permissions: both.permissions }) },
    { turn: 'last', step: changeStep(both, record) },
  ]
}

/** Returns the permissions of a record as bits. Names that are not known here count as no permission. */
function permissionBits({
  resourceType,
  permissions,
}: Pick<IdentifiedRecord, 'resourceType' | 'permissions'>): number {
  const resource = resourceOfType(resourceType)
  if (resource === null) return 0
  return permissions.reduce((bits, name) => bits | (bitOf(resource, name) ?? 0), 0)
}

function createStep(record: AuthorizationRecord): ImportStep {
  const body = { type: record.type, ...bodyOf(record) }
  return {
    kind: 'create',
    what: describeRecord(record),
    request: { method: 'POST', path: '/authorization/create', body },
  }
}

function changeStep(found: IdentifiedRecord, record: AuthorizationRecord): ImportStep {
  return {
    kind: 'change',
    what: `${describeRecord(record)} (before: ${found.permissions.join(',')})`,
    request: { method: 'PUT', path: recordPath(found), body: bodyOf(record) },
  }
}

function removeStep(record: IdentifiedRecord): ImportStep {
  return {
    kind: 'remove',
    what: describeRecord(record),
    request: { method: 'DELETE', path: recordPath(record) },
  }
}

function recordPath({ id }: IdentifiedRecord): string {
  return `/authorization/${encodeURIComponent(id)}`
}

function bodyOf({
  permissions,
  userId,
  groupId,
  resourceType,
  resourceId,
  type,
}: AuthorizationRecord): object {
  const user = type === 0 ? '*' : (userId ?? null)
  return { permissions, userId: user, groupId: groupId ?? null, resourceType, resourceId }
}

/** The writes for groups and tenants, and the users that the engine does not have. */
export interface MembershipPlan {
  readonly steps: readonly ImportStep[]
  readonly missingUsers: readonly string[]
}

/**
 * Returns the writes after which the users of an engine have the groups and tenants of a file. Users are not created, because a user
 * needs a password. Groups and tenants are never removed, only memberships, also those of users that the file does not contain. A
 * tenant that a user has by a group is not removed.
 */
export function planMemberships(
  wanted: readonly Memberships[],
  identities: EngineIdentities,
  { remove }: ImportOptions,
): MembershipPlan {
  const current = new Map(membershipsIn(identities).map((user) => [user.id, user]))
  const named = new Set(wanted.map(({ id }) => id))
  const others = [...current.keys()].filter((id) => !named.has(id))
  const existing = [
    ...wanted.filter(({ id }) => current.has(id)),
    ...others.map((id) => ({ id, groups: [], tenants: [] })),
  ]
  const steps = KINDS.flatMap((kind) => {
    const members = new Map(kind.membersIn(identities))
    const needed = new Set(existing.flatMap((user) => user[kind.list]))
    const created = [...needed].filter((id) => !members.has(id)).map((id) => createEntityStep(kind, id))
    const changed = existing.flatMap((user) => {
      const before = new Set(current.get(user.id)?.[kind.list])
      const after = new Set(user[kind.list])
      const added = [...after].filter((id) => !before.has(id))
      const removed = [...before].filter(
        (id) => !after.has(id) && members.get(id)?.includes(user.id) === true,
      )
      return [
        ...added.map((id) => memberStep('create', kind, [id, user.id])),
        ...(remove ? removed : []).map((id) => memberStep('remove', kind, [id, user.id])),
      ]
    })
    return [...created, ...changed]
  })
  return { steps, missingUsers: wanted.filter(({ id }) => !current.has(id)).map(({ id }) => id) }
}

interface EntityKind {
  readonly list: 'groups' | 'tenants'
  readonly name: 'group' | 'tenant'
  /** The segment of the path to a member. */
  readonly members: 'members' | 'user-members'
  /** Returns the users that are direct members, by the id of the entity. */
  readonly membersIn: (identities: EngineIdentities) => readonly (readonly [string, readonly string[]])[]
}

const KINDS: readonly EntityKind[] = [
  {
    list: 'groups',
    name: 'group',
    members: 'members',
    membersIn: ({ groups }) => groups.map(({ id, members }) => [id, members]),
  },
  {
    list: 'tenants',
    name: 'tenant',
    members: 'user-members',
    membersIn: ({ tenants }) => tenants.map(({ id, users }) => [id, users]),
  },
]

function createEntityStep({ name }: EntityKind, id: string): ImportStep {
  return {
    kind: 'create',
    what: `${name} ${id}`,
    request: { method: 'POST', path: `/${name}/create`, body: { id, name: id } },
  }
}

function memberStep(
  kind: 'create' | 'remove',
  { name, members }: EntityKind,
  [id, user]: readonly [entity: string, user: string],
): ImportStep {
  return {
    kind,
    what: `membership of user ${user} in ${name} ${id}`,
    request: {
      method: kind === 'create' ? 'PUT' : 'DELETE',
      path: `/${name}/${encodeURIComponent(id)}/${members}/${encodeURIComponent(user)}`,
      // The engine requires the content type of JSON.
      ...(kind === 'create' && { body: {} }),
    },
  }
}
