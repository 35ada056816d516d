import { bounded } from './access-log.ts'

/** The members of an authorization record in an audit line. */
export interface RecordMembers {
  readonly type?: number
  readonly userId?: string
  readonly groupId?: string
  readonly resourceType?: number
  /** The name of the resource in the engine's messages. */
  readonly resource?: string
  readonly resourceId?: string
  readonly permissions?: readonly string[]
}

/** A change of permissions, users or memberships that a request contains. */
export interface MemberChange {
  readonly action: string
  /** The ids by the kind of the entity: `authorization`, `user`, `group`, `tenant`. */
  readonly ids: Readonly<Record<string, string | null>>
  /** The record before the change. Null if the change is not about a record that existed. */
  readonly before: RecordMembers | 'unknown' | null
  /** The members of the record that the request sets. Null if the change sets none. */
  readonly after: RecordMembers | null
}

/** Maximum number of permissions of a record in a line. No resource has as many. */
const MAX_PERMISSIONS = 100

/** Returns a change for an audit line. */
export function changeRecordOf({
  action,
  ids,
  before,
  after,
}: MemberChange): Readonly<Record<string, unknown>> {
  return {
    action,
    ...Object.fromEntries(Object.entries(ids).map(([kind, id]) => [kind, bounded(id)])),
    before: before === null || before === 'unknown' ? (before ?? undefined) : boundedMembersOf(before),
    after: after === null ? undefined : boundedMembersOf(after),
  }
}

/** Returns the members of a record for an audit line. */
export function boundedMembersOf({
  type,
  userId,
  groupId,
  resourceType,
  resource,
  resourceId,
  permissions,
}: RecordMembers): Readonly<Record<string, unknown>> {
  return {
    type,
    userId: bounded(userId ?? null),
    groupId: bounded(groupId ?? null),
    resourceType,
    resource,
    resourceId: bounded(resourceId ?? null),
    permissions: permissions?.slice(0, MAX_PERMISSIONS).map(bounded),
  }
}

/** A reason why a request is permitted. */
export interface PermitReasonMembers {
  readonly by: string
  readonly check?: number
  readonly permission?: string
  readonly resource?: string
  readonly record?: RecordMembers & { readonly id?: string; readonly position?: number }
}

/** Returns a reason for an audit line. */
export function permitReasonRecordOf({
  record,
  ...reason
}: PermitReasonMembers): Readonly<Record<string, unknown>> {
  if (record === undefined) return reason
  const { id, position } = record
  return { ...reason, record: { ...boundedMembersOf(record), id: bounded(id ?? null), position } }
}
