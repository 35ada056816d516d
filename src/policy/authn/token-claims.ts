import type { Principal } from '../../request/principal.ts'
import { isObject } from '../../request/value.ts'
import type { TokenFault } from './token-faults.ts'

/** The names of nested members, from the outermost on. */
export type ClaimPath = readonly string[]

/** Where a token says who its user is. */
export interface ClaimSettings {
  readonly user: ClaimPath
  /** Where `user` is absent; null: such a token is refused. */
  readonly client: ClaimPath | null
  readonly groups: readonly ClaimPath[]
  readonly tenants: readonly ClaimPath[]
  /** Claims that every token must contain. A token without one is refused. */
  readonly required: readonly ClaimPath[]
  readonly userPrefix: string
  readonly groupPrefix: string
}

type Claims = Readonly<Record<string, unknown>>

/** As long as a user or a group may be in the engine's authorization records. */
const MAX_NAME_CHARS = 255
/** Of groups, and of tenants: each decision looks at all of them. */
const MAX_NAMES = 500
/** What cannot be seen, or turns what follows it around: one name would look like another in a log. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/**
 * Returns the user, groups and tenants that the claims of a token name, or the reason why the token is refused. A claim that
 * is unreadable, or that the issuer has left out, refuses the token: an authorization record may revoke a permission for a group.
 */
export function principalIn(claims: Claims, settings: ClaimSettings): Principal | TokenFault {
  const left = missingClaimIn(claims, settings)
  if (left !== null) return left
  const { user, client, userPrefix, groupPrefix } = settings
  const named = claimIn(claims, user)
  const id = named === undefined && client !== null ? claimIn(claims, client) : named
  if (typeof id !== 'string') return 'user'
  const userId = userPrefix + id
  const groups = namesIn(claims, settings.groups, groupPrefix)
  const tenants = namesIn(claims, settings.tenants, '')
  if (id === '' || !isName(userId)) return 'user'
  return groups === null || tenants === null ? 'groups' : { userId, groups, tenants }
}

/** The reason why a configured claim is not in the token although the user may have values for it; null: no claim was left out. */
function missingClaimIn(claims: Claims, settings: ClaimSettings): TokenFault | null {
  const { user, client, groups, tenants, required } = settings
  const paths = [user, ...(client === null ? [] : [client]), ...groups, ...tenants]
  if (paths.some(([name = '']) => isDistributed(claims, name))) return 'distributed'
  return required.some((path) => (claimIn(claims, path) ?? null) === null) ? 'missing' : null
}

/**
 * Tells whether the issuer keeps the values of a claim elsewhere: distributed and aggregated claims (OpenID Connect Core 1.0
 * section 5.6.2), and `hasgroups` of Microsoft Entra, which leaves out more than 200 groups, or more than 5 in the implicit flow.
 */
function isDistributed(claims: Claims, name: string): boolean {
  const names = claimIn(claims, ['_claim_names']) ?? null
  const hasGroups = claimIn(claims, ['hasgroups']) ?? false
  if (name === 'groups' && hasGroups !== false && hasGroups !== 'false') return true
  return names !== null && (!isObject(names) || Object.hasOwn(names, name))
}

/** Null: something there is no name. */
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

/** Own members alone: every object has a `constructor`. */
function claimIn(claims: Claims, path: ClaimPath): unknown {
  let value: unknown = claims
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

/** `*` means everybody in authorization records. Databases take a name with blanks at its end for the one without. */
function isName(text: string): boolean {
  return text !== '*' && text.length <= MAX_NAME_CHARS && text.trim() === text && !INVISIBLE.test(text)
}
