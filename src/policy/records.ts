import type { ResourceName } from '../operations/permissions.ts'
import { ALL_BITS, bitOf, RESOURCES } from '../operations/permissions.ts'
import type { Principal } from './credentials.ts'

/** The engine's numbers for the kinds of records. */
export const GLOBAL = 0
export const GRANT = 1
export const REVOKE = 2

/** An authorization as the engine's REST API shows it. */
export interface AuthorizationRecord {
  readonly id?: string | null
  readonly type: typeof GLOBAL | typeof GRANT | typeof REVOKE
  /** Names within the resource type; on a REVOKE record the names that are taken away. */
  readonly permissions: readonly string[]
  readonly userId?: string | null
  readonly groupId?: string | null
  readonly resourceType: number
  readonly resourceId: string
}

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
  /** Tells one reading of the records from the next; default 0. */
  readonly generation?: number
}

/** What one subject's records say about one resource id; bits of the resource type. `granted` null: no record that grants. */
export interface Rights {
  readonly granted: number | null
  readonly revoked: number
}

export type RightsById = ReadonlyMap<string, Rights>
export type RightsByType = ReadonlyMap<number, RightsById>

/** The records of one engine, indexed: a decision looks up a handful of keys however many records there are. */
export interface Records {
  readonly generation: number
  readonly size: number
  readonly users: ReadonlyMap<string, RightsByType>
  readonly groups: ReadonlyMap<string, RightsByType>
  readonly global: RightsByType
  readonly revokes: RevokeMode
  readonly revoking: { readonly users: ReadonlySet<string>; readonly groups: ReadonlySet<string> }
  readonly disabled: ReadonlySet<string>
}

type Index = { [Part in 'users' | 'groups' | 'global']: Writable<Records[Part]> }
type Writable<M> = M extends ReadonlyMap<infer K, infer V> ? Map<K, Writable<V>> : M

/**
 * Indexes records as an engine holds them. Names and resource types this gateway does not know are no error: they
 * grant nothing it asks about, and a REVOKE record counts for the revoke mode whatever it revokes.
 */
export function indexRecords(list: Iterable<AuthorizationRecord>, options: RecordsOptions = {}): Records {
  const { revokes = 'auto', disabledPermissions = [], generation = 0 } = options
  const index: Index = { users: new Map(), groups: new Map(), global: new Map() }
  const revoking = { users: new Set<string>(), groups: new Set<string>() }
  let size = 0
  for (const record of list) {
    size += 1
    const { type, userId, groupId } = record
    const rights = rightsOfSubject(index, record)
    if (rights !== null) addRights(rights, record)
    if (type === REVOKE && typeof userId === 'string') revoking.users.add(userId)
    if (type === REVOKE && typeof groupId === 'string') revoking.groups.add(groupId)
  }
  return { generation, size, ...index, revokes, revoking, disabled: new Set(disabledPermissions) }
}

/** Whether the revoking steps of a decision are taken for this caller. */
export function usesRevokes({ revokes, revoking }: Records, { userId, groups }: Principal): boolean {
  if (revokes !== 'auto') return revokes === 'always'
  if (revoking.users.has(userId) || revoking.users.has('*')) return true
  return revoking.groups.size > 0 && groups.some((group) => revoking.groups.has(group))
}

const isResource = (name: string): name is ResourceName => Object.hasOwn(RESOURCES, name)

const NAMES = new Map(
  Object.keys(RESOURCES)
    .filter(isResource)
    .map((resource): [number, ResourceName] => [RESOURCES[resource].id, resource]),
)

/** The resource of a record's `resourceType`; null for one the engine does not have. */
export function resourceOfType(resourceType: number): ResourceName | null {
  return NAMES.get(resourceType) ?? null
}

function rightsOfSubject(
  index: Index,
  { type, userId, groupId }: AuthorizationRecord,
): Index['global'] | null {
  if (type === GLOBAL) return index.global
  if (typeof userId === 'string') return inner(index.users, userId)
  return typeof groupId === 'string' ? inner(index.groups, groupId) : null
}

function addRights(byType: Writable<RightsByType>, record: AuthorizationRecord): void {
  const { type, resourceType, resourceId } = record
  const byId = inner(byType, resourceType)
  const bits = bitsOf(record)
  const { granted, revoked } = byId.get(resourceId) ?? { granted: null, revoked: 0 }
  byId.set(resourceId, {
    granted: type === REVOKE ? granted : (granted ?? 0) | bits,
    // What a GLOBAL record does not grant, it revokes (only in revoke mode, like any revocation).
    revoked: type === REVOKE ? revoked | bits : type === GLOBAL ? revoked | (ALL_BITS & ~bits) : revoked,
  })
}

function bitsOf({ resourceType, permissions }: AuthorizationRecord): number {
  const resource = resourceOfType(resourceType)
  if (resource === null) return 0
  return permissions.reduce((bits, permission) => bits | (bitOf(resource, permission) ?? 0), 0)
}

function inner<K, L, V>(outer: Map<K, Map<L, V>>, key: K): Map<L, V> {
  const found = outer.get(key)
  if (found !== undefined) return found
  const made = new Map<L, V>()
  outer.set(key, made)
  return made
}
