import { LRUCache } from 'lru-cache'
import type { Principal } from '../../request/principal.ts'
import { createHeaderHash } from './credentials.ts'
import type { RenewalState } from './renewals.ts'
import type { TokenFault } from './token-faults.ts'
import type { VerificationKey } from './verification-key.ts'

/** A verified token. */
export interface VerifiedToken {
  readonly principal: Principal
  /** The issuer, by which its keys are found. Null for a token without an issuer. */
  readonly issuer: string | null
  readonly key: VerificationKey
  /** The stamp of the user in the identity source, or undefined if the source was not used. */
  readonly stamp: unknown
  /** The beginning of the verification, on the monotonic clock. */
  readonly at: number
  /** The time from which a use of the token renews it. */
  readonly dueAt: number
  /** The end of caching, on the monotonic clock. The same as `at` if the token is not cached. */
  readonly until: number
  readonly renewal: RenewalState
  /** `exp` with the skew, on the wall clock. */
  readonly expiresAtSeconds: number
}

/** A token that was refused after its signature was checked. */
export interface RefusedToken {
  readonly fault: TokenFault
  readonly key: VerificationKey
  readonly stamp: unknown
  readonly until: number
}

/** Tokens by the keyed hash of their header. They are plain values, so that the next configuration for the same tokens can use them. */
export interface TokenMemoryState {
  readonly keyOf: (header: string) => string
  readonly right: LRUCache<string, VerifiedToken>
  readonly wrong: LRUCache<string, RefusedToken>
  /** The tokens by the principal that a verification returned. An entry remains as long as a request refers to the principal. */
  readonly byPrincipal: WeakMap<Principal, VerifiedToken>
}

/**
 * Creates the data of an empty cache of tokens.
 * @param max limit of each of the two caches, for users with up to 1,024 characters of groups, tenants and claims. A user with more counts
 *   as several. The least recently used token is removed first.
 */
export function createRememberedTokens(max = 10_000): TokenMemoryState {
  return {
    keyOf: createHeaderHash(),
    // The option `max` would allocate all entries at once.
    right: new LRUCache({ maxSize: max, sizeCalculation: ({ principal }) => weightOf(principal) }),
    wrong: new LRUCache({ maxSize: max, sizeCalculation: () => 1 }),
    byPrincipal: new WeakMap(),
  }
}

function weightOf({ groups, tenants, claims }: Principal): number {
  const kept = claims === undefined ? [] : [...claims.values()].flat()
  const chars = [...groups, ...tenants, ...kept].reduce((sum, name) => sum + name.length, 0)
  return Math.max(1, Math.ceil(chars / 1024))
}
