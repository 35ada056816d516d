import { LRUCache } from 'lru-cache'
import type { Principal } from '../request/principal.ts'
import { isAdmin, tenantsFor } from '../policy/authz/decision/admin.ts'
import { parametersOf } from '../policy/authz/checks/compile-check.ts'
import type { CompiledCheck } from '../policy/authz/checks/compiled-check.ts'
import type { OperationPolicy } from '../policy/authz/operation-policy.ts'
import type { AuditedRequest } from './audited-request.ts'
import type { ComparedPolicies, ComparedPolicy, Pair } from './compared-policy.ts'
import type { EffectiveComparison } from './effective-changes.ts'
import { type CheckOutcome, outcomesOf, unknownFactsOf } from './possible-outcomes.ts'

/** The decision of a new policy about the request of an audit line. */
export type LineDecision =
  | { readonly result: 'unchanged' }
  | { readonly result: 'changed'; readonly after: 'permitted' | 'refused' }
  /** The old policy cannot have made the decision of the line. */
  | { readonly result: 'not by the old policy' }
  /** The line does not contain the facts on which the new decision depends. */
  | { readonly result: 'undecidable'; readonly reason: string }

const UNCHANGED: LineDecision = { result: 'unchanged' }
const NOT_BY_OLD: LineDecision = { result: 'not by the old policy' }
const OF_ANOTHER_STAGE =
  'another stage has reported the request, and the line does not contain the decision of the policy'
const INCOMPLETE_IDS = 'the line does not contain the complete ids'

/** The kinds of authentication with which a caller has the groups of the users, and not those of a token. */
const HAS_GROUPS_OF_SOURCE: ReadonlySet<string> = new Set(['basic', 'certificate', 'session'])

/**
 * The largest total length of the requests whose decisions are remembered. Lines that differ only in ids that no record names share
 * one, and a refusal may name a hundred permissions.
 */
const MAX_REMEMBERED_CHARS = 20_000_000

/**
 * Decides the requests of audit lines by a new policy. A line does not contain each fact that a decision needs. All values of a
 * fact that is not in the line are tried, and those that contradict the decision of the line are left out. If the rest does not
 * agree, the new decision is not known.
 */
export class LineDecider {
  readonly #policies: ComparedPolicies
  readonly #comparison: EffectiveComparison
  readonly #names: ReadonlySet<string>
  /** Users that both policies have. */
  readonly #affected = new Map<string, boolean>()
  // The option `max` would allocate memory for all entries at once.
  readonly #decided = new LRUCache<string, LineDecision>({
    maxSize: MAX_REMEMBERED_CHARS,
    sizeCalculation: (_, key) => key.length,
  })

  constructor(policies: ComparedPolicies, comparison: EffectiveComparison) {
    this.#policies = policies
    this.#comparison = comparison
    this.#names = namesIn(policies)
  }

  decide(request: AuditedRequest): LineDecision {
    const { user, decision, stage, authenticated, isReported } = request
    // A refusal of another stage does not depend on the policy, and hides the decision of the policy.
    if (decision === 'refused' && stage !== 'permit' && !isReported) return UNCHANGED
    const { before, after } = this.#policies
    if (before.users === null || after.users === null)
      return undecidable('the groups of the user are not known: give the users')
    if (!HAS_GROUPS_OF_SOURCE.has(authenticated))
      return undecidable('the groups of the token are not in the line')
    const pair = { before: before.users.get(user), after: after.users.get(user) }
    if (pair.before === undefined) return NOT_BY_OLD
    if (pair.after === undefined) return decideWithoutUser(request)
    const principals = { before: pair.before, after: pair.after }
    if (!this.#isAffected(principals)) return UNCHANGED
    const absent = absentPartOf(request)
    return absent === null ? this.#remembered(this.#plain(request), principals) : undecidable(absent)
  }

  #isAffected(principals: Pair<Principal>): boolean {
    const { userId } = principals.before
    const known = this.#affected.get(userId)
    if (known !== undefined) return known
    const isAffected = this.#comparison.isAffected(principals) || this.#hasOtherRole(principals)
    this.#affected.set(userId, isAffected)
    return isAffected
  }

  #hasOtherRole({ before, after }: Pair<Principal>): boolean {
    return isAdmin(before, this.#policies.before) !== isAdmin(after, this.#policies.after)
  }

  #remembered(request: AuditedRequest, principals: Pair<Principal>): LineDecision {
    const key = JSON.stringify(request)
    const known = this.#decided.get(key)
    if (known !== undefined) return known
    const decided = this.#decideAffected(request, principals)
    this.#decided.set(key, decided)
    return decided
  }

  /** Replaces ids that no record, user, group or tenant has. All of them have the same decisions. */
  #plain(request: AuditedRequest): AuditedRequest {
    const plain = new Map<string, string>()
    const plainOf = (id: string): string => {
      if (id === '*' || this.#names.has(id)) return id
      const known = plain.get(id) ?? `\u0000${plain.size}`
      plain.set(id, known)
      return known
    }
    const params: Record<string, string> = {}
    for (const [name, value] of Object.entries(request.params)) params[name] = plainOf(value)
    const missing = request.missing.map((one) => ({ ...one, resourceId: plainOf(one.resourceId) }))
    return { ...request, params, missing }
  }

  #decideAffected(request: AuditedRequest, principals: Pair<Principal>): LineDecision {
    const [policy, other] = [this.#policies.before, this.#policies.after].map(({ policies }) =>
      policies.get(request.operation),
    )
    if (policy === undefined || other === undefined) return undecidable('the operation is not known')
    if ([...parametersOf(policy.operation.template)].some((name) => !Object.hasOwn(request.params, name)))
      return undecidable(INCOMPLETE_IDS)
    if (policy.operation !== other.operation)
      return undecidable('specificVariablePermissions changes the checks of the operation')
    if (this.#hasOtherTenants(policy, principals))
      return undecidable(
        'the tenants of the user change, and the line does not name the tenant of the entity',
      )
    const input: LineInput = { request, policy, principals, policies: this.#policies }
    return request.decision === 'permitted' ? decidePermitted(input) : decideRefused(input)
  }

  #hasOtherTenants({ checks }: OperationPolicy, { before, after }: Pair<Principal>): boolean {
    const isTenanted =
      checks.preconditions.isTenanted ||
      checks.bodyReach !== null ||
      checks.before.some(({ each }) => each !== null)
    const [old, fresh] = [
      visibleTenantsOf(this.#policies.before, before),
      visibleTenantsOf(this.#policies.after, after),
    ]
    return isTenanted && old !== fresh
  }
}

interface LineInput {
  readonly request: AuditedRequest
  readonly policy: OperationPolicy
  readonly principals: Pair<Principal>
  readonly policies: ComparedPolicies
}

/** Decides a request of a user that the new policy does not have: its authentication refuses. */
function decideWithoutUser({ decision, stage }: AuditedRequest): LineDecision {
  if (decision === 'permitted') return { result: 'changed', after: 'refused' }
  return stage === 'permit' ? UNCHANGED : undecidable(OF_ANOTHER_STAGE)
}

/** Decides a request that the old policy has permitted: all checks that apply have passed. */
function decidePermitted(input: LineInput): LineDecision {
  const { request } = input
  const { checks } = input.policy
  let open: string | null = openPartOf(input.policy)
  for (const check of [...checks.before, ...checks.after]) {
    const outcomes = outcomesOf(check, input)
    if (outcomes === null) return undecidable(unknownFactsOf(check))
    const passed = outcomes.filter((outcome) => outcome.before.permitted && isSaid(outcome, check, request))
    const isCertain =
      isAlwaysRun(check) || (hasGround(check, request) && !passed.some(({ isGlobal }) => isGlobal))
    if (passed.length === 0) {
      if (isCertain) return NOT_BY_OLD
      continue
    }
    if (!passed.some(({ after }) => !after.permitted)) continue
    if (isCertain && passed.every(({ after }) => !after.permitted))
      return { result: 'changed', after: 'refused' }
    open ??= unknownFactsOf(check)
  }
  return open === null ? UNCHANGED : undecidable(open)
}

/** Returns whether an outcome agrees with the reasons in the line. A check without a reason has not run, or runs over a set. */
function isSaid(
  { grounds, isOfSet }: CheckOutcome,
  check: CompiledCheck,
  { permittedBy }: AuditedRequest,
): boolean {
  if (permittedBy === null || check.after) return true
  const own = permittedBy.filter((ground) => ground.check === check.index)
  if (own.length === 0) return isOfSet
  return grounds.every(({ key }) => own.some((one) => one.key === key))
}

function hasGround({ index, after }: CompiledCheck, { permittedBy }: AuditedRequest): boolean {
  return !after && permittedBy?.some(({ check }) => check === index) === true
}

/** Decides a request that the old policy has refused. The line names the check that has refused, if it was a check. */
function decideRefused(input: LineInput): LineDecision {
  const { request, policy } = input
  const { checks } = policy
  const index = checkIndexOf(request.rule)
  const refusing = checks.before.find((check) => check.index === index)
  if (refusing === undefined) return decideOtherRefusal(input)
  const found = outcomesOf(refusing, input)
  if (found === null) return undecidable(unknownFactsOf(refusing))
  const outcomes = found.filter((outcome) => hasMissing(outcome, request))
  if (outcomes.length === 0) return NOT_BY_OLD
  if (outcomes.every(({ after }) => !after.permitted)) return UNCHANGED
  if (outcomes.some(({ after }) => !after.permitted)) return undecidable(unknownFactsOf(refusing))
  const open =
    openPartOf(policy) ?? laterRefusalOf(policy, refusing) ?? otherChecksOpen(checks.before, refusing, input)
  return open === null ? { result: 'changed', after: 'permitted' } : undecidable(open)
}

/** Returns why a check besides the one that has refused may refuse by the new policy. Null if none does. */
function otherChecksOpen(
  checks: readonly CompiledCheck[],
  refusing: CompiledCheck,
  input: LineInput,
): string | null {
  for (const check of checks) {
    if (check === refusing) continue
    // The old policy has passed the checks before the one that has refused.
    const hasPassed = check.index < refusing.index
    const possible = outcomesOf(check, input)?.filter(({ before }) => !hasPassed || before.permitted)
    if (possible === undefined || possible.some(({ after }) => !after.permitted)) return unknownFactsOf(check)
  }
  return null
}

/** Decides a refusal without a check: a missing entity, another tenant's, or items of a list. */
function decideOtherRefusal(input: LineInput): LineDecision {
  const { request, policy } = input
  if (request.rule?.startsWith('items:') === true) return undecidable('the visible items are not in the line')
  // A rule of the validation may have reported the request, which the policy then has permitted.
  if (request.isReported) return undecidable('the line does not name the check that would refuse')
  for (const check of [...policy.checks.before, ...policy.checks.after]) {
    const outcomes = outcomesOf(check, input)
    if (outcomes === null || outcomes.some(({ before, after }) => !before.permitted && after.permitted))
      return undecidable('the line does not name the check that refused')
  }
  const open = openPartOf(policy)
  return open === null ? UNCHANGED : undecidable(open)
}

/** Returns why the checks alone do not decide the operation. Null if they do. */
function openPartOf({ operation, restriction }: OperationPolicy): string | null {
  if (restriction !== null) return 'the visible items are not in the line'
  if (operation.selectors !== undefined) return 'the entities that the body selects are not in the line'
  return operation.handler === undefined ? null : 'the gateway itself responds to the operation'
}

/** Returns the part that may still refuse after the check that refused. Null if only other checks may. */
function laterRefusalOf({ checks }: OperationPolicy, { each }: CompiledCheck): string | null {
  if (each !== null) return `the line names only the first refused entity of ${each}`
  return checks.bodyReach !== null || checks.preconditions.hasPostconditions || checks.after.length > 0
    ? 'the line does not contain what is checked after the refusal'
    : null
}

/** Returns whether a check certainly runs. Other checks depend on a condition or on a set, which may be empty. */
function isAlwaysRun({ when, each, needsTarget, after }: CompiledCheck): boolean {
  return when === null && !after && (each === null || needsTarget)
}

/** Returns whether the refusal of the old policy names the missing permissions of the line. */
function hasMissing({ before }: CheckOutcome, { missing, isReported }: AuditedRequest): boolean {
  if (before.permitted) return false
  const expected = before.denialReason?.missing ?? []
  const isComplete = isReported || expected.length === missing.length
  return (
    isComplete &&
    expected.every((one, at) => {
      const given = missing[at]
      return (
        given !== undefined &&
        given.need === one.need &&
        given.permission === one.permission &&
        given.resource === one.resource &&
        given.resourceId === one.resourceId
      )
    })
  )
}

function checkIndexOf(rule: string | null): number | null {
  const [, index] = /^check (\d+)(?:: admin)?$/.exec(rule ?? '') ?? []
  return index === undefined ? null : Number(index)
}

/** Returns the part of the decision that is not in the line. Null if it is complete. */
function absentPartOf({ decision, stage, isCut }: AuditedRequest): string | null {
  if (decision === 'refused' && stage !== 'permit') return OF_ANOTHER_STAGE
  // An id that the audit log has cut is not the id of the request, although it looks like one that no record names.
  return isCut ? INCOMPLETE_IDS : null
}

function visibleTenantsOf(policy: ComparedPolicy, principal: Principal): string {
  const tenants = tenantsFor({ principal }, policy)
  return tenants === null ? 'all' : JSON.stringify(tenants.toSorted())
}

/** Returns the names of records and users on which decisions may depend. */
function namesIn({ before, after }: ComparedPolicies): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { records, users } of [before, after]) {
    for (const ids of records.rights.values()) for (const id of ids.keys()) names.add(id)
    for (const { userId, groups, tenants } of users?.values() ?? [])
      for (const name of [userId, ...groups, ...tenants]) names.add(name)
  }
  return names
}

function undecidable(reason: string): LineDecision {
  return { result: 'undecidable', reason }
}
