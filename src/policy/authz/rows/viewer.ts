import type { AccessRequest } from '../../../request/access-request.ts'
import type { AuthorizeOptions } from '../checks/authorize-options.ts'
import { compileRows } from './compile-rows.ts'
import { scopeOf } from './rows.ts'
import type { Viewer, Scope, CompiledRows } from './compiled-rows.ts'
import { isAdmin } from '../decision/admin.ts'

/** Admins see the rows of every tenant, and so does everybody where tenants are not checked. */
export function viewerOf({ principal }: Pick<AccessRequest, 'principal'>, options: AuthorizeOptions): Viewer {
  const isFree = !options.checksTenants || isAdmin(principal, options)
  return {
    principal,
    records: options.records(),
    tenants: isFree ? null : new Set(principal.tenants),
    implicitGrants: null,
    impliesIdentity: options.impliesIdentity,
  }
}

/** Whether every row of the answer is the caller's. */
export function seesWhole({ tenanted }: CompiledRows, scope: Scope, { tenants }: Viewer): boolean {
  return scope === 'all' && (tenants === null || !tenanted)
}

/** Whether nothing of all that an answer in HAL may embed would be hidden from the caller; beside these it is case definitions, which no record names. */
export function seesEmbedded({ principal, records, tenants }: Viewer): boolean {
  return tenants === null && scopeOf(EMBEDDED, principal, records) === 'all'
}

const EMBEDDED = compileRows({
  allOf: ['PROCESS_DEFINITION.READ row:key', 'USER.READ row:id', 'GROUP.READ row:id'],
})
