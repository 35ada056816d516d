import { GatewayError } from '../../../errors.ts'
import { disguise } from './not-found.ts'
import { applies, isExempt } from './conditions.ts'
import type { Asked } from '../../../request/access-request.ts'
import type { AtomOptions } from './permission-checks.ts'
import type { CompiledCheck, Ground } from './check.ts'
import { atomsOf, factsOf, missingOf } from './check.ts'
import type { AtomicCheck } from '../decision/decide.ts'
import { decideAll, decideAny, enabledChecks, isAuthorized } from '../decision/decide.ts'
import type { Records } from '../records/records.ts'
import { usesRevokes } from '../records/records.ts'
import {
  adminExceptionOf,
  adminOrPermissionExceptionOf,
  authorizationExceptionOf,
} from './authorization-exception.ts'
import type { Verdict } from './decision.ts'
import {
  BY_ADMIN,
  FOUND_BY_ALL,
  groundsOf,
  NOT_APPLIED,
  NOTHING_ASKED,
  OF_CASE,
  PERMITTED,
} from './decision.ts'

export const NOT_EXACT: Verdict = { permitted: false, refusal: new GatewayError('GW_CHECK_NOT_EXACT') }

export interface RulingOptions extends AtomOptions {
  readonly records: () => Records
  readonly adminGroups: readonly string[]
  readonly adminUsers: readonly string[]
}

/** One check against the records: the pure decision, and what its refusal looks like. */
export function rule(check: CompiledCheck, ground: Ground, options: RulingOptions): Verdict {
  if (applies(check.when, ground) === false) return NOT_APPLIED
  const { principal } = ground.asked
  if (check.admin && isAdmin(principal, options)) return BY_ADMIN
  if (check.admin && check.permissions.length === 0)
    return { permitted: false, refusal: adminExceptionOf(), grounds: groundsOf(check, [], () => null) }
  const open = openOf(check, ground)
  if (open !== null) return open
  const records = options.records()
  const atoms = atomsOf(check, ground)
  // Nothing to ask about: the entity belongs to no definition and no instance, and the engine lets everybody in.
  if (atoms.length === 0) return isKnown(check, ground) ? NOTHING_ASKED : NOT_EXACT
  const permitted =
    check.mode === 'all' ? decideAll(records, principal, atoms) : decideAny(records, principal, atoms)
  return permitted ? PERMITTED : refused(check, ground, enabledChecks(records, atoms), records)
}

function refused(
  check: CompiledCheck,
  ground: Ground,
  enabled: readonly AtomicCheck[],
  records: Records,
): Verdict {
  const { principal } = ground.asked
  const missing = missingOf(enabled)
  const forbidden = check.admin
    ? adminOrPermissionExceptionOf(missing)
    : authorizationExceptionOf(principal.userId, missing)
  return {
    permitted: false,
    refusal: disguise(check, forbidden, ground),
    grounds: groundsOf(check, enabled, (atom) => isAuthorized(records, principal, atom)),
    isHidden: check.denied === 404 || check.denied === 400,
    isUnselected: check.isUnselected,
  }
}

/** The engine asks for no permission on a task of a case, nor on what everybody finds. */
function openOf({ permissions, exempt }: CompiledCheck, ground: Ground): Verdict | null {
  for (const { fact } of permissions) {
    if (fact.from !== 'lookup') continue
    const facts = factsOf(fact, ground)
    if (fact.lookup === 'task' && isExempt('case', facts)) return OF_CASE
    if (isExempt(exempt, facts)) return FOUND_BY_ALL
  }
  return null
}

/** Whether that which has no ids was looked at at all: without it an empty check says nothing. */
function isKnown({ permissions }: CompiledCheck, ground: Ground): boolean {
  return permissions.some(({ fact }) => fact.from === 'lookup' && factsOf(fact, ground) !== null)
}

/** What can be settled without knowing ids: an admin's pass, or a grant on all when no revocation counts for the caller. */
export function isSettled(check: CompiledCheck, { principal }: Asked, options: RulingOptions): boolean {
  if (check.admin && isAdmin(principal, options)) return true
  const records = options.records()
  if (usesRevokes(records, principal)) return false
  const { onAll, permissions, mode } = check
  if (mode === 'all') return onAll.length === permissions.length && decideAll(records, principal, onAll)
  return onAll.length > 0 && decideAny(records, principal, onAll)
}

export function isAdmin(
  { userId, groups }: Asked['principal'],
  { adminGroups, adminUsers }: Pick<RulingOptions, 'adminGroups' | 'adminUsers'>,
): boolean {
  return adminUsers.includes(userId) || groups.some((group) => adminGroups.includes(group))
}
