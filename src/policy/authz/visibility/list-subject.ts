import type { Operation } from '../../../operations/table.ts'
import type { AccessRequest } from '../../../request/access-request.ts'
import type { AuthorizeOptions } from '../checks/authorize-options.ts'
import { compileRestriction } from './compile-restriction.ts'
import { visibilityOf } from './visibility.ts'
import type { ListSubject, CompiledRestriction } from './compiled-restriction.ts'
import { tenantsFor } from '../decision/admin.ts'

/** Returns the facts that decide which items a caller sees. */
export function subjectOf(
  { principal }: Pick<AccessRequest, 'principal'>,
  options: AuthorizeOptions,
): ListSubject {
  const tenants = tenantsFor({ principal }, options)
  return {
    principal,
    records: options.records(),
    tenants: tenants === null ? null : new Set(tenants),
    implicitGrants: null,
    impliesIdentity: options.impliesIdentity,
    impliesFilters: options.impliesFilters ?? false,
  }
}

/**
 * Returns whether the caller may see everything that a HAL response may embed. Case definitions are embedded too, and no record
 * names them.
 */
export function seesEmbedded(
  { principal, records, tenants }: ListSubject,
  { accept }: Pick<Operation, 'accept'>,
): boolean {
  const isOpen = (restriction: CompiledRestriction) => visibilityOf(restriction, principal, records) === 'all'
  return (
    tenants === null && isOpen(EMBEDDED) && (accept !== 'hal with variables' || isOpen(EMBEDDED_VARIABLES))
  )
}

const EMBEDDED = compileRestriction({
  allOf: ['PROCESS_DEFINITION.READ item:key', 'USER.READ item:id', 'GROUP.READ item:id'],
})

const EMBEDDED_VARIABLES = compileRestriction({
  anyOf: [
    'PROCESS_INSTANCE.READ item:processInstanceId',
    'PROCESS_DEFINITION.READ_INSTANCE item:processDefinitionKey',
    'TASK.READ item:taskId',
  ],
})
