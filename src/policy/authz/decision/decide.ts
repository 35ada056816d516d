import { bitOf, RESOURCES } from '../../../operations/permissions.ts'
import type { Principal } from '../../../request/principal.ts'
import { NOBODY, usesRevokes, type Records, type Rights, type Subjects } from '../records/records.ts'
import type { PermissionCheck } from './permission-check.ts'

/**
 * Returns the step that decides in the engine: 1–4 are the user's records, 5–8 those of the groups, 9–12 the global records.
 * Within each level the steps are: grant on the id, revocation on the id, grant on `*`, revocation on `*`. An odd step
 * permits. Returns 0 if no record decides.
 */
export function stepOf(records: Records, principal: Principal, check: PermissionCheck): number {
  const bit = bitOf(check.resource, check.permission)
  if (bit === null) return 0
  const { any, own } = subjectsOf(records, check)
  const steps = usesRevokes(records, principal) ? 0b1111 : 0b0101
  const { userId } = principal
  const ofUser = own.users.get(userId)
  const user = implicitUserStep(check, ofUser, bit) | stepsIn(any.users.get(userId), ofUser, bit)
  if ((user & steps) !== 0) return lowest(user & steps)
  // All groups are combined: a grant for one group takes precedence over a revocation for another.
  let groups = implicitGroupStep(check, own, bit)
  for (const group of principal.groups) groups |= stepsIn(any.groups.get(group), own.groups.get(group), bit)
  if ((groups & steps) !== 0) return 4 + lowest(groups & steps)
  const global = stepsIn(any.global, own.global, bit) & steps
  return global === 0 ? 0 : 8 + lowest(global)
}

/** Returns the subjects that records name for `*` and for the id itself. */
export function subjectsOf(
  { rights }: Records,
  { resource, id }: PermissionCheck,
): { readonly any: Subjects; readonly own: Subjects } {
  const byId = rights.get(RESOURCES[resource].id)
  const own = id === null || id === '*' ? undefined : byId?.get(id)
  return { any: byId?.get('*') ?? NOBODY, own: own ?? NOBODY }
}

/** Returns the engine's decision on one permission check, or null if no record decides it. */
export function isAuthorized(records: Records, principal: Principal, check: PermissionCheck): boolean | null {
  const step = stepOf(records, principal, check)
  return step === 0 ? null : step % 2 === 1
}

/**
 * Returns the engine's "one of": the first check that a record decides is the decision, even a denial. The order therefore
 * matters if there are revocations.
 */
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

/** Returns the engine's "all of": a check that no record decides counts as denied. */
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
 * Returns whether one record grants every permission, on this id or on `*`, as a join of the records with a conjunction
 * does. It ignores revocations: if they count, the engine checks each permission separately.
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

/** Returns the checks whose permission is not disabled. Only these are used in a decision and named in a refusal. */
export function enabledChecks(
  records: Records,
  checks: readonly PermissionCheck[],
): readonly PermissionCheck[] {
  return records.disabled.size === 0
    ? checks
    : checks.filter(({ permission }) => !records.disabled.has(permission))
}

/**
 * Returns whether the only permission checked is disabled; the engine then skips the check. If several permissions are
 * checked and all are disabled, the request is refused, because the engine's behaviour is not documented.
 */
function isLoneDisabled(records: Records, checks: readonly PermissionCheck[]): boolean {
  const [only] = checks
  return checks.length === 1 && only !== undefined && records.disabled.has(only.permission)
}

/** Returns which of a level's four steps apply, as bits. Step 1 is the lowest bit. */
export function stepsIn(onAny: Rights | undefined, onOwn: Rights | undefined, bit: number): number {
  return (stepsOfRights(onAny, bit) << 2) | stepsOfRights(onOwn, bit)
}

function stepsOfRights(rights: Rights | undefined, bit: number): number {
  if (rights === undefined) return 0
  const grants = rights.granted !== null && (rights.granted & bit) === bit ? 0b01 : 0
  return (rights.revoked & bit) === 0 ? grants : grants | 0b10
}

/** Returns whether there is a GRANT record, even one without permissions. */
function isGrant(rights: Rights | undefined): boolean {
  return rights !== undefined && rights.granted !== null
}

function implicitUserStep(
  { resource, implicitBits }: PermissionCheck,
  stored: Rights | undefined,
  bit: number,
) {
  return resource !== 'TASK' && isGrant(stored) ? 0 : implicitStep(implicitBits?.user, bit)
}

function implicitGroupStep({ resource, id, implicitBits }: PermissionCheck, own: Subjects, bit: number) {
  const isStored = resource === 'GROUP' && id !== null && isGrant(own.groups.get(id))
  return isStored ? 0 : implicitStep(implicitBits?.groups, bit)
}

function implicitStep(bits: number | undefined, bit: number): number {
  // Without bits there is no record. A record of the engine grants `NONE`, which has no bit, too.
  return bits !== undefined && bits !== 0 && (bits & bit) === bit ? 0b01 : 0
}

function lowest(steps: number): number {
  return 32 - Math.clz32(steps & -steps)
}
