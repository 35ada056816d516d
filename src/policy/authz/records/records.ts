import {
  GLOBAL,
  resourceOfType,
  REVOKE,
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
 * The index of a list of records: by resource type and id, then by subject. Regardless of the number of records, a
 * decision reads only those for the id and those for `*`, and looks them up for the caller and each group.
 */
export interface RecordIndex {
  readonly rights: ReadonlyMap<number, ReadonlyMap<string, Subjects>>
  readonly named: {
    readonly users: ReadonlyMap<string, NamedIds>
    readonly groups: ReadonlyMap<string, NamedIds>
    readonly global: NamedIds
  }
  readonly revoking: { readonly users: ReadonlySet<string>; readonly groups: ReadonlySet<string> }
}

/** The index of one engine's records, with the settings that decide how they are read. */
export interface Records extends RecordIndex {
  readonly revokes: RevokeMode
  readonly disabled: ReadonlySet<string>
}

/** The members of a record that decisions use. Its permissions are bits of the resource type. */
export interface RecordEntry {
  readonly type: StoredRecord['type']
  readonly userId: string | null
  readonly groupId: string | null
  readonly resourceType: number
  readonly resourceId: string | null
  readonly bits: number
}

/** The subjects of an id that has more than one record. */
interface WritableSubjects {
  readonly users: Map<string, Rights>
  readonly groups: Map<string, Rights>
  global: Rights | undefined
}

type WritableIds = Map<number, Set<string>>

/** An index to which records can be added. */
interface WritableIndex {
  readonly rights: Map<number, Map<string, Subjects>>
  readonly named: {
    readonly users: Map<string, WritableIds>
    readonly groups: Map<string, WritableIds>
    readonly global: WritableIds
  }
  readonly revoking: { readonly users: Set<string>; readonly groups: Set<string> }
  /**
   * The subjects of ids with one record, by subject and rights. Most ids have one record, and many ids share the same subjects. This
   * halves the memory of the index: a map for one user needs 180 bytes.
   */
  readonly shared: {
    readonly users: SharedSubjects
    readonly groups: SharedSubjects
    readonly global: SharedSubjects
  }
  /** The subjects of ids with more than one record. All others are shared, and never modified. */
  readonly own: Map<Subjects, WritableSubjects>
}

type SharedSubjects = Map<string, Map<number, Subjects>>

/**
 * Indexes records as an engine stores them. Names and resource types that this gateway does not know are not errors: they
 * grant nothing that it checks. A REVOKE record counts for the revoke mode, whatever it revokes and whatever its id is.
 */
export function indexRecords(list: Iterable<StoredRecord>, options: RecordsOptions = {}): Records {
  const index = emptyIndex()
  for (const record of list) addEntry(index, entryOf(record))
  return withOptions(index, options)
}

/** Adds the settings of an engine. Engines that share a list of records share its index, too. */
export function withOptions(
  { rights, named, revoking }: RecordIndex,
  { revokes = 'auto', disabledPermissions = [] }: RecordsOptions,
): Records {
  return { rights, named, revoking, revokes, disabled: new Set(disabledPermissions) }
}

export function emptyIndex(): WritableIndex {
  return {
    rights: new Map(),
    named: { users: new Map(), groups: new Map(), global: new Map() },
    revoking: { users: new Set(), groups: new Set() },
    shared: { users: new Map(), groups: new Map(), global: new Map() },
    own: new Map(),
  }
}

export function addEntry(index: WritableIndex, entry: RecordEntry): void {
  const { type, userId, groupId, resourceId } = entry
  const { revoking } = index
  if (resourceId !== null) addRights(index, { ...entry, resourceId })
  if (type === REVOKE && userId !== null) revoking.users.add(userId)
  if (type === REVOKE && groupId !== null) revoking.groups.add(groupId)
}

/** Returns the part of a record that is indexed. */
export function entryOf(record: StoredRecord): RecordEntry {
  const { type, userId, groupId, resourceType, resourceId } = record
  return {
    type,
    userId: userId ?? null,
    groupId: groupId ?? null,
    resourceType,
    resourceId,
    bits: bitsOf(record),
  }
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

interface ResourceEntry extends RecordEntry {
  readonly resourceId: string
}

function addRights(index: WritableIndex, entry: ResourceEntry): void {
  const { rights, named } = index
  const { type, userId, groupId, resourceType, resourceId } = entry
  const byId = rights.get(resourceType) ?? setIn(rights, resourceType, new Map<string, Subjects>())
  const known = byId.get(resourceId)
  if (known === undefined) byId.set(resourceId, sharedSubjects(index, entry))
  else addTo(index.own.get(known) ?? ownSubjects(index, byId, { resourceId, known }), entry)
  if (type === GLOBAL) nameIn(named.global, entry)
  else if (userId !== null) nameIn(named.users.get(userId) ?? setIn(named.users, userId, new Map()), entry)
  else if (groupId !== null)
    nameIn(named.groups.get(groupId) ?? setIn(named.groups, groupId, new Map()), entry)
}

/** Returns the subjects of an id that has no other record than this one. */
function sharedSubjects({ shared: { users, groups, global } }: WritableIndex, entry: RecordEntry): Subjects {
  const { type, userId, groupId, bits } = entry
  const subject = type === GLOBAL ? '*' : (userId ?? groupId)
  if (subject === null) return NOBODY
  const of = type === GLOBAL ? global : userId !== null ? users : groups
  const byRights = of.get(subject) ?? setIn(of, subject, new Map<number, Subjects>())
  // `bits` has 31 bits, so the keys of the three types differ.
  const key = bits * 3 + type
  return byRights.get(key) ?? setIn(byRights, key, subjectsOfOne(entry))
}

function subjectsOfOne(entry: RecordEntry): Subjects {
  const subjects: WritableSubjects = { users: new Map(), groups: new Map(), global: undefined }
  addTo(subjects, entry)
  const { users, groups, global } = subjects
  return { users: users.size === 0 ? NONE : users, groups: groups.size === 0 ? NONE : groups, global }
}

/** Replaces shared subjects of an id by a copy to which a record can be added. */
function ownSubjects(
  { own }: WritableIndex,
  byId: Map<string, Subjects>,
  { resourceId, known }: { readonly resourceId: string; readonly known: Subjects },
): WritableSubjects {
  const { users, groups, global } = known
  const copy = { users: new Map(users), groups: new Map(groups), global }
  byId.set(resourceId, copy)
  own.set(copy, copy)
  return copy
}

function addTo(subjects: WritableSubjects, entry: RecordEntry): void {
  const { type, userId, groupId } = entry
  const { users, groups, global } = subjects
  if (type === GLOBAL) subjects.global = added(global, entry)
  else if (userId !== null) users.set(userId, added(users.get(userId), entry))
  else if (groupId !== null) groups.set(groupId, added(groups.get(groupId), entry))
}

function added(rights: Rights | undefined, { type, bits }: RecordEntry): Rights {
  const { granted, revoked } = rights ?? { granted: null, revoked: 0 }
  return {
    granted: type === REVOKE ? granted : (granted ?? 0) | bits,
    // A GLOBAL record revokes every permission that it does not grant (only in revoke mode, like any revocation).
    revoked: type === REVOKE ? revoked | bits : type === GLOBAL ? revoked | (ALL_BITS & ~bits) : revoked,
  }
}

function nameIn(named: WritableIds, { resourceType, resourceId }: ResourceEntry): void {
  const ids = named.get(resourceType) ?? setIn(named, resourceType, new Set())
  ids.add(resourceId)
}

function bitsOf({ resourceType, permissions }: StoredRecord): number {
  const resource = resourceOfType(resourceType)
  if (resource === null) return 0
  return permissions.reduce((bits, permission) => bits | (bitOf(resource, permission) ?? 0), 0)
}

function setIn<K, V>(map: Map<K, V>, key: K, value: V): V {
  map.set(key, value)
  return value
}
