import { hash, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Principal } from '../../request/principal.ts'
import { SingleFlight } from '../../request/single-flight.ts'

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
  /** The monotonic clock, in milliseconds. Default: performance.now. */
  readonly now?: () => number
}

/**
 * Returns the value on which the verification of a user depends. If it changes, the user's cached credentials are invalid.
 * @throws GatewayError if no decision is possible
 */
export type StampOf = (user: string) => unknown

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
  /** Runs `verify` once for all concurrent callers, and caches the result. */
  readonly verifyOnce: (
    key: string,
    of: { readonly user: string; readonly stampOf: StampOf },
    verify: () => Promise<Principal | null>,
  ) => Promise<Principal | null>
}

interface CredentialEntry {
  /** Null if the credential was wrong. */
  readonly principal: Principal | null
  readonly user: string
  readonly stamp: unknown
  readonly at: number
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
  const { now = () => performance.now() } = options
  const { keyOf, right, wrong, byPrincipal } = remembered
  /** The running verifications, each with its stamp. */
  const verifications = new SingleFlight<Principal | null, unknown>()

  function recall(from: typeof right, forMs: number, key: string, stampOf: StampOf): CredentialEntry | null {
    const entry = from.peek(key)
    if (entry === undefined || now() >= entry.at + forMs) return null
    return stampOf(entry.user) === entry.stamp ? entry : null
  }

  async function verifyAndRemember(
    key: string,
    { user, stampOf }: Parameters<CredentialMemory['verifyOnce']>[1],
    verify: () => Promise<Principal | null>,
  ) {
    const stamp = stampOf(user)
    const principal = await verify()
    // The verification may have waited. Its result is stored only if nothing has changed in the meantime.
    if (stampOf(user) !== stamp) return principal
    const [at, other] = principal === null ? [wrong, right] : [right, wrong]
    other.delete(key)
    const entry = { principal, user, stamp, at: now() }
    at.set(key, entry)
    if (principal !== null) byPrincipal.set(principal, entry)
    return principal
  }

  return {
    keyOf,
    recall: (key, stampOf) => recall(right, ttlMs, key, stampOf)?.principal ?? null,
    failedLately: (key, stampOf) => recall(wrong, failureTtlMs, key, stampOf) !== null,
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
      return verifications.begin(key, stamp, () => verifyAndRemember(key, of, verify))
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
