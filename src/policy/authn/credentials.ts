import { hash, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Principal } from '../../request/principal.ts'
import { SingleFlight } from '../../request/single-flight.ts'

export interface BasicCredential {
  readonly user: string
  readonly password: string
}

// RFC 7617: `Basic` SP token68, the scheme in any case. 1,024 characters hold 766 bytes of user and password.
const BASIC = /^basic +([A-Za-z0-9+/]{1,1024}={0,2})$/i
// oxlint-disable-next-line no-control-regex -- RFC 7617 forbids exactly these in user-id and password
const CONTROL = /[\u0000-\u001f\u007f]/
// A byte order mark is a character of the name like any other. Removing it would make two names equal.
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A longer Authorization header is not parsed: it contains no credential that `readBasic` accepts, or many blanks. */
export const MAX_HEADER_CHARS = 1100

/** The Basic credential in an Authorization header; null if there is none that can be parsed unambiguously. */
export function readBasic(header: string): BasicCredential | null {
  const encoded = BASIC.exec(header)?.[1]
  if (encoded === undefined || encoded.length % 4 !== 0) return null
  const text = textOf(Buffer.from(encoded, 'base64'))
  const colon = text?.indexOf(':') ?? -1
  if (text === null || colon < 1 || CONTROL.test(text)) return null
  return { user: text.slice(0, colon), password: text.slice(colon + 1) }
}

export interface CredentialMemoryOptions {
  /** How long a verified credential needs no new verification; default 5,000 ms. 0 verifies on every request. */
  readonly ttlMs?: number
  /** How long a wrong credential is refused without another check; default 5,000 ms. */
  readonly failureTtlMs?: number
  /** Monotonic milliseconds; default performance.now. */
  readonly now?: () => number
}

/** A value on which a user's verification depends; a change invalidates the user's cached credentials. @throws GatewayError if no decision is possible */
export type StampOf = (user: string) => unknown

/**
 * Caches correct credentials, and for a short time wrong ones. They are stored under a hash with a secret of this process,
 * so no password can be recovered from them.
 */
export interface CredentialMemory {
  /** The key of a header as sent, of at most MAX_HEADER_CHARS: a cached one needs no parsing. */
  readonly keyOf: (header: string) => string
  readonly recall: (key: string, stampOf: StampOf) => Principal | null
  /** It was wrong recently: another check would tell nothing new, and an engine would count it. */
  readonly failedLately: (key: string, stampOf: StampOf) => boolean
  /** It was correct at some time, however long ago: the caller is not guessing. */
  readonly wasVerified: (key: string) => boolean
  /** Whether this memory verified the principal and the user has not changed since; null: it did not verify this object. */
  readonly isCurrent: (principal: Principal, stampOf: StampOf) => boolean | null
  /** Whether the principal was verified within `ttlMs`. */
  readonly isRecent: (principal: Principal) => boolean
  /** Runs `verify` once for all concurrent callers, and caches the result. */
  readonly verifyOnce: (
    key: string,
    of: { readonly user: string; readonly stampOf: StampOf },
    verify: () => Promise<Principal | null>,
  ) => Promise<Principal | null>
}

interface Remembered {
  /** Null: the credential was wrong. */
  readonly principal: Principal | null
  readonly user: string
  readonly stamp: unknown
  readonly at: number
}

/** The cached data as plain values: another configuration may take it over, and it has no reference to the previous one. */
export interface RememberedCredentials {
  readonly keyOf: (header: string) => string
  readonly right: LRUCache<string, Remembered>
  readonly wrong: LRUCache<string, Remembered>
  /** By the principal that a verification returned, for as long as a request holds it. */
  readonly byPrincipal: WeakMap<Principal, Remembered>
}

/** @param max limit of cached correct credentials, and of wrong ones; the one verified longest ago is removed first */
export function createRememberedCredentials(max = 10_000): RememberedCredentials {
  // `max` would allocate all entries at once, a quarter of a megabyte for each of the two.
  const create = () => new LRUCache<string, Remembered>({ maxSize: max, sizeCalculation: () => 1 })
  return { keyOf: createHeaderHash(), right: create(), wrong: create(), byPrincipal: new WeakMap() }
}

/**
 * A hash that starts with a secret can be extended by whoever sees it (an HMAC cannot), but these hashes never leave the
 * process. The secret always has the same length, so two headers never make the same text.
 */
export function createHeaderHash(): (header: string) => string {
  const secret = randomBytes(32).toString('base64')
  return (header) => hash('sha256', secret + header, 'base64')
}

/** @param remembered data of a previous cache; times are on the clock of `options` */
export function createCredentialMemory(
  options: CredentialMemoryOptions = {},
  remembered: RememberedCredentials = createRememberedCredentials(),
): CredentialMemory {
  const { ttlMs = 5_000, failureTtlMs = 5_000 } = options
  const { now = () => performance.now() } = options
  const { keyOf, right, wrong, byPrincipal } = remembered
  /** With the stamp of each. */
  const verifications = new SingleFlight<Principal | null, unknown>()

  function recall(from: typeof right, forMs: number, key: string, stampOf: StampOf): Remembered | null {
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
    // The call may have waited: the result is valid only if nothing has changed meanwhile.
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

function textOf(bytes: Buffer): string | null {
  try {
    return UTF8.decode(bytes)
  } catch {
    return null
  }
}
