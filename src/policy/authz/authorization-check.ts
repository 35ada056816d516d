import { type EngineRefusal, jsonRefusalOf } from '../../errors.ts'
import { bitOf, isPermissionName, type ResourceName } from '../../operations/permissions.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import type { Principal } from '../../request/principal.ts'
import { isAuthorized } from './decision/decide.ts'
import type { ImplicitBits, ImplicitGrants } from './entities/implicit-bits.ts'
import { identityBits } from './entities/implicit-grants.ts'
import type { LookUp } from './entities/look-ups.ts'
import type { Records } from './records/records.ts'
import { resourceOfType } from '../../operations/authorization-record.ts'
import { integerOf } from '../../request/paging.ts'

interface CheckOptions {
  readonly records: Records
  /** Null if links to tasks grant nothing. */
  readonly implicitGrants: Pick<ImplicitGrants, 'on'> | null
  /** Whether users, groups and tenants are visible to themselves and their members without a record. */
  readonly impliesIdentity: boolean
  /** Reads the groups of a user other than the caller. The operation's own check has permitted the request before. */
  readonly groupsOf: (userId: string) => Promise<readonly string[]>
  readonly lookUp: LookUp
  /** Finds a user other than the caller. Null: the user does not exist. */
  readonly principalOf: (userId: string) => Promise<Principal | null>
}

/**
 * Returns the response to `GET /authorization/check`. An engine without authentication knows no caller and always responds
 * with 401. Groups of another user count only if the caller may read them, as in the engine (7.22: without GROUP READ the
 * groups look empty).
 */
export async function answerAuthorizationCheck(
  accessRequest: AccessRequest,
  options: CheckOptions,
): Promise<unknown> {
  const { records } = options
  const { query, principal } = accessRequest
  // The engine's framework parses this parameter before the engine reads any other.
  const type = integerOf(query.get('resourceType'))
  if (Number.isNaN(type)) throw refusal(404, 'QueryParamException', 'HTTP 404 Not Found')
  const permissionName = given(query, 'permissionName')
  const resourceName = given(query, 'resourceName')
  if (type === null) throw missing('resourceType')
  const { resource, permission } = legalPermission({ permissionName, resourceName, type }, records)
  const id = query.get('resourceId') ?? null
  const userId = query.get('userId') ?? principal.userId
  const isCaller = userId === principal.userId
  const about = isCaller ? principal : await otherUser(userId, accessRequest, options)
  const implicitBits = await implicitBitsOn({ resource, id, about, isCaller }, options)
  const authorized = isAuthorized(records, about, { resource, permission, id, implicitBits }) === true
  return { permissionName, resourceName, resourceId: id, authorized }
}

async function otherUser(
  userId: string,
  { principal }: AccessRequest,
  { records, groupsOf, impliesIdentity }: CheckOptions,
): Promise<Principal> {
  const isReadable = (id: string): boolean =>
    isAuthorized(records, principal, {
      resource: 'GROUP',
      permission: 'READ',
      id,
      implicitBits: impliesIdentity ? identityBits('GROUP', id, principal) : undefined,
    }) === true
  return { userId, groups: (await groupsOf(userId)).filter(isReadable), tenants: [] }
}

interface Target {
  readonly resource: ResourceName
  readonly id: string | null
  readonly about: Principal
  readonly isCaller: boolean
}

/** Returns the grants that a secured engine would have written for the user, and that are in no record. */
async function implicitBitsOn(target: Target, options: CheckOptions): Promise<ImplicitBits | undefined> {
  const { id, resource } = target
  if (id === null || id === '*') return undefined
  if (resource === 'TASK') return linkBitsOn(id, target.about, options)
  return options.impliesIdentity ? identityBitsOn(target, options) : undefined
}

async function linkBitsOn(
  taskId: string,
  about: Principal,
  { implicitGrants, lookUp }: CheckOptions,
): Promise<ImplicitBits | undefined> {
  const bits = await implicitGrants?.on(taskId, about)
  // The engine deletes its records of a task with the task. The log of links stays.
  return bits === undefined || (await lookUp('task', taskId)) === null ? undefined : bits
}

async function identityBitsOn(
  { resource, id, about, isCaller }: Target,
  { principalOf }: CheckOptions,
): Promise<ImplicitBits | undefined> {
  if (isCaller || resource === 'GROUP') return identityBits(resource, id, about)
  if (resource !== 'USER' && resource !== 'TENANT') return undefined
  const known = await principalOf(about.userId)
  return known === null ? undefined : identityBits(resource, id, { ...about, tenants: known.tenants })
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

function legalPermission(
  { permissionName, resourceName, type }: Named,
  { disabled }: Records,
): { readonly resource: ResourceName; readonly permission: string } {
  const resource = resourceOfType(type)
  if (isPermissionName(resource, permissionName) && disabled.has(permissionName))
    throw refusal(
      400,
      'BadUserRequestException',
      `ENGINE-03088 The '${permissionName}' permission is disabled, please check your process engine configuration.`,
      0,
    )
  if (resource !== null && bitOf(resource, permissionName) !== null)
    return { resource, permission: permissionName }
  if (isPermissionName(resource, permissionName))
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
