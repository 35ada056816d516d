import { LRUCache } from 'lru-cache'
import type { Principal } from '../../request/principal.ts'
import { createHeaderHash } from './credentials.ts'
import type { TokenFault } from './token-faults.ts'
import type { VerificationKey } from './verification-key.ts'

/** A token that was verified. */
export interface VerifiedToken {
  readonly principal: Principal
  /** What its keys are asked for. */
  readonly issuer: string | null
  readonly key: VerificationKey
  /** Of the user's entry in the source, where it was asked; else undefined. */
  readonly stamp: unknown
  /** On the monotonic clock. */
  readonly until: number
  /** `exp` with the skew, on the wall clock. */
  readonly expiresAtSeconds: number
}

/** A token whose signature was looked at, and that was refused. */
export interface RefusedToken {
  readonly fault: TokenFault
  readonly key: VerificationKey
  readonly stamp: unknown
  readonly until: number
}

/** Tokens by the keyed hash of the header, as plain values: another configuration of the same tokens may take them over. */
export interface RememberedTokens {
  readonly keyOf: (header: string) => string
  readonly right: LRUCache<string, VerifiedToken>
  readonly wrong: LRUCache<string, RefusedToken>
  /** By the principal that a verification returned, for as long as a request holds it. */
  readonly byPrincipal: WeakMap<Principal, VerifiedToken>
}

/**
 * @param max limit of each of the two, for users with up to 1,024 characters of groups and tenants; one with more counts for
 *   several. The least recently used is removed first.
 */
export function createRememberedTokens(max = 10_000): RememberedTokens {
  return {
    keyOf: createHeaderHash(),
    // `max` would allocate all entries at once.
    right: new LRUCache({ maxSize: max, sizeCalculation: ({ principal }) => weightOf(principal) }),
    wrong: new LRUCache({ maxSize: max, sizeCalculation: () => 1 }),
    byPrincipal: new WeakMap(),
  }
}

function weightOf({ groups, tenants }: Principal): number {
  const chars = [...groups, ...tenants].reduce((sum, name) => sum + name.length, 0)
  return Math.max(1, Math.ceil(chars / 1024))
}
