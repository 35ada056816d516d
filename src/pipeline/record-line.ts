import type { AuthorizationRecord } from '../operations/authorization-record.ts'
import { resourceOfType } from '../operations/authorization-record.ts'

/** Formats a record as a line of authorizations.yaml: `- { type: 1, userId: mary, … } # process definition`. */
export function lineOfRecord(record: AuthorizationRecord): string {
  const { type, userId, groupId, resourceType, resourceId, permissions } = record
  const subject = groupId == null ? `userId: ${scalarOf(userId ?? '')}` : `groupId: ${scalarOf(groupId)}`
  const names = permissions.join(', ')
  const kind = resourceOfType(resourceType)?.toLowerCase().replaceAll('_', ' ') ?? 'unknown'
  return `- { type: ${type}, ${subject}, resourceType: ${resourceType}, resourceId: ${scalarOf(resourceId)}, permissions: [${names}] } # ${kind}`
}

const PLAIN = /^[A-Za-z][\w-]*$/
/** Words with another meaning in YAML. */
const RESERVED = /^(?:true|false|yes|no|on|off|null|y|n)$/i

function scalarOf(text: string): string {
  return PLAIN.test(text) && !RESERVED.test(text) ? text : JSON.stringify(text)
}
