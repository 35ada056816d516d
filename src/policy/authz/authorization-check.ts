import { type EngineRefusal, jsonRefusalOf } from '../../errors.ts'
import { bitOf, isPermissionName, type ResourceName } from '../../operations/permissions.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import type { Principal } from '../../request/principal.ts'
import { isAuthorized } from './decision/decide.ts'
import type { Records } from './records/records.ts'
import { resourceOfType } from '../../operations/authorization-record.ts'
import { integerOf } from '../../request/paging.ts'

interface CheckOptions {
  readonly records: Records
  /** Groups of a user other than the caller, whom the row's own check has let ask. */
  readonly groupsOf: (userId: string) => Promise<readonly string[]>
}

/**
 * Answers `GET /authorization/check`: a bare engine knows no caller and always says 401. Of another user's groups only
 * those count that the caller may read, as at the engine (7.22: without GROUP READ they look empty).
 */
export async function answerAuthorizationCheck(
  accessRequest: AccessRequest,
  { records, groupsOf }: CheckOptions,
): Promise<unknown> {
  const { query, principal } = accessRequest
  // The engine's framework reads it before anything is looked at.
  const type = integerOf(query.get('resourceType'))
  if (Number.isNaN(type)) throw refusal(404, 'QueryParamException', 'HTTP 404 Not Found')
  const permissionName = given(query, 'permissionName')
  const resourceName = given(query, 'resourceName')
  if (type === null) throw missing('resourceType')
  const { resource, permission } = legalPermission({ permissionName, resourceName, type })
  const id = query.get('resourceId') ?? null
  const userId = query.get('userId') ?? principal.userId
  const about =
    userId === principal.userId ? principal : await otherUser(userId, accessRequest, { records, groupsOf })
  const authorized = isAuthorized(records, about, { resource, permission, id }) === true
  return { permissionName, resourceName, resourceId: id, authorized }
}

async function otherUser(
  userId: string,
  { principal }: AccessRequest,
  { records, groupsOf }: CheckOptions,
): Promise<Principal> {
  const isReadable = (id: string): boolean =>
    isAuthorized(records, principal, { resource: 'GROUP', permission: 'READ', id }) === true
  return { userId, groups: (await groupsOf(userId)).filter(isReadable), tenants: [] }
}

function given(query: ReadonlyMap<string, string>, name: string): string {
  const value = query.get(name)
  if (value === undefined) throw missing(name)
  return value
}

function missing(name: string): EngineRefusal {
  return refusal(400, 'InvalidRequestException', `Query parameter '${name}' cannot be null`)
}

interface Named {
  readonly permissionName: string
  readonly resourceName: string
  readonly type: number
}

function legalPermission({ permissionName, resourceName, type }: Named): {
  readonly resource: ResourceName
  readonly permission: string
} {
  const resource = resourceOfType(type)
  if (resource !== null && bitOf(resource, permissionName) !== null)
    return { resource, permission: permissionName }
  if (resource === null || isPermissionName(resource, permissionName))
    throw refusal(
      400,
      'BadUserRequestException',
      `ENGINE-03086 The resource type '${resourceName}' is not valid for '${permissionName}' permission.`,
      0,
    )
  throw refusal(
    400,
    'BadUserRequestException',
    `The permission '${permissionName}' is not valid for '${resource}' resource type.`,
    0,
  )
}

function refusal(status: number, type: string, message: string, code: number | null = null): EngineRefusal {
  return jsonRefusalOf(status, { type, message, code }, message)
}
