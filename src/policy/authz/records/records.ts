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
 * When REVOKE records, and GLOBAL records that lack a permission, say no. The engine's `authorizationCheckRevokes`:
 * `auto` (its default) is on for a caller whom any REVOKE record of any resource names, by user, `*` or group.
 */
export type RevokeMode = 'auto' | 'always' | 'never'

export interface RecordsOptions {
  /** Default `auto`. */
  readonly revokes?: RevokeMode
  /** The engine's `disabledPermissions`, names without resource; default none. Danger: a check of only these passes for everybody. */
  readonly disabledPermissions?: readonly string[]
}

/** What one subject's records say about one resource id; bits of the resource type. `granted` null: no record that grants. */
export interface Rights {
  readonly granted: number | null
  readonly revoked: number
}

/** What the records say about one resource id, by subject. */
export interface Subjects {
  readonly users: ReadonlyMap<string, Rights>
  readonly groups: ReadonlyMap<string, Rights>
  readonly global: Rights | undefined
}

/** Of the ids that are named by one kind of subject alone; nothing is ever put in. */
const NONE = new Map<string, Rights>()

/** Of an id that no record names. */
export const NOBODY: Subjects = { users: NONE, groups: NONE, global: undefined }

/** The ids that one subject's records name, by resource type. */
export type NamedIds = ReadonlyMap<number, ReadonlySet<string>>

/**
 * The records of one engine, indexed. By resource type and id, then by subject: however many records there are, a
 * decision finds those for the id and those for `*`, and looks only there for the caller and each group.
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
 * Indexes records as an engine holds them. Names and resource types this gateway does not know are no error: they
 * grant nothing it asks about, and a REVOKE record counts for the revoke mode whatever it revokes, and of which id.
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

/** Whether the revoking steps of a decision are taken for this caller. */
export function usesRevokes({ revokes, revoking }: Records, { userId, groups }: Principal): boolean {
  if (revokes !== 'auto') return revokes === 'always'
  if (revoking.users.has(userId) || revoking.users.has('*')) return true
  return revoking.groups.size > 0 && groups.some((group) => revoking.groups.has(group))
}

/** Whether a record says less here than its engine wrote: it is about no id, or names what this gateway does not know. */
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
    // What a GLOBAL record does not grant, it revokes (only in revoke mode, like any revocation).
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
