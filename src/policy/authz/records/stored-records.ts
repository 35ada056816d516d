import { pathText } from '../../../operations/published/declared-names.ts'
import { operatorText } from '../../../errors.ts'
import { invalidResponse, jsonIn } from '../../../request/engine-request.ts'
import { isRecord } from '../../../request/value.ts'
import type { StoredRecord } from '../../../operations/authorization-record.ts'

export const RECORDS_PATH = '/authorization'

/** Returns the records in the engine's response to GET /authorization. @throws GatewayError if it is not a list of records */
export function storedRecordsOf(body: Buffer): readonly StoredRecord[] {
  const list = jsonIn(body, pathText(RECORDS_PATH))
  if (!Array.isArray(list) || !list.every(isStored))
    throw invalidResponse(
      operatorText`The engine's response to ${pathText(RECORDS_PATH)} is not a list of authorization records`,
    )
  return list
}

/**
 * Returns whether a value is a record that an engine of any version may store. A record of an unknown type could be a
 * revocation, and any other impossible value makes the whole list doubtful. In both cases the whole list is rejected.
 */
function isStored(value: unknown): value is StoredRecord {
  if (!isRecord(value)) return false
  const { type, permissions, userId, groupId, resourceType, resourceId } = value
  return (
    (type === 0 || type === 1 || type === 2) &&
    Array.isArray(permissions) &&
    permissions.every((permission) => typeof permission === 'string') &&
    [userId, groupId].every((id) => id === null || id === undefined || typeof id === 'string') &&
    typeof resourceType === 'number' &&
    (resourceId === null || typeof resourceId === 'string')
  )
}
