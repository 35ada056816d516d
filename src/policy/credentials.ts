import { randomBytes } from 'node:crypto'
import { createHmacSha256 } from './hmac.ts'

/** The caller, once proved: an engine's user with the groups and tenants that hold for this request. */
export interface Principal {
  readonly userId: string
  readonly groups: readonly string[]
  readonly tenants: readonly string[]
}

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
  /** Right and wrong credentials held, each; default 10,000, the oldest goes first. */
  readonly maxRemembered?: number
  /** Monotonic milliseconds; default performance.now. */
  readonly now?: () => number
}

/**
 * Credentials that proved right, and for a moment those that proved wrong. They are kept under an HMAC with a key of this
 * process, so nothing here can be turned into a password; `users` is the source they were verified against, and another
 * source voids them.
 */
export interface CredentialMemory {
  /** Of the header as it was sent: one that is remembered needs no reading. @throws RangeError beyond MAX_HEADER_CHARS */
  readonly keyOf: (header: string) => string
  readonly recall: (key: string, users: object) => Principal | null
  /** Wrong a moment ago: asking again would tell nothing new, and an engine would count it. */
  readonly failedLately: (key: string, users: object) => boolean
  /** Right at some time, however long ago: whoever presents it is not guessing. */
  readonly wasVerified: (key: string) => boolean
  /** Runs `verify` once for all who ask while it runs; remembers what it found. */
  readonly verifyOnce: (
    key: string,
    users: object,
    verify: () => Promise<Principal | null>,
  ) => Promise<Principal | null>
}

interface Remembered {
  /** Null: the credential was wrong. */
  readonly principal: Principal | null
  readonly users: object
  readonly until: number
}

interface Flight {
  readonly users: object
  readonly result: Promise<Principal | null>
}

export function createCredentialMemory(options: CredentialMemoryOptions = {}): CredentialMemory {
  const { ttlMs = 5_000, failureTtlMs = 5_000, maxRemembered = 10_000 } = options
  const { now = () => performance.now() } = options
  const keyOf = createHmacSha256(randomBytes(32), MAX_HEADER_CHARS)
  const right = new Map<string, Remembered>()
  const wrong = new Map<string, Remembered>()
  const flights = new Map<string, Flight>() // bounded by the places and the queue of the hashes, or of the hops

  function recall(from: typeof right, key: string, users: object): Remembered | null {
    const entry = from.get(key)
    return entry !== undefined && entry.users === users && now() < entry.until ? entry : null
  }

  async function verifyAndRemember(key: string, users: object, verify: () => Promise<Principal | null>) {
    const principal = await verify()
    const [at, other, ms] = principal === null ? [wrong, right, failureTtlMs] : [right, wrong, ttlMs]
    other.delete(key)
    remember(at, maxRemembered, key, { principal, users, until: now() + ms })
    return principal
  }

  return {
    keyOf,
    recall: (key, users) => recall(right, key, users)?.principal ?? null,
    failedLately: (key, users) => recall(wrong, key, users) !== null,
    wasVerified: (key) => right.has(key),
    verifyOnce: (key, users, verify) => {
      const running = flights.get(key)
      if (running?.users === users) return running.result
      const result = verifyAndRemember(key, users, verify).finally(() => {
        if (flights.get(key)?.result === result) flights.delete(key)
      })
      flights.set(key, { users, result })
      return result
    },
  }
}

function remember(at: Map<string, Remembered>, max: number, key: string, entry: Remembered): void {
  at.delete(key)
  at.set(key, entry)
  if (at.size <= max) return
  const [oldest] = at.keys()
  if (oldest !== undefined) at.delete(oldest)
}

function textOf(bytes: Buffer): string | null {
  try {
    return UTF8.decode(bytes)
  } catch {
    return null
  }
}
