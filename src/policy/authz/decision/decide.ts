import { bitOf, RESOURCES } from '../../../operations/permissions.ts'
import type { Principal } from '../../../request/principal.ts'
import { NOBODY, usesRevokes, type Records, type Rights, type Subjects } from '../records/records.ts'
import type { PermissionCheck } from './permission-check.ts'

/**
 * The step of the engine's decision that answers: 1–4 the user's records, 5–8 those of the groups, 9–12 the global
 * ones; within each grant on the id, revocation on the id, grant on `*`, revocation on `*`. 0: none does. Odd is yes.
 */
export function stepOf(records: Records, principal: Principal, check: PermissionCheck): number {
  const bit = bitOf(check.resource, check.permission)
  if (bit === null) return 0
  const { any, own } = subjectsOf(records, check)
  const steps = usesRevokes(records, principal) ? 0b1111 : 0b0101
  const { userId } = principal
  const user =
    implicitStep(check.implicitBits?.user, bit) | stepsIn(any.users.get(userId), own.users.get(userId), bit)
  if ((user & steps) !== 0) return lowest(user & steps)
  // All groups together: a grant through one beats a revocation through another.
  let groups = implicitStep(check.implicitBits?.groups, bit)
  for (const group of principal.groups) groups |= stepsIn(any.groups.get(group), own.groups.get(group), bit)
  if ((groups & steps) !== 0) return 4 + lowest(groups & steps)
  const global = stepsIn(any.global, own.global, bit) & steps
  return global === 0 ? 0 : 8 + lowest(global)
}

/** Whom records name for `*` and for the very id. */
export function subjectsOf(
  { rights }: Records,
  { resource, id }: PermissionCheck,
): { readonly any: Subjects; readonly own: Subjects } {
  const byId = rights.get(RESOURCES[resource].id)
  const own = id === null || id === '*' ? undefined : byId?.get(id)
  return { any: byId?.get('*') ?? NOBODY, own: own ?? NOBODY }
}

/** The engine's answer to one atomic check; null when no record speaks about it. */
export function isAuthorized(records: Records, principal: Principal, check: PermissionCheck): boolean | null {
  const step = stepOf(records, principal, check)
  return step === 0 ? null : step % 2 === 1
}

/** The engine's "one of": the first check with an answer decides, even with no; so the order matters as soon as there are revocations. */
export function decideAny(
  records: Records,
  principal: Principal,
  checks: readonly PermissionCheck[],
): boolean {
  if (isLoneDisabled(records, checks)) return true
  for (const check of enabledChecks(records, checks)) {
    const answer = isAuthorized(records, principal, check)
    if (answer !== null) return answer
  }
  return false
}

/** The engine's "all of": no answer counts as no. */
export function decideAll(
  records: Records,
  principal: Principal,
  checks: readonly PermissionCheck[],
): boolean {
  if (isLoneDisabled(records, checks)) return true
  const enabled = enabledChecks(records, checks)
  return enabled.length > 0 && enabled.every((check) => isAuthorized(records, principal, check) === true)
}

/**
 * Whether one record that grants, on this id or on `*`, holds every permission: what a join of the records with a
 * conjunction finds. Revocations say nothing here: where they count the engine asks for each permission by itself.
 */
export function isGrantedTogether(
  records: Records,
  { userId, groups }: Principal,
  checks: readonly PermissionCheck[],
): boolean {
  const enabled = enabledChecks(records, checks)
  const [first] = enabled
  if (first === undefined) return false
  const bits = enabled.map(({ resource, permission }) => bitOf(resource, permission))
  const { any, own } = subjectsOf(records, first)
  const holds = (rights: Rights | undefined): boolean =>
    bits.every((bit) => bit !== null && ((rights?.granted ?? 0) & bit) === bit)
  return [any, own].some(
    (subjects) =>
      holds(subjects.users.get(userId)) ||
      groups.some((group) => holds(subjects.groups.get(group))) ||
      holds(subjects.global),
  )
}

/** The checks that a decision looks at and a refusal names: those whose permission is not disabled. */
export function enabledChecks(
  records: Records,
  checks: readonly PermissionCheck[],
): readonly PermissionCheck[] {
  return records.disabled.size === 0
    ? checks
    : checks.filter(({ permission }) => !records.disabled.has(permission))
}

/** A check with nothing but one disabled permission is no check. Several, all disabled, are refused: what the engine does then is no promise. */
function isLoneDisabled(records: Records, checks: readonly PermissionCheck[]): boolean {
  const [only] = checks
  return checks.length === 1 && only !== undefined && records.disabled.has(only.permission)
}

/** Which of a level's four steps apply, as bits: step 1 is the lowest. */
export function stepsIn(onAny: Rights | undefined, onOwn: Rights | undefined, bit: number): number {
  return (stepsOfRights(onAny, bit) << 2) | stepsOfRights(onOwn, bit)
}

function stepsOfRights(rights: Rights | undefined, bit: number): number {
  if (rights === undefined) return 0
  const grants = rights.granted !== null && (rights.granted & bit) === bit ? 0b01 : 0
  return (rights.revoked & bit) === 0 ? grants : grants | 0b10
}

function implicitStep(bits: number | undefined, bit: number): number {
  return bits !== undefined && bit !== 0 && (bits & bit) === bit ? 0b01 : 0
}

function lowest(steps: number): number {
  return 32 - Math.clz32(steps & -steps)
}
