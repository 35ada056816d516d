import type { Check, OperationCheck, PermissionTerm } from './notation.ts'
import type { PermissionName } from './permissions.ts'
import type { Operation } from './table.ts'

/**
 * The permission that an engine with `enforceSpecificVariablePermission` checks when variables are read, by the permission
 * that it checks without this setting. Null if authorization records on this resource do not make variables readable. Source:
 * Camunda 7.22.0, `AuthorizationCommandChecker` and `AuthorizationManager`.
 */
const SPECIFIC: ReadonlyMap<string, PermissionName | null> = new Map<PermissionName, PermissionName | null>([
  ['TASK.READ', 'TASK.READ_VARIABLE'],
  ['PROCESS_DEFINITION.READ_TASK', 'PROCESS_DEFINITION.READ_TASK_VARIABLE'],
  ['PROCESS_INSTANCE.READ', null],
  ['PROCESS_DEFINITION.READ_INSTANCE', 'PROCESS_DEFINITION.READ_INSTANCE_VARIABLE'],
  ['PROCESS_DEFINITION.READ_HISTORY', 'PROCESS_DEFINITION.READ_HISTORY_VARIABLE'],
])

/**
 * Returns the operation as an engine with `enforceSpecificVariablePermission` checks it.
 * @throws Error if a check of variables names a permission without an equivalent that is specific to variables
 */
export function withSpecificVariablePermissions(operation: Operation): Operation {
  const { checks, items } = operation
  return {
    ...operation,
    checks: checks.map((check) => ({ ...check, ...specificPermissionsOf(check), ...wordingOf(check) })),
    ...(items !== undefined && { items: { ...items, ...specificPermissionsOf(items) } }),
  }
}

/** Returns the permissions of a check, or of a list restriction, that reads variables. */
function specificPermissionsOf({ anyOf, reads }: Pick<Check, 'anyOf' | 'reads'>): Pick<Check, 'anyOf'> {
  return reads === undefined || anyOf === undefined ? {} : { anyOf: anyOf.flatMap(specificTermsOf) }
}

/** The engine builds the check for variables of a process instance as a list of alternatives, even if the list has only one entry. */
function wordingOf({ denied, reads, anyOf = [] }: Check): Pick<OperationCheck, 'wording'> {
  const isSingle = reads !== undefined && anyOf.length > 1 && anyOf.flatMap(specificTermsOf).length === 1
  return isSingle && denied === 403 ? { wording: 'alternatives' } : {}
}

function specificTermsOf(term: PermissionTerm): readonly PermissionTerm[] {
  const [name = '', ...attribute] = term.split(' ')
  const permission = SPECIFIC.get(name)
  if (permission === undefined) throw new Error(`"${term}" has no permission that is specific to variables`)
  if (permission === null) return []
  const specific = [permission, ...attribute].join(' ')
  return isTermOf(permission, specific) ? [specific] : []
}

/** Returns true if a text is a term of this permission. */
function isTermOf(permission: PermissionName, text: string): text is PermissionTerm {
  return text === permission || text.startsWith(`${permission} `)
}
