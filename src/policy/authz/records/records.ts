import {
  GLOBAL,
  resourceOfType,
  REVOKE,
  type AuthorizationRecord,
  type StoredRecord,
} from '../../../operations/authorization-record.ts'
import { ALL_BITS, bitOf } from '../../../operations/permissions.ts'
import type { Principal } from '../../../request/principal.ts'

/**
 * Whether REVOKE records, and the permissions that GLOBAL records lack, deny access. This is the engine's
 * `authorizationCheckRevokes`: `auto` (its default) is active for a caller that any REVOKE record of any resource names, by
 * user, `*` or group.
 */
export type RevokeMode = 'auto' | 'always' | 'never'

export interface RecordsOptions {
  /** Default: `auto`. */
  readonly revokes?: RevokeMode
  /** The engine's `disabledPermissions`, names without resource. Default: none. Danger: every caller passes a check of only these. */
  readonly disabledPermissions?: readonly string[]
}

/** The rights that one subject has on one resource id, as bits of the resource type. `granted` is null if no record grants. */
export interface Rights {
  readonly granted: number | null
  readonly revoked: number
}

/** The rights on one resource id, by subject. */
export interface Subjects {
  readonly users: ReadonlyMap<string, Rights>
  readonly groups: ReadonlyMap<string, Rights>
  readonly global: Rights | undefined
}

/** The empty map for ids that only one kind of subject has rights on. It is never modified. */
const NONE = new Map<string, Rights>()

/** The rights on an id that no record names. */
export const NOBODY: Subjects = { users: NONE, groups: NONE, global: undefined }

/** The ids in one subject's records, by resource type. */
export type NamedIds = ReadonlyMap<number, ReadonlySet<string>>

/**
 * The index of one engine's records: by resource type and id, then by subject. Regardless of the number of records, a
 * decision reads only those for the id and those for `*`, and looks them up for the caller and each group.
 */
export interface Records {
  readonly rights: ReadonlyMap<number, ReadonlyMap<string, Subjects>>
  readonly named: {
    readonly users: ReadonlyMap<string, NamedIds>
    readonly groups: ReadonlyMap<string, NamedIds>
    readonly global: NamedIds
  }
  readonly revokes: RevokeMode
  readonly revoking: { readonly users: ReadonlySet<string>; readonly groups: ReadonlySet<string> }
  readonly disabled: ReadonlySet<string>
}

interface WritableSubjects {
  users: Map<string, Rights>
  groups: Map<string, Rights>
  global: Rights | undefined
}

type WritableIds = Map<number, Set<string>>

interface Index {
  readonly rights: Map<number, Map<string, WritableSubjects>>
  readonly named: {
    readonly users: Map<string, WritableIds>
    readonly groups: Map<string, WritableIds>
    readonly global: WritableIds
  }
}

/**
 * Indexes records as an engine stores them. Names and resource types that this gateway does not know are not errors: they
 * grant nothing that it checks. A REVOKE record counts for the revoke mode, whatever it revokes and whatever its id is.
 */
export function indexRecords(list: Iterable<StoredRecord>, options: RecordsOptions = {}): Records {
  const { revokes = 'auto', disabledPermissions = [] } = options
  const index: Index = {
    rights: new Map(),
    named: { users: new Map(), groups: new Map(), global: new Map() },
  }
  const revoking = { users: new Set<string>(), groups: new Set<string>() }
  for (const record of list) {
    const { type, userId, groupId } = record
    if (isAboutSomething(record)) addRecord(index, record)
    if (type === REVOKE && typeof userId === 'string') revoking.users.add(userId)
    if (type === REVOKE && typeof groupId === 'string') revoking.groups.add(groupId)
  }
  return { ...index, revokes, revoking, disabled: new Set(disabledPermissions) }
}

/** Returns whether the revocation steps of a decision apply to this caller. */
export function usesRevokes({ revokes, revoking }: Records, { userId, groups }: Principal): boolean {
  if (revokes !== 'auto') return revokes === 'always'
  if (revoking.users.has(userId) || revoking.users.has('*')) return true
  return revoking.groups.size > 0 && groups.some((group) => revoking.groups.has(group))
}

/** Returns whether a record says less here than in its engine: it has no id, or contains a name that this gateway does not know. */
export function isPartlyRead({ resourceType, resourceId, permissions }: StoredRecord): boolean {
  const resource = resourceOfType(resourceType)
  if (resource === null || resourceId === null) return true
  return permissions.some((permission) => bitOf(resource, permission) === null)
}

function isAboutSomething(record: StoredRecord): record is AuthorizationRecord {
  return record.resourceId !== null
}

function addRecord({ rights, named }: Index, record: AuthorizationRecord): void {
  const { type, userId, groupId, resourceType, resourceId } = record
  const byId = rights.get(resourceType) ?? setIn(rights, resourceType, new Map<string, WritableSubjects>())
  const subjects =
    byId.get(resourceId) ?? setIn(byId, resourceId, { users: NONE, groups: NONE, global: undefined })
  if (type === GLOBAL) {
    subjects.global = added(subjects.global, record)
    nameIn(named.global, record)
  } else if (typeof userId === 'string') {
    subjects.users = withOne(subjects.users, userId, record)
    nameIn(named.users.get(userId) ?? setIn(named.users, userId, new Map()), record)
  } else if (typeof groupId === 'string') {
    subjects.groups = withOne(subjects.groups, groupId, record)
    nameIn(named.groups.get(groupId) ?? setIn(named.groups, groupId, new Map()), record)
  }
}

function withOne(
  map: Map<string, Rights>,
  subject: string,
  record: AuthorizationRecord,
): Map<string, Rights> {
  const own = map === NONE ? new Map<string, Rights>() : map
  return own.set(subject, added(own.get(subject), record))
}

function added(rights: Rights | undefined, record: AuthorizationRecord): Rights {
  const { granted, revoked } = rights ?? { granted: null, revoked: 0 }
  const bits = bitsOf(record)
  const { type } = record
  return {
    granted: type === REVOKE ? granted : (granted ?? 0) | bits,
    // A GLOBAL record revokes every permission that it does not grant (only in revoke mode, like any revocation).
    revoked: type === REVOKE ? revoked | bits : type === GLOBAL ? revoked | (ALL_BITS & ~bits) : revoked,
  }
}

function nameIn(named: WritableIds, { resourceType, resourceId }: AuthorizationRecord): void {
  const ids = named.get(resourceType) ?? setIn(named, resourceType, new Set())
  ids.add(resourceId)
}

function bitsOf({ resourceType, permissions }: AuthorizationRecord): number {
  const resource = resourceOfType(resourceType)
  if (resource === null) return 0
  return permissions.reduce((bits, permission) => bits | (bitOf(resource, permission) ?? 0), 0)
}

function setIn<K, V>(map: Map<K, V>, key: K, value: V): V {
  map.set(key, value)
  return value
}
