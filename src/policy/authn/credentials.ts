import { hash, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Principal } from '../../request/principal.ts'
import { RENEWAL_SHARE } from '../../request/renewal-share.ts'
import { SingleFlight } from '../../request/single-flight.ts'
import { createRenewals, createRenewalState, type RenewalState, type Renewals } from './renewals.ts'

export interface BasicCredential {
  readonly user: string
  readonly password: string
}

// RFC 7617: `Basic` SP token68, with the scheme in any case. 1,024 characters contain 766 bytes of user and password.
const BASIC = /^basic +([A-Za-z0-9+/]{1,1024}={0,2})$/i
// oxlint-disable-next-line no-control-regex -- RFC 7617 forbids exactly these in user-id and password
const CONTROL = /[\u0000-\u001f\u007f]/
// A byte order mark is a regular character of the name. If it were removed, two different names would be equal.
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The longest Authorization header that is parsed. A longer header contains no credential that `readBasic` accepts, or many spaces. */
export const MAX_HEADER_CHARS = 1100

/** Returns the Basic credential in an Authorization header, or null if the header has none that can be parsed unambiguously. */
export function readBasic(header: string): BasicCredential | null {
  const encoded = BASIC.exec(header)?.[1]
  if (encoded === undefined || encoded.length % 4 !== 0) return null
  const text = decodeUtf8(Buffer.from(encoded, 'base64'))
  const colon = text?.indexOf(':') ?? -1
  if (text === null || colon < 1 || CONTROL.test(text)) return null
  return { user: text.slice(0, colon), password: text.slice(colon + 1) }
}

export interface CredentialMemoryOptions {
  /** How long a verified credential needs no new verification. Default: 5,000 ms. With 0, every request is verified. */
  readonly ttlMs?: number
  /** How long a wrong credential is refused without another verification. Default: 5,000 ms. */
  readonly failureTtlMs?: number
  /** The renewals of the source that verifies the credentials. By default, no credential is used after `ttlMs`. */
  readonly renewals?: Renewals
  /** The monotonic clock, in milliseconds. Default: performance.now. */
  readonly now?: () => number
}

/**
 * Returns the value on which the verification of a user depends. If it changes, the user's cached credentials are invalid.
 * @throws GatewayError if no decision is possible
 */
export type StampOf = (user: string) => unknown

/** The user of a credential, and the value on which its verification depends. */
interface CredentialOwner {
  readonly user: string
  readonly stampOf: StampOf
}

/**
 * The age of a remembered credential. `due`: a use of the credential should renew it. `expired`: it is older than `ttlMs`, and used
 * because the source does not respond.
 */
export type Freshness = 'fresh' | 'due' | 'expired'

/**
 * Caches correct credentials, and for a short time wrong credentials. They are stored under a hash that includes a secret of this
 * process, so no password can be recovered from them.
 */
export interface CredentialMemory {
  /** Returns the key of a header as sent, of at most MAX_HEADER_CHARS. A cached header needs no parsing. */
  readonly keyOf: (header: string) => string
  readonly recall: (key: string, stampOf: StampOf) => Principal | null
  /** Returns true if the credential was wrong recently. Another verification would give the same result, and an engine would count it. */
  readonly failedLately: (key: string, stampOf: StampOf) => boolean
  /** Returns true if the credential was correct at any earlier time. The caller is then not guessing. */
  readonly wasVerified: (key: string) => boolean
  /** Returns true if this memory verified the principal and the user has not changed since. Null if it did not verify this object. */
  readonly isCurrent: (principal: Principal, stampOf: StampOf) => boolean | null
  /** Returns true if the principal was verified within `ttlMs`. */
  readonly isRecent: (principal: Principal) => boolean
  /**
   * Runs `verify` once for all concurrent callers, and caches the result. If the source does not respond, resolves to the last
   * principal of the same credential, unless the user has changed.
   */
  readonly verifyOnce: (
    key: string,
    of: CredentialOwner,
    verify: () => Promise<Principal | null>,
  ) => Promise<Principal | null>
  readonly freshnessOf: (principal: Principal) => Freshness
  /** Verifies a remembered credential again in the background, at most once at a time. A wrong credential is removed at once. */
  readonly renew: (key: string, of: CredentialOwner, verify: () => Promise<Principal | null>) => void
}

interface CredentialEntry {
  /** Null if the credential was wrong. */
  readonly principal: Principal | null
  readonly user: string
  readonly stamp: unknown
  readonly at: number
  readonly renewal: RenewalState
}

/** The cached data as plain values without references to the configuration, so that the next configuration can use it. */
export interface CredentialMemoryState {
  readonly keyOf: (header: string) => string
  readonly right: LRUCache<string, CredentialEntry>
  readonly wrong: LRUCache<string, CredentialEntry>
  /** The entries by the principal that a verification returned. An entry remains as long as a request refers to the principal. */
  readonly byPrincipal: WeakMap<Principal, CredentialEntry>
}

/**
 * Creates the data of an empty cache.
 * @param max limit for correct credentials, and for wrong ones. The credential that was verified the longest time ago is removed first
 */
export function createRememberedCredentials(max = 10_000): CredentialMemoryState {
  // The option `max` would allocate all entries at once, a quarter of a megabyte for each of the two caches.
  const create = () => new LRUCache<string, CredentialEntry>({ maxSize: max, sizeCalculation: () => 1 })
  return { keyOf: createHeaderHash(), right: create(), wrong: create(), byPrincipal: new WeakMap() }
}

/**
 * Creates a keyed hash. Unlike an HMAC, a hash that starts with a secret can be extended by anyone who has the hash, but these
 * hashes never leave the process. The secret always has the same length, so two headers never result in the same text.
 */
export function createHeaderHash(): (header: string) => string {
  const secret = randomBytes(32).toString('base64')
  return (header) => hash('sha256', secret + header, 'base64')
}

/**
 * Creates a cache of credentials.
 * @param remembered data of a previous cache, with times of the clock in `options`
 */
export function createCredentialMemory(
  options: CredentialMemoryOptions = {},
  remembered: CredentialMemoryState = createRememberedCredentials(),
): CredentialMemory {
  const { ttlMs = 5_000, failureTtlMs = 5_000 } = options
  const { now = () => performance.now(), renewals = createRenewals() } = options
  const { keyOf, right, wrong, byPrincipal } = remembered
  /** The running verifications, each with its stamp. */
  const verifications = new SingleFlight<Principal | null, unknown>()

  function recallRight(key: string, stampOf: StampOf): Principal | null {
    const entry = right.peek(key)
    if (entry === undefined) return null
    const ageMs = now() - entry.at
    if (ageMs >= ttlMs && !(ttlMs > 0 && renewals.isUsable(entry.renewal, ageMs))) return null
    return stampOf(entry.user) === entry.stamp ? entry.principal : null
  }

  /** Returns the last principal of a credential while the source does not respond, or null. */
  function lastGood(key: string, stampOf: StampOf): Principal | null {
    try {
      return recallRight(key, stampOf)
    } catch {
      // The users are too old for a decision.
      return null
    }
  }

  async function verifyAndRemember(
    key: string,
    { user, stampOf }: CredentialOwner,
    verify: () => Promise<Principal | null>,
    renewed: CredentialEntry | null = null,
  ) {
    const stamp = stampOf(user)
    const startedAt = now()
    const principal = await verify()
    // The verification may have waited. Its result is stored only if nothing has changed in the meantime.
    if (stampOf(user) !== stamp) return principal
    // A later verification may have replaced or removed the entry.
    if (renewed !== null && principal !== null && right.peek(key) !== renewed) return principal
    const [memory, other] = principal === null ? [wrong, right] : [right, wrong]
    other.delete(key)
    // The age of a renewed credential counts from the start of its verification. A change at the source then takes effect as early as
    // if a request had waited for the verification. If the source is slow, the credential still remains fresh until the next renewal.
    const at = renewed === null ? now() : Math.max(startedAt, now() - (1 - RENEWAL_SHARE) * ttlMs)
    const entry = { principal, user, stamp, at, renewal: createRenewalState() }
    memory.set(key, entry)
    if (principal !== null) byPrincipal.set(principal, entry)
    return principal
  }

  return {
    keyOf,
    recall: recallRight,
    failedLately: (key, stampOf) => {
      const entry = wrong.peek(key)
      return entry !== undefined && now() < entry.at + failureTtlMs && stampOf(entry.user) === entry.stamp
    },
    wasVerified: (key) => right.has(key),
    isCurrent: (principal, stampOf) => {
      const entry = byPrincipal.get(principal)
      return entry === undefined ? null : stampOf(entry.user) === entry.stamp
    },
    isRecent: (principal) => {
      const entry = byPrincipal.get(principal)
      return entry !== undefined && now() < entry.at + ttlMs
    },
    verifyOnce: (key, of, verify) => {
      const stamp = of.stampOf(of.user)
      const running = verifications.running(key)
      if (running !== undefined && running.state === stamp) return running.result
      const known = right.peek(key)
      return verifications.begin(key, stamp, () => {
        const verification = verifyAndRemember(key, of, verify)
        if (known === undefined) return verification
        return renewals.orLastGood(known.renewal, verification, () => lastGood(key, of.stampOf))
      })
    },
    freshnessOf: (principal) => {
      const entry = byPrincipal.get(principal)
      if (entry === undefined || ttlMs === 0) return 'fresh'
      const ageMs = now() - entry.at
      return ageMs >= ttlMs ? 'expired' : ageMs >= RENEWAL_SHARE * ttlMs ? 'due' : 'fresh'
    },
    renew: (key, of, verify) => {
      const entry = right.peek(key)
      if (entry === undefined) return
      renewals.begin(entry.renewal, async () =>
        (await verifyAndRemember(key, of, verify, entry)) === null ? 'refused' : 'renewed',
      )
    },
  }
}

function decodeUtf8(bytes: Buffer): string | null {
  try {
    return UTF8.decode(bytes)
  } catch {
    return null
  }
}
