import { hash, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Principal } from '../../request/principal.ts'

export interface BasicCredential {
  readonly user: string
  readonly password: string
}

// RFC 7617: `Basic` SP token68, the scheme in any case. 1,024 characters hold 766 bytes of user and password.
const BASIC = /^basic +([A-Za-z0-9+/]{1,1024}={0,2})$/i
// oxlint-disable-next-line no-control-regex -- RFC 7617 forbids exactly these in user-id and password
const CONTROL = /[\u0000-\u001f\u007f]/
// A byte order mark is a character of the name like any other: dropped, two names would be one.
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** An Authorization header that is longer is not looked at: it holds no credential that `readBasic` would read, or many blanks. */
export const MAX_HEADER_CHARS = 1100

/** The Basic credential in an Authorization header; null when there is none that can be read without guessing. */
export function readBasic(header: string): BasicCredential | null {
  const encoded = BASIC.exec(header)?.[1]
  if (encoded === undefined || encoded.length % 4 !== 0) return null
  const text = textOf(Buffer.from(encoded, 'base64'))
  const colon = text?.indexOf(':') ?? -1
  if (text === null || colon < 1 || CONTROL.test(text)) return null
  return { user: text.slice(0, colon), password: text.slice(colon + 1) }
}

export interface CredentialMemoryOptions {
  /** How long a verified credential needs no verification again; default 5,000 ms. 0 verifies on every request. */
  readonly ttlMs?: number
  /** How long a wrong credential is refused without another look; default 5,000 ms. */
  readonly failureTtlMs?: number
  /** Monotonic milliseconds; default performance.now. */
  readonly now?: () => number
}

/** What a verification of a user rests on; another value voids what is remembered of him. @throws GatewayError when nothing may be decided */
export type StampOf = (user: string) => unknown

/**
 * Credentials that proved right, and for a moment those that proved wrong. They are kept under a hash with a secret of this
 * process, so nothing here can be turned into a password.
 */
export interface CredentialMemory {
  /** Of the header as it was sent, of at most MAX_HEADER_CHARS: one that is remembered needs no reading. */
  readonly keyOf: (header: string) => string
  readonly recall: (key: string, stampOf: StampOf) => Principal | null
  /** Wrong a moment ago: asking again would tell nothing new, and an engine would count it. */
  readonly failedLately: (key: string, stampOf: StampOf) => boolean
  /** Right at some time, however long ago: whoever presents it is not guessing. */
  readonly wasVerified: (key: string) => boolean
  /** Runs `verify` once for all who ask while it runs; remembers what it found. */
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

interface Flight {
  readonly stamp: unknown
  readonly result: Promise<Principal | null>
}

/** What is remembered, as plain values: it may be handed on to another configuration, and holds nothing of the one before. */
export interface RememberedCredentials {
  readonly keyOf: (header: string) => string
  readonly right: LRUCache<string, Remembered>
  readonly wrong: LRUCache<string, Remembered>
}

/** @param max right and wrong credentials held, each; what was verified longest ago goes first */
export function createRememberedCredentials(max = 10_000): RememberedCredentials {
  // `max` would take room for all of them at once, a quarter of a megabyte for each of the two.
  const create = () => new LRUCache<string, Remembered>({ maxSize: max, sizeCalculation: () => 1 })
  return { keyOf: createHeaderHash(), right: create(), wrong: create() }
}

/**
 * A hash that starts with a secret can be extended by whoever sees it (an HMAC cannot), but these hashes never leave the
 * process. The secret always has the same length, so two headers never make the same text.
 */
function createHeaderHash(): (header: string) => string {
  const secret = randomBytes(32).toString('base64')
  return (header) => hash('sha256', secret + header, 'base64')
}

/** @param remembered what an earlier memory has found out; times are those of `options` */
export function createCredentialMemory(
  options: CredentialMemoryOptions = {},
  remembered: RememberedCredentials = createRememberedCredentials(),
): CredentialMemory {
  const { ttlMs = 5_000, failureTtlMs = 5_000 } = options
  const { now = () => performance.now() } = options
  const { keyOf, right, wrong } = remembered
  const flights = new Map<string, Flight>() // bounded by the places and the queues of turns, hashes and hops

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
    // It may have waited: what was verified is known for certain only if nothing has changed meanwhile.
    if (stampOf(user) !== stamp) return principal
    const [at, other] = principal === null ? [wrong, right] : [right, wrong]
    other.delete(key)
    at.set(key, { principal, user, stamp, at: now() })
    return principal
  }

  return {
    keyOf,
    recall: (key, stampOf) => recall(right, ttlMs, key, stampOf)?.principal ?? null,
    failedLately: (key, stampOf) => recall(wrong, failureTtlMs, key, stampOf) !== null,
    wasVerified: (key) => right.has(key),
    verifyOnce: (key, of, verify) => {
      const stamp = of.stampOf(of.user)
      const running = flights.get(key)
      if (running !== undefined && running.stamp === stamp) return running.result
      const result = verifyAndRemember(key, of, verify).finally(() => {
        if (flights.get(key)?.result === result) flights.delete(key)
      })
      flights.set(key, { stamp, result })
      return result
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
