import {
  type RefusalText,
  operatorTextOf,
  callerTextOf,
  operatorText,
  type EngineRefusal,
  jsonRefusalOf,
} from '../../errors.ts'
import { bitOf, type ResourceName } from '../../operations/permissions.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import type { Principal } from '../../request/principal.ts'
import { isAuthorized } from './decision/decide.ts'
import type { ImplicitBits, ImplicitGrants } from './entities/implicit-bits.ts'
import { identityBits, ownerBits } from './entities/implicit-grants.ts'
import type { LookUp } from './entities/look-ups.ts'
import type { Records } from './records/records.ts'
import { resourceOfType } from '../../operations/authorization-record.ts'
import { integerOf } from '../../request/paging.ts'
import { checkQueryFinding } from '../validation/schemas/authorization-body.ts'
import { engineException, type EngineError } from '../validation/schemas/engine-error.ts'

interface CheckOptions {
  readonly records: Records
  /** Null if links to tasks grant nothing. */
  readonly implicitGrants: Pick<ImplicitGrants, 'on'> | null
  /** Whether users, groups and tenants are visible to themselves and their members without a record. */
  readonly impliesIdentity: boolean
  /** Whether the owner of a filter has all permissions on it without a record. Default: false. */
  readonly impliesFilters?: boolean
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
  const finding = checkQueryFinding(query)
  if (finding !== null) throw refusal(finding)
  const { resource, permission } = permissionOf(query, records)
  const id = query.get('resourceId') ?? null
  const userId = query.get('userId') ?? principal.userId
  const isCaller = userId === principal.userId
  const about = isCaller ? principal : await otherUser(userId, accessRequest, options)
  const implicitBits = await implicitBitsOn({ resource, id, about, isCaller }, options)
  const authorized = isAuthorized(records, about, { resource, permission, id, implicitBits }) === true
  return { permissionName: permission, resourceName: query.get('resourceName'), resourceId: id, authorized }
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

interface AuthorizationCheckTarget {
  readonly resource: ResourceName
  readonly id: string | null
  readonly about: Principal
  readonly isCaller: boolean
}

/** Returns the grants that a secured engine would have written for the user, and that are in no record. */
async function implicitBitsOn(
  target: AuthorizationCheckTarget,
  options: CheckOptions,
): Promise<ImplicitBits | undefined> {
  const { id, resource } = target
  if (id === null || id === '*') return undefined
  if (resource === 'TASK') return linkBitsOn(id, target.about, options)
  if (resource === 'FILTER' && options.impliesFilters === true)
    return ownerBits((await options.lookUp('filter', id))?.['owner'], target.about)
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
  { resource, id, about, isCaller }: AuthorizationCheckTarget,
  { principalOf }: CheckOptions,
): Promise<ImplicitBits | undefined> {
  if (isCaller || resource === 'GROUP') return identityBits(resource, id, about)
  if (resource !== 'USER' && resource !== 'TENANT') return undefined
  const known = await principalOf(about.userId)
  return known === null ? undefined : identityBits(resource, id, { ...about, tenants: known.tenants })
}

/** Returns the permission of a query in which `checkQueryFinding` has found no error. */
function permissionOf(
  query: AccessRequest['query'],
  { disabled }: Records,
): { readonly resource: ResourceName; readonly permission: string } {
  const resource = resourceOfType(integerOf(query.get('resourceType')) ?? 0)
  const permission = query.get('permissionName') ?? ''
  if (disabled.has(permission))
    throw badRequest({
      caller: `ENGINE-03088 The '${permission}' permission is disabled, please check your process engine configuration.`,
      operator: operatorText`permissionName is a disabled permission`,
    })
  if (resource !== null && bitOf(resource, permission) !== null) return { resource, permission }
  throw badRequest({
    caller: `ENGINE-03086 The resource type '${query.get('resourceName')}' is not valid for '${permission}' permission.`,
    operator: operatorText`permissionName is not a permission of resourceType`,
  })
}

function badRequest(message: RefusalText): EngineRefusal {
  return refusal(engineException(400, 'BadUserRequestException', message))
}

function refusal({ status, type, message, code }: EngineError): EngineRefusal {
  return jsonRefusalOf(status, { type, message: callerTextOf(message), code }, operatorTextOf(message))
}
