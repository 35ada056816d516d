import { GLOBAL, resourceOfType, type StoredRecord } from '../operations/authorization-record.ts'
import { RESOURCES } from '../operations/permissions.ts'
import type { Principal } from '../request/principal.ts'
import type { Admins } from '../policy/authz/decision/admin.ts'
import { entryOf, type Records } from '../policy/authz/records/records.ts'
import type { Policies } from '../policy/authz/operation-policy.ts'

/** One of two policies that are compared: records, users, and the settings that decide. */
export interface ComparedPolicy extends Admins {
  readonly list: readonly StoredRecord[]
  readonly records: Records
  /** The users by id. Null if the users and their groups are unknown. */
  readonly users: ReadonlyMap<string, Principal> | null
  readonly checksTenants: boolean
  readonly impliesIdentity: boolean
  /** Whether the owner of a filter has all permissions on it without a record. Default: false. */
  readonly impliesFilters?: boolean
  /** The bits that a link to a task grants on it. Zero if links grant nothing. */
  readonly linkBits: number
  readonly policies: Policies
}

/** The old and the new policy, or a value of each. */
export interface Pair<T> {
  readonly before: T
  readonly after: T
}

export type ComparedPolicies = Pair<ComparedPolicy>

/** A record that only one of two lists has, or that grants or revokes other permissions in the other list. */
export interface RecordChange
  extends Pick<StoredRecord, 'type' | 'userId' | 'groupId' | 'resourceType' | 'resourceId'> {
  readonly change: 'added' | 'removed' | 'changed'
  /** The permissions that only the new record names. */
  readonly added: readonly string[]
  /** The permissions that only the old record names. */
  readonly removed: readonly string[]
}

/** Returns the changed records, in the order of the old list and then of the new list. */
export function recordChangesBetween({ before, after }: ComparedPolicies): readonly RecordChange[] {
  const old = new Map(before.list.map((record) => [keyOf(record), record]))
  const fresh = new Map(after.list.map((record) => [keyOf(record), record]))
  const changes: RecordChange[] = []
  for (const [key, record] of old) {
    const other = fresh.get(key)
    if (other === undefined)
      changes.push(changeOf('removed', record, { added: [], removed: record.permissions }))
    else if (entryOf(record).bits !== entryOf(other).bits)
      changes.push(
        changeOf('changed', record, {
          added: without(other.permissions, record.permissions),
          removed: without(record.permissions, other.permissions),
        }),
      )
  }
  for (const [key, record] of fresh)
    if (!old.has(key)) changes.push(changeOf('added', record, { added: record.permissions, removed: [] }))
  return changes
}

function changeOf(
  change: RecordChange['change'],
  { type, userId, groupId, resourceType, resourceId }: StoredRecord,
  permissions: Pick<RecordChange, 'added' | 'removed'>,
): RecordChange {
  return {
    change,
    type,
    userId: userId ?? null,
    groupId: groupId ?? null,
    resourceType,
    resourceId,
    ...permissions,
  }
}

function without(names: readonly string[], others: readonly string[]): readonly string[] {
  return names.filter((name) => !others.includes(name))
}

function keyOf(record: StoredRecord): string {
  const { type, userId, groupId, resourceType, resourceId } = entryOf(record)
  return JSON.stringify([type, type === GLOBAL ? '*' : userId, groupId, resourceType, resourceId])
}

/** Returns the names of the single permissions of a resource type. Empty if the engine has no such type. */
export function permissionsOfType(resourceType: number): readonly string[] {
  const resource = resourceOfType(resourceType)
  return resource === null ? [] : Object.keys(RESOURCES[resource].permissions)
}
