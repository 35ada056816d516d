import { claimKeyOf, type ClaimPath, type TokenClaims } from '../../request/claims.ts'
import type { Principal } from '../../request/principal.ts'
import { isObject } from '../../request/value.ts'
import type { TokenFault } from './token-faults.ts'

/** The claims that contain the user, groups and tenants of a token. */
export interface ClaimSettings {
  readonly user: ClaimPath
  /** The claim that is used if `user` is absent. If null, a token without `user` is refused. */
  readonly client: ClaimPath | null
  readonly groups: readonly ClaimPath[]
  readonly tenants: readonly ClaimPath[]
  /** Claims that every token must contain. A token without one is refused. */
  readonly required: readonly ClaimPath[]
  /** Claims that the principal contains. */
  readonly kept: readonly ClaimPath[]
  readonly userPrefix: string
  readonly groupPrefix: string
}

type Claims = Readonly<Record<string, unknown>>

/** The longest name of a user or group in the engine's authorization records. */
const MAX_NAME_CHARS = 255
/** The maximum number of groups, and of tenants, because every decision checks all of them. */
const MAX_NAMES = 500
/** Invisible characters, and characters that change the direction of text. With them, one name could look like another in a log. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/**
 * Returns the user, groups and tenants that the claims of a token name, or the reason why the token is refused. A token with a claim
 * that cannot be read, or that the issuer has left out, is refused, because an authorization record may revoke a permission of a
 * group.
 */
export function principalIn(claims: Claims, settings: ClaimSettings): Principal | TokenFault {
  const left = missingClaimIn(claims, settings)
  if (left !== null) return left
  const { user, client, userPrefix, groupPrefix } = settings
  const own = claimIn(claims, user)
  const id = own === undefined && client !== null ? claimIn(claims, client) : own
  if (typeof id !== 'string') return 'user'
  const userId = userPrefix + id
  const groups = namesIn(claims, settings.groups, groupPrefix)
  const tenants = namesIn(claims, settings.tenants, '')
  if (id === '' || !isName(userId)) return 'user'
  if (groups === null || tenants === null) return 'groups'
  const named = { userId, groups, tenants }
  return settings.kept.length === 0 ? named : { ...named, claims: keptClaimsIn(claims, settings.kept) }
}

/** Returns the claims that the principal contains. */
function keptClaimsIn(claims: Claims, paths: readonly ClaimPath[]): TokenClaims {
  const kept = new Map<string, readonly string[] | 'unreadable'>()
  for (const path of paths) {
    const values = isDistributed(claims, path[0] ?? '') ? 'unreadable' : valuesOf(claimIn(claims, path) ?? [])
    if (values.length > 0) kept.set(claimKeyOf(path), values)
  }
  return kept
}

/** Returns the values of a claim: each item of a list. A text has itself and each of its words as values. */
function valuesOf(claim: unknown): readonly string[] | 'unreadable' {
  const listed: readonly unknown[] = Array.isArray(claim) ? claim : [claim]
  const values = new Set<string>()
  for (const one of listed) {
    if (typeof one !== 'string' && typeof one !== 'number' && typeof one !== 'boolean') return 'unreadable'
    const text = String(one)
    for (const value of [text, ...text.split(' ')]) values.add(value)
  }
  return values.size > MAX_NAMES ? 'unreadable' : [...values]
}

/** Returns the reason why a configured claim is not in the token although the user may have values for it, or null if no claim is missing. */
function missingClaimIn(claims: Claims, settings: ClaimSettings): TokenFault | null {
  const { user, client, groups, tenants, required } = settings
  const paths = [user, ...(client === null ? [] : [client]), ...groups, ...tenants]
  if (paths.some(([name = '']) => isDistributed(claims, name))) return 'distributed'
  return required.some((path) => (claimIn(claims, path) ?? null) === null) ? 'missing' : null
}

/**
 * Returns true if the issuer provides the values of a claim in another place: distributed and aggregated claims (OpenID Connect Core
 * 1.0 section 5.6.2), and `hasgroups` of Microsoft Entra, which omits the groups if there are more than 200, or more than 5 in the
 * implicit flow.
 */
function isDistributed(claims: Claims, name: string): boolean {
  const names = claimIn(claims, ['_claim_names']) ?? null
  const hasGroups = claimIn(claims, ['hasgroups']) ?? false
  if (name === 'groups' && hasGroups !== false && hasGroups !== 'false') return true
  return names !== null && (!isObject(names) || Object.hasOwn(names, name))
}

/** Returns the names in these claims, or null if a value is not a valid name or there are too many. */
function namesIn(claims: Claims, paths: readonly ClaimPath[], prefix: string): readonly string[] | null {
  const names = new Set<string>()
  for (const path of paths) {
    const value = claimIn(claims, path) ?? []
    const listed: readonly unknown[] = Array.isArray(value) ? value : [value]
    for (const one of listed) {
      if (typeof one !== 'string' || one === '' || !isName(prefix + one)) return null
      names.add(prefix + one)
    }
  }
  return names.size > MAX_NAMES ? null : [...names]
}

/** Returns the value at a path. Only own members count, because every object inherits members such as `constructor`. */
function claimIn(claims: Claims, path: ClaimPath): unknown {
  let value: unknown = claims
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

/** Returns true for a valid name. `*` means all users in authorization records. Databases ignore spaces at the end of a name. */
function isName(text: string): boolean {
  return text !== '*' && text.length <= MAX_NAME_CHARS && text.trim() === text && !INVISIBLE.test(text)
}
