import type { Records, RecordsOptions } from '../../src/policy/authz/records/records.ts'
import type { AuthorizationRecord } from '../../src/operations/authorization-record.ts'
import { indexRecords } from '../../src/policy/authz/records/records.ts'

const TYPES: ReadonlyMap<string, AuthorizationRecord['type']> = new Map([
  ['global', 0],
  ['grant', 1],
  ['revoke', 2],
])
const RESOURCE_TYPES: ReadonlyMap<string, number> = new Map([
  ['TASK', 7],
  ['PROCESS_DEFINITION', 6],
  ['PROCESS_INSTANCE', 8],
  ['USER', 1],
  ['GROUP', 2],
  ['FILTER', 5],
])

/** Parses a line such as `revoke anna TASK:t1 READ,UPDATE`. A subject that begins with `@` is a group. */
export function recordOf(line: string): AuthorizationRecord {
  const [kind = '', subject = '', on = '', names = ''] = line.split(' ')
  const [resource = '', resourceId = ''] = on.split(':')
  const type = TYPES.get(kind)
  const resourceType = RESOURCE_TYPES.get(resource)
  if (type === undefined || resourceType === undefined) throw new Error(`no record: ${line}`)
  const who = subject.startsWith('@') ? { groupId: subject.slice(1) } : { userId: subject }
  return { type, ...who, resourceType, resourceId, permissions: names.split(',') }
}

export function recordsOf(lines: readonly string[], options?: RecordsOptions): Records {
  return indexRecords(lines.map(recordOf), options)
}

/** Returns the line without its permissions. An engine holds one record for each such key. */
export function keyOf(line: string): string {
  return line.split(' ').slice(0, 3).join(' ')
}
