import { recordKeyOf, recordsOf } from '../files/records-file.ts'
import { type AuthorizationRecord, GLOBAL, resourceOfType } from '../operations/authorization-record.ts'
import { bitOf, type ResourceName } from '../operations/permissions.ts'
import type { IdentifiedRecord } from './engine-content.ts'
import { compareText, type ExportedFile, omission } from './exported-file.ts'

/** Returns the records of an engine as a file. Each record has a line of its own, in an order that depends only on the records. */
export function exportRecords(stored: readonly IdentifiedRecord[]): ExportedFile {
  const records = new Map<string, AuthorizationRecord>()
  const unwritten: string[] = []
  const unknown: string[] = []
  const merged: string[] = []
  for (const one of stored) {
    const { record, lost } = fileRecordOf(one)
    if (record === null) {
      unwritten.push(describeRecord(one))
      continue
    }
    if (lost.length > 0) unknown.push(`${lost.join(', ')} of ${describeRecord(one)}`)
    const key = recordKeyOf(record)
    const first = records.get(key)
    if (first !== undefined) merged.push(describeRecord(one))
    records.set(key, first === undefined ? record : withPermissionsOf(first, record))
  }
  return {
    text: textOfRecords([...records.values()]),
    omissions: [
      ...omission('records without a user, group or resource id, or of an unknown resource type', unwritten),
      ...omission('permissions that the gateway does not know', unknown),
      ...omission(
        'records with the same type, subject and resource: the file has one with all permissions',
        merged,
      ),
      ...omission(
        'the time at which the engine removes a record: the file keeps the record',
        stored.filter(({ removalTime }) => typeof removalTime === 'string').map(describeRecord),
      ),
    ],
    parsed: (text) => textOfRecords(recordsOf(text)),
  }
}

/** Returns a record in the form of a file, and the permissions that the form cannot contain. Null if no part of it can be written. */
function fileRecordOf(stored: IdentifiedRecord): {
  readonly record: AuthorizationRecord | null
  readonly lost: readonly string[]
} {
  const { type, resourceType, resourceId, permissions } = stored
  const resource = resourceOfType(resourceType)
  const subject = type === GLOBAL ? { userId: '*' } : subjectOf(stored)
  if (resource === null || resourceId === null || resourceId === '' || subject === null)
    return { record: null, lost: [] }
  const lost = permissions.filter((name) => bitOf(resource, name) === null)
  const known = sortedPermissions(resource, permissions)
  return { record: { type, ...subject, resourceType, resourceId, permissions: known }, lost }
}

function subjectOf({
  userId,
  groupId,
}: IdentifiedRecord): Pick<AuthorizationRecord, 'userId' | 'groupId'> | null {
  const [user, group] = [userId ?? '', groupId ?? '']
  if ((user === '') === (group === '')) return null
  return user === '' ? { groupId: group } : { userId: user }
}

/** Returns the known names once each, in the order of their bits. */
function sortedPermissions(resource: ResourceName, names: readonly string[]): readonly string[] {
  const bits = new Map(names.map((name) => [name, bitOf(resource, name)]))
  return [...bits]
    .flatMap(([name, bit]) => (bit === null || bit === 0 ? [] : [{ name, bit }]))
    .toSorted((one, other) => one.bit - other.bit)
    .map(({ name }) => name)
}

function withPermissionsOf(one: AuthorizationRecord, other: AuthorizationRecord): AuthorizationRecord {
  return { ...one, permissions: [...one.permissions, ...other.permissions] }
}

function textOfRecords(records: readonly AuthorizationRecord[]): string {
  const lines = records
    .map(normalized)
    .toSorted(compareRecords)
    .map((record) => `  ${JSON.stringify(record)}`)
  return lines.length === 0 ? '[]\n' : `[\n${lines.join(',\n')}\n]\n`
}

/** Returns a record with its members and permissions in a fixed order. */
function normalized({ type, userId, groupId, resourceType, resourceId, permissions }: AuthorizationRecord) {
  const resource = resourceOfType(resourceType)
  return {
    type,
    ...((groupId ?? null) === null ? { userId: userId ?? '*' } : { groupId }),
    resourceType,
    resourceId,
    permissions: resource === null ? permissions : sortedPermissions(resource, permissions),
  }
}

function compareRecords(one: AuthorizationRecord, other: AuthorizationRecord): number {
  return (
    one.resourceType - other.resourceType ||
    compareText(one.resourceId, other.resourceId) ||
    one.type - other.type ||
    compareText(one.groupId ?? '', other.groupId ?? '') ||
    compareText(one.userId ?? '', other.userId ?? '')
  )
}

const TYPES = ['global', 'grant', 'revoke'] as const

/** Returns a record as a text for people: `grant user mary TASK 17 READ,UPDATE`. */
export function describeRecord(
  record: Pick<
    IdentifiedRecord,
    'type' | 'userId' | 'groupId' | 'resourceType' | 'resourceId' | 'permissions'
  >,
): string {
  const { type, userId, groupId, resourceType, resourceId, permissions } = record
  const subject = type === GLOBAL ? '' : groupId == null ? ` user ${userId ?? '(none)'}` : ` group ${groupId}`
  const resource = resourceOfType(resourceType) ?? `resource type ${resourceType}`
  return `${TYPES[type]}${subject} ${resource} ${resourceId ?? '(no id)'} ${permissions.join(',')}`.trimEnd()
}
