import { type RefusalText, operatorText, ownText } from '../../../errors.ts'
import { resourceOfType } from '../../../operations/authorization-record.ts'
import { bitOf, isPermissionName } from '../../../operations/permissions.ts'
import type { ResourceName } from '../../../operations/permissions.ts'
import { isNullText } from './jackson.ts'
import type { EngineError, RuleResult, Members, RequestData, ValidationRule } from './engine-error.ts'
import {
  restFailure,
  firstOf,
  isGiven,
  itemsOf,
  DEFER,
  membersOf,
  engineException,
  invalid,
  valueText,
} from './engine-error.ts'
import { integerOf } from '../../../request/paging.ts'
import { javaTrim } from '../../../request/java-text.ts'

/** The engine checks the permission to create after the first rule and before the second. */
export const authorizationRules: readonly ValidationRule[] = [
  { find: ({ body }) => presenceFinding(membersOf(body)) },
  { after: 'create', find: ({ body }) => recordFinding(membersOf(body)) },
]

/** An absent type fails. A null type counts as 0, a record for all users. */
function presenceFinding(record: Members): RuleResult {
  return Object.hasOwn(record, 'type')
    ? null
    : restFailure(
        'NullPointerException',
        operatorText`Cannot invoke "java.lang.Integer.intValue()" because "this.type" is null`,
      )
}

/** The engine applies the members to the record that it has read, and then checks UPDATE. */
export const authorizationUpdateRules: readonly ValidationRule[] = [
  { beforeRefusalOf: 'update', find: ({ body }) => updateFinding(membersOf(body)) },
]

function updateFinding(record: Members): RuleResult {
  const { permissions } = record
  if (!isGiven(permissions)) return subjectFinding(record)
  const resourceType = intOf(record['resourceType'])
  // Without a resource type, the engine's message contains names of its own classes.
  if (resourceType === null || Number.isNaN(resourceType)) return DEFER
  return permissionsFinding(itemsOf(permissions), resourceType, record)
}

function recordFinding(record: Members): RuleResult {
  const { userId, groupId, permissions } = record
  const type = intOf(record['type']) ?? 0
  const resourceType = intOf(record['resourceType'])
  // The gateway does not read these digits. The engine checks them itself.
  if (Number.isNaN(type) || Number.isNaN(resourceType)) return DEFER
  return (
    typeFinding(type) ??
    (type === 0 ? globalFinding(userId, groupId) : null) ??
    // Without a resource type, the engine fails with a message that contains names of its own classes.
    (resourceType === null ? DEFER : null) ??
    (isGiven(permissions)
      ? null
      : restFailure(
          'NullPointerException',
          operatorText`Cannot read the array length because "names" is null`,
        )) ??
    permissionsFinding(itemsOf(permissions), resourceType ?? 0, record)
  )
}

/** Returns the number that the engine reads from an integer that its schema accepts. The fraction is cut off. NaN for digits of another script. */
function intOf(value: unknown): number | null {
  if (typeof value !== 'string') return typeof value === 'number' ? Math.trunc(value) : null
  if (isNullText(value)) return null
  const digits = javaTrim(value)
  return /^[+-]?\d+$/.test(digits) ? Number(digits) : Number.NaN
}

function typeFinding(type: number): RuleResult {
  if (type === 0 || type === 1 || type === 2) return null
  return engineException(500, 'ProcessEngineException', {
    caller: `ENGINE-03025 Unrecognized authorization type '${type}'. Must be one of ['0', '1', '2']`,
    operator: operatorText`type is not 0, 1 or 2`,
  })
}

function globalFinding(userId: unknown, groupId: unknown): RuleResult {
  if (isGiven(groupId))
    return engineException(
      500,
      'ProcessEngineException',
      operatorText`ENGINE-03027 Cannot use 'groupId' for GLOBAL authorization`,
    )
  if (!isGiven(userId) || userId === '*') return null
  return engineException(500, 'ProcessEngineException', {
    caller: `ENGINE-03028 Illegal value '${valueText(userId)}' for userId for GLOBAL authorization. Must be '*'`,
    operator: operatorText`userId is not '*' in a GLOBAL authorization`,
  })
}

function permissionsFinding(permissions: readonly unknown[], id: number, record: Members): RuleResult {
  const names = permissions.map(valueText)
  const resource = resourceOfType(id)
  const finding = firstOf(names, (name) => nameFinding(name, resource))
  if (finding !== null) return finding
  const subject = subjectFinding(record)
  if (subject !== null) return subject
  const others = new Set(names.filter((name) => resource === null || bitOf(resource, name) === null))
  // It is not known which of several the engine names.
  if (others.size > 1) return DEFER
  const [name] = others
  return name === undefined
    ? null
    : badRequest({
        caller: `ENGINE-03087 The resource type with id:'${id}' is not valid for '${name}' permission.`,
        operator: operatorText`permissions contains a permission of another resourceType`,
      })
}

function subjectFinding({ userId, groupId }: Members): RuleResult {
  return isGiven(userId) === isGiven(groupId)
    ? engineException(
        500,
        'NullValueException',
        operatorText`Authorization must either have a 'userId' or a 'groupId'.`,
      )
    : null
}

/**
 * Returns the first error of a query of `GET /authorization/check`, or null. The engine looks up the permission by its name before it
 * checks READ on authorizations.
 */
export function checkQueryFinding(query: RequestData['query']): EngineError | null {
  const type = integerOf(query.get('resourceType'))
  if (Number.isNaN(type))
    return { status: 404, type: 'QueryParamException', message: operatorText`HTTP 404 Not Found`, code: null }
  const permissionName = query.get('permissionName')
  if (permissionName === undefined) return missingParameter('permissionName')
  if (!query.has('resourceName')) return missingParameter('resourceName')
  if (type === null) return missingParameter('resourceType')
  return nameFinding(permissionName, resourceOfType(type))
}

function missingParameter(name: string): EngineError {
  return invalid(operatorText`Query parameter '${ownText(name)}' cannot be null`)
}

function nameFinding(name: string, resource: ResourceName | null): EngineError | null {
  return isPermissionName(resource, name)
    ? null
    : badRequest({
        caller: `The permission '${name}' is not valid for '${resource}' resource type.`,
        operator: operatorText`the permission does not exist for resourceType`,
      })
}

function badRequest(message: RefusalText): EngineError {
  return engineException(400, 'BadUserRequestException', message)
}
