import { type Ceiling, lowerOf } from '../../operations/ceilings.ts'
import { claimKeyOf, type ClaimPath, type TokenClaims } from '../../request/claims.ts'
import { ANONYMOUS, type Principal } from '../../request/principal.ts'
import { type CountedRate, intervalMs, type Rate } from './rate.ts'

/** One rule of `limits.ceilings`. It applies to every caller that one of its members names, and to every caller if it has none. */
export interface CeilingRule {
  readonly ceiling: Ceiling
  readonly users: readonly string[]
  readonly groups: readonly string[]
  /** Ids of OAuth clients. */
  readonly clients: readonly string[]
  readonly claim: { readonly path: ClaimPath; readonly values: readonly string[] } | null
}

/** The claims that may contain the id of the client to which a token was issued: RFC 9068, OpenID Connect, Microsoft Entra, Okta. */
const CLIENT_CLAIMS: readonly ClaimPath[] = [['client_id'], ['azp'], ['appid'], ['cid']]

/** Returns the claims that a principal must contain for these rules. */
export function claimsOf(rules: readonly CeilingRule[]): readonly ClaimPath[] {
  const paths = rules.flatMap(({ clients, claim }) => [
    ...(clients.length === 0 ? [] : CLIENT_CLAIMS),
    ...(claim === null ? [] : [claim.path]),
  ])
  return [...new Map(paths.map((path) => [claimKeyOf(path), path])).values()]
}

type CeilingSubject = Pick<Principal, 'userId' | 'groups' | 'claims'>

/** Returns the lowest ceiling of the rules that apply to a caller. `all` if no rule applies. */
export type CeilingOf = (caller: CeilingSubject) => Ceiling

/** Creates the function that finds the ceiling of a caller. */
export function createCeilingOf(rules: readonly CeilingRule[]): CeilingOf {
  if (rules.length === 0) return () => 'all'
  const known = rules.map((rule) => ({ ceiling: rule.ceiling, applies: createAppliesTo(rule) }))
  return rememberedByCaller((caller) =>
    // A request without credentials reaches only the operations that the configuration opens.
    caller === ANONYMOUS
      ? 'all'
      : known
          .filter(({ applies }) => applies(caller))
          .reduce<Ceiling>((lowest, { ceiling }) => lowerOf(lowest, ceiling), 'all'),
  )
}

/** Remembers the result for each caller. A remembered credential has the same principal for each request. */
function rememberedByCaller<T extends object | string | null>(
  find: (caller: CeilingSubject) => T,
): (caller: CeilingSubject) => T {
  const known = new WeakMap<CeilingSubject, T>()
  return function findRemembered(caller) {
    const before = known.get(caller)
    if (before !== undefined) return before
    const found = find(caller)
    known.set(caller, found)
    return found
  }
}

/** A rule with a rate of its own. */
export interface RatedRule extends CeilingRule {
  readonly rate: Rate | null
}

/** Creates the function that finds the rate that rules give to a caller: the slowest one. Null if no rule gives a rate. */
export function createRuleRateOf(
  rules: readonly RatedRule[],
): (caller: CeilingSubject) => CountedRate | null {
  const rates = rules.flatMap((rule, at) =>
    // No user id contains this control character, so no rule shares a counter with a user.
    rule.rate === null
      ? []
      : [{ applies: createAppliesTo(rule), counted: { rate: rule.rate, counter: `\0ceiling:${at}` } }],
  )
  rates.sort((one, other) => intervalMs(other.counted.rate) - intervalMs(one.counted.rate))
  if (rates.length === 0) return () => null
  return rememberedByCaller((caller) => rates.find(({ applies }) => applies(caller))?.counted ?? null)
}

/** Creates the function that returns whether a rule applies to a caller. A rule may have thousands of names, and a caller hundreds. */
function createAppliesTo({
  users,
  groups,
  clients,
  claim,
}: CeilingRule): (caller: CeilingSubject) => boolean {
  if (users.length + groups.length + clients.length === 0 && claim === null) return () => true
  const [ruleUsers, ruleGroups, ruleClients] = [new Set(users), new Set(groups), new Set(clients)]
  const claimValues = new Set(claim?.values)
  return (caller) =>
    ruleUsers.has(caller.userId) ||
    caller.groups.some((group) => ruleGroups.has(group)) ||
    CLIENT_CLAIMS.some((path) => hasValue(caller.claims, path, ruleClients)) ||
    (claim !== null && hasValue(caller.claims, claim.path, claimValues))
}

/** Returns whether a claim has one of these values. A claim that cannot be read may have any value, so the ceiling applies. */
function hasValue(claims: TokenClaims | undefined, path: ClaimPath, values: ReadonlySet<string>): boolean {
  if (values.size === 0) return false
  const held = claims?.get(claimKeyOf(path))
  return held === 'unreadable' || (held?.some((value) => values.has(value)) ?? false)
}
