import { operatorText, type DenialReason, GatewayError } from '../../../errors.ts'
import { RESOURCES } from '../../../operations/permissions.ts'
import { mask } from './refusals.ts'
import type { AccessRequest } from '../../../request/access-request.ts'
import type { ExemptEntity } from '../../../operations/notation.ts'
import type { Attributes } from '../../../request/attributes.ts'
import type { CompiledCheck, Condition, Situation } from './compiled-check.ts'
import type { EvaluationContext } from './evaluation-context.ts'
import { permissionChecksOf, missingOf } from './permission-checks.ts'
import { attributesOf } from './references.ts'
import type { PermissionCheck } from '../decision/permission-check.ts'
import { decideAll, decideAny, enabledChecks, isAuthorized } from '../decision/decide.ts'
import { usesRevokes, type Records } from '../records/records.ts'
import {
  adminExceptionOf,
  adminOrPermissionExceptionOf,
  authorizationExceptionOf,
} from './authorization-exception.ts'
import {
  BY_ADMIN,
  FOUND_BY_ALL,
  NOT_APPLIED,
  NOTHING_ASKED,
  OF_CASE,
  PERMITTED,
  type Decision,
} from './decision.ts'
import { isAdmin } from '../decision/admin.ts'
import type { EvaluationOptions } from './authorize-options.ts'

export const UNDECIDABLE = {
  permitted: false,
  refusal: new GatewayError('GW_CHECK_NOT_EXACT'),
} satisfies Decision

/** Decides one check from the records. A pure function: returns the decision, with the response of a refusal. */
export function evaluate(
  check: CompiledCheck,
  context: EvaluationContext,
  options: EvaluationOptions,
): Decision {
  if (applies(check.when, context) === false) return NOT_APPLIED
  const { principal } = context.accessRequest
  if (check.admin && isAdmin(principal, options)) return BY_ADMIN
  if (check.admin && check.permissions.length === 0)
    return {
      permitted: false,
      refusal: mask(check, adminExceptionOf(), context),
      denialReason: denialReasonOf(check, [], () => null),
      isHidden: check.denied === 404,
    }
  const open = openOf(check, context)
  if (open !== null) return open
  const records = options.records()
  const permissionChecks = permissionChecksOf(check, context)
  // The entity belongs to no definition and no instance, so no id can be checked. The engine permits every caller.
  if (permissionChecks.length === 0) return isKnown(check, context) ? NOTHING_ASKED : UNDECIDABLE
  const permitted =
    check.mode === 'all'
      ? decideAll(records, principal, permissionChecks)
      : decideAny(records, principal, permissionChecks)
  return permitted ? PERMITTED : refused(check, context, enabledChecks(records, permissionChecks), records)
}

function refused(
  check: CompiledCheck,
  context: EvaluationContext,
  enabled: readonly PermissionCheck[],
  records: Records,
): Decision {
  const { principal } = context.accessRequest
  const missing = missingOf(enabled)
  const forbidden = check.admin
    ? adminOrPermissionExceptionOf(missing)
    : authorizationExceptionOf(principal.userId, missing, check)
  return {
    permitted: false,
    refusal: mask(check, forbidden, context),
    denialReason: denialReasonOf(check, enabled, (permissionCheck) =>
      isAuthorized(records, principal, permissionCheck),
    ),
    isHidden: check.denied === 404 || check.denied === 400,
    isUnselected: check.isUnselected,
  }
}

/** Returns a permit for a task of a case, or for an entity that every caller finds. The engine checks no permission on them. */
function openOf({ permissions, exempt }: CompiledCheck, context: EvaluationContext): Decision | null {
  for (const { attribute } of permissions) {
    if (attribute.from !== 'lookup') continue
    const attributes = attributesOf(attribute, context)
    if (attribute.lookup === 'task' && isExempt('case', attributes)) return OF_CASE
    if (isExempt(exempt, attributes)) return FOUND_BY_ALL
  }
  return null
}

/** Returns whether the entity without ids was loaded. If it was not loaded, an empty check decides nothing. */
function isKnown({ permissions }: CompiledCheck, context: EvaluationContext): boolean {
  return permissions.some(
    ({ attribute }) => attribute.from === 'lookup' && attributesOf(attribute, context) !== null,
  )
}

/** Returns whether a check passes without any id: the caller is an admin, or a grant on all ids applies and no revocation counts for the caller. */
export function isDecidedGlobally(
  check: CompiledCheck,
  { principal }: AccessRequest,
  options: EvaluationOptions,
): boolean {
  if (check.admin && isAdmin(principal, options)) return true
  const records = options.records()
  if (usesRevokes(records, principal)) return false
  const { globalChecks, permissions, mode } = check
  if (mode === 'all')
    return globalChecks.length === permissions.length && decideAll(records, principal, globalChecks)
  return globalChecks.length > 0 && decideAny(records, principal, globalChecks)
}

/** Returns the permissions that a refused check lacks. A denial ends the engine's "one of", so the alternatives after it would not help. */
function denialReasonOf(
  { index, mode, admin }: Pick<CompiledCheck, 'index' | 'mode' | 'admin'>,
  permissionChecks: readonly PermissionCheck[],
  answerTo: (permissionCheck: PermissionCheck) => boolean | null,
): DenialReason {
  const rule = admin ? operatorText`check ${index}: admin` : operatorText`check ${index}`
  const asked =
    mode === 'any'
      ? untilFirst(permissionChecks, (permissionCheck) => answerTo(permissionCheck) !== null)
      : permissionChecks.filter((permissionCheck) => answerTo(permissionCheck) !== true)
  const missing = asked.map(({ resource, permission, id }, at) => ({
    permission,
    resource: RESOURCES[resource].name,
    resourceId: id ?? '*',
    need: mode === 'any' ? 0 : at,
  }))
  return { rule, missing }
}

function untilFirst<T>(list: readonly T[], isLast: (item: T) => boolean): readonly T[] {
  const at = list.findIndex(isLast)
  return at < 0 ? list : list.slice(0, at + 1)
}

/** Returns whether a check applies. Null if only the engine knows, or the entity has not been looked up. */
export function applies(when: Condition | null, situation: Situation): boolean | null {
  return when === null ? true : when.holds(situation)
}

/** Returns whether every caller finds the entity, whatever the records say. */
function isExempt(exempt: ExemptEntity | null, attributes: Attributes | null): boolean {
  if (exempt === null || attributes === null) return false
  if (exempt === 'case') return (attributes['caseExecutionId'] ?? null) !== null
  return (attributes[exempt === 'no execution' ? 'executionId' : 'processDefinitionKey'] ?? null) === null
}
