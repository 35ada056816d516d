import { RESOURCES } from '../operations/permissions.ts'
import type { AccessRequest } from '../request/access-request.ts'
import type { AuthorizeOptions, EvaluationOptions } from '../policy/authz/checks/authorize-options.ts'
import type { DecisionTrace } from '../policy/authz/checks/decision-trace.ts'
import { permissionChecksOf } from '../policy/authz/checks/permission-checks.ts'
import { isAdmin } from '../policy/authz/decision/admin.ts'
import type { PermissionCheck } from '../policy/authz/decision/permission-check.ts'
import type { RecordsSource } from '../policy/authz/records/records-source.ts'
import { decidingRecord } from './deciding-record.ts'

/** The reason why a check of a request has passed. */
export type PermitGround =
  | { readonly check: number; readonly by: 'administrator' | 'implicit' | 'no record is needed' }
  | {
      readonly check: number
      readonly by: 'record'
      readonly permission: string
      /** The name of the resource in the engine's messages. */
      readonly resource: string
      readonly record: GroundRecord
    }

/** The record that permits. Its type, subject and resource identify it, because the engine stores no two records with the same three. */
export interface GroundRecord {
  readonly type: number
  readonly userId?: string
  /** The group through which the caller has the permission. */
  readonly groupId?: string
  readonly resourceType: number
  readonly resourceId: string
  /** The id of a record that was read from an engine. */
  readonly id?: string
  /** The position of a record in its file: `authorizations[0]` is the first. */
  readonly position?: number
}

/** Maximum number of reasons in a line. A request may have a check for each of thousands of entities. */
export const MAX_GROUNDS = 20

/** Returns why the checks of a request have passed. Equal reasons are listed once. */
export type GroundsOf = (
  seen: readonly DecisionTrace[],
  accessRequest: AccessRequest,
) => readonly PermitGround[]

export function createGroundsOf(options: AuthorizeOptions, locate: RecordsSource['locate']): GroundsOf {
  return function groundsOf(seen, accessRequest) {
    const grounds = new Map<string, PermitGround>()
    for (const one of seen) {
      if (grounds.size >= MAX_GROUNDS) break
      for (const ground of groundsOfCheck(one, accessRequest, options))
        grounds.set(JSON.stringify(ground), ground)
    }
    return [...grounds.values()].slice(0, MAX_GROUNDS).map((ground) => located(ground, locate))
  }
}

/** Returns why a check has passed. Empty if it has not passed, or does not apply. */
export function groundsOfCheck(
  { check, context, decision }: DecisionTrace,
  { principal }: Pick<AccessRequest, 'principal'>,
  options: EvaluationOptions,
): readonly PermitGround[] {
  const { index, mode } = check
  if (!decision.permitted || decision.reason === 'it does not apply') return []
  if (check.admin && isAdmin(principal, options)) return [{ check: index, by: 'administrator' }]
  if (decision.reason !== undefined) return [{ check: index, by: 'no record is needed' }]
  const asked = context === null ? check.globalChecks : permissionChecksOf(check, context)
  const grounds = asked.flatMap(
    (permissionCheck) => groundOf(index, permissionCheck, principal, options) ?? [],
  )
  // All permissions of a disabled kind pass without a record.
  if (grounds.length === 0) return [{ check: index, by: 'no record is needed' }]
  return mode === 'any' ? grounds.slice(0, 1) : grounds
}

function groundOf(
  check: number,
  permissionCheck: PermissionCheck,
  principal: AccessRequest['principal'],
  options: EvaluationOptions,
): PermitGround | null {
  const deciding = decidingRecord(options.records(), principal, permissionCheck)
  if (deciding?.permitted !== true) return null
  if (deciding.implied) return { check, by: 'implicit' }
  const { id: resourceType, name: resource } = RESOURCES[permissionCheck.resource]
  const { type, level, subject, resourceId } = deciding
  const subjectMember = level === 'group' ? { groupId: subject } : { userId: subject }
  return {
    check,
    by: 'record',
    permission: permissionCheck.permission,
    resource,
    record: { type, ...subjectMember, resourceType, resourceId },
  }
}

function located(ground: PermitGround, locate: RecordsSource['locate']): PermitGround {
  return ground.by === 'record'
    ? { ...ground, record: { ...ground.record, ...locate(ground.record) } }
    : ground
}
