import type { MemberChange, RecordMembers } from '../metrics/audit-changes.ts'
import type { StoredRecord } from '../operations/authorization-record.ts'
import { resourceOfType } from '../operations/authorization-record.ts'
import { RESOURCES } from '../operations/permissions.ts'
import type { AuditedChange } from '../operations/table.ts'
import { bodyText, bodyTexts, bodyValue } from '../request/body.ts'
import { isRecord } from '../request/value.ts'

/** The parts of a request and its response in which a change names its entities. */
export interface ChangeRequest {
  readonly params: Readonly<Record<string, string>>
  readonly body: unknown
  /** The parsed response. Null if it is not known. */
  readonly response: unknown
  /** The record before the change. `unknown` if the gateway has not read it. */
  readonly former: StoredRecord | 'unknown'
}

/** The kinds of entities, in the order of the line. */
const KINDS = ['authorization', 'user', 'group', 'tenant'] as const

/** Returns the change of permissions, users or memberships in a request. Names, addresses and passwords of users are left out. */
export function memberChangeOf(change: AuditedChange, request: ChangeRequest): MemberChange {
  const ids = KINDS.flatMap((kind) => {
    const places = change[kind]
    return places === undefined ? [] : [[kind, idIn(places, request)] as const]
  })
  const { action, authorization } = change
  return {
    action,
    ids: Object.fromEntries(ids.filter(([, id]) => id !== null)),
    before: authorization === undefined || action === 'create' ? null : beforeOf(request.former),
    after: authorization === undefined || action === 'delete' ? null : requestedMembersOf(request.body),
  }
}

function idIn(places: string, request: ChangeRequest): string | null {
  for (const place of places.split(' ')) {
    const id = idAt(place, request)
    if (id !== null) return id
  }
  return null
}

function idAt(place: string, { params, body, response }: ChangeRequest): string | null {
  const [from, name = ''] = place.split(':')
  if (from === 'path') return params[name] ?? null
  return bodyText(from === 'body' ? body : response, name)
}

function beforeOf(former: StoredRecord | 'unknown'): RecordMembers | 'unknown' {
  return former === 'unknown' ? former : membersOfRecord(former)
}

/** Returns the members of a record for an audit line. The engine stores one record for each type, subject and resource. */
export function membersOfRecord(record: StoredRecord): RecordMembers {
  const { type, userId, groupId, resourceType, resourceId, permissions } = record
  return {
    type,
    ...(typeof userId === 'string' && { userId }),
    ...(typeof groupId === 'string' && { groupId }),
    resourceType,
    ...resourceNameOf(resourceType),
    ...(resourceId !== null && { resourceId }),
    permissions,
  }
}

/** Returns the members of a record that a request sets. A member that the request leaves out is absent: the engine decides about it. */
function requestedMembersOf(body: unknown): RecordMembers {
  const type = numberAt(body, 'type')
  const resourceType = numberAt(body, 'resourceType')
  const texts = ['userId', 'groupId', 'resourceId'].flatMap((name) => {
    const text = bodyText(body, name)
    return text === null ? [] : [[name, text] as const]
  })
  const { userId, groupId, resourceId }: Readonly<Record<string, string>> = Object.fromEntries(texts)
  return {
    ...(type !== null && { type }),
    ...(userId !== undefined && { userId }),
    ...(groupId !== undefined && { groupId }),
    ...(resourceType !== null && { resourceType, ...resourceNameOf(resourceType) }),
    ...(resourceId !== undefined && { resourceId }),
    ...(isRecord(body) &&
      Array.isArray(bodyValue(body, 'permissions')) && {
        permissions: bodyTexts(body, 'permissions'),
      }),
  }
}

function numberAt(body: unknown, name: string): number | null {
  const text = bodyText(body, name)
  const value = text === null || text === '' ? Number.NaN : Number(text)
  return Number.isInteger(value) ? value : null
}

function resourceNameOf(resourceType: number): { readonly resource?: string } {
  const resource = resourceOfType(resourceType)
  return resource === null ? {} : { resource: RESOURCES[resource].name }
}
