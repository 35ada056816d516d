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

/** Who a token's claims say its user is; else why nobody. What is present and cannot be read refuses the token: a group may carry a revocation. */
export function principalIn(claims: Claims, settings: ClaimSettings): Principal | TokenFault {
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
