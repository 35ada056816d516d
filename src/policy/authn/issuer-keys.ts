import { GatewayError, messageOf, operatorText } from '../../errors.ts'
import { type Schedule, scheduleTimer, type SourceState } from '../../files/source-state.ts'
import { isObject, stringIn } from '../../request/value.ts'
import { fetchJson, type FetchJson } from './fetch-json.ts'
import { type VerificationKey, verificationKeyOf } from './verification-key.ts'

export interface IssuerSettings {
  /** The issuer, as in `iss`. */
  readonly issuer: string
  /** The URL of the keys, or null if it is read from the issuer's discovery document. */
  readonly jwksUri: string | null
  /** The time between two reads of the keys. */
  readonly refreshMs: number
  /** The maximum age of keys. Older keys are not used for verification. */
  readonly staleAfterMs: number
}

export interface IssuerKeysOptions extends IssuerSettings {
  /** The state of the previous configuration for the same issuer. */
  readonly keyState?: IssuerKeyState | undefined
  /** Called when the keys can no longer be read, and with null when they can be read again. */
  readonly onChange?: (problem: string | null) => void
  readonly fetchJson?: FetchJson
  /** The monotonic clock, in milliseconds. Default: performance.now. */
  readonly now?: () => number
  readonly schedule?: Schedule
}

/** The keys that were read from one issuer. They are plain values that remain when the configuration is replaced. */
export interface IssuerKeyState {
  keys: readonly VerificationKey[]
  /** Null if the keys were never read. */
  readAt: number | null
  problem: string | null
}

export interface IssuerKeys {
  readonly keyState: IssuerKeyState
  /** Reads the keys now and then periodically. Resolves after the first read, whether it succeeds or fails. */
  readonly start: () => Promise<void>
  readonly close: () => void
  /**
   * Returns the one key that verifies a token, or null if there is none or more than one. For an unknown `kid` the keys are read
   * again, at most once in COOLDOWN_MS.
   * @throws GatewayError GW_RECORDS_UNAVAILABLE if no keys were read for too long, GW_OVERLOADED if too many tokens wait
   */
  readonly find: (kid: string | null, alg: string) => VerificationKey | null | Promise<VerificationKey | null>
  /** Returns true if the issuer still has this key. @throws GatewayError GW_RECORDS_UNAVAILABLE as `find` */
  readonly has: (key: VerificationKey) => boolean
  readonly state: () => SourceState
  /** Reads the keys without replacing the keys in use. Resolves to their number. @throws Error */
  readonly count: (withinMs: number) => Promise<number>
}

const MAX_DOCUMENT_BYTES = 256 * 1024
const MAX_KEYS = 100
const FETCH_MS = 5_000
/** The time until the next read after a failed one. */
const RETRY_MS = 5_000
/** The shortest time between two reads for an unknown `kid`. It limits the load that invented key ids cause at the issuer. */
const COOLDOWN_MS = 10_000
/** The number of tokens that may wait for such a read. */
const MAX_WAITING = 256

/** Creates the reader of one issuer's public keys. While the issuer is unavailable, the last keys remain valid for `staleAfterMs`. */
export function createIssuerKeys(options: IssuerKeysOptions): IssuerKeys {
  const { now = () => performance.now(), schedule = scheduleTimer, refreshMs, staleAfterMs } = options
  const kept = options.keyState ?? { keys: [], readAt: null, problem: null }
  let cancel: (() => void) | null = null
  let reading: Promise<void> | null = null
  let forcedAt = Number.NEGATIVE_INFINITY
  let waiting = 0
  let isClosed = false

  async function readNow(): Promise<void> {
    const before = kept.problem
    try {
      const keys = await readKeys(options, FETCH_MS)
      const known = new Map(kept.keys.map((key) => [key.id, key]))
      // An unchanged key keeps its object, so that tokens that were verified with it remain cached.
      kept.keys = keys.map((key) => known.get(key.id) ?? key)
      kept.readAt = now()
      kept.problem = null
    } catch (error) {
      kept.problem = messageOf(error)
    }
    if ((before === null) !== (kept.problem === null)) options.onChange?.(kept.problem)
  }

  function read(): Promise<void> {
    reading ??= readNow().finally(() => {
      reading = null
    })
    return reading
  }

  async function readAndGoOn(): Promise<void> {
    await read()
    if (isClosed) return
    cancel?.()
    cancel = schedule(
      () => void readAndGoOn(),
      kept.problem === null ? refreshMs : Math.min(refreshMs, RETRY_MS),
    )
  }

  /** @throws GatewayError */
  function current(): readonly VerificationKey[] {
    const { readAt, keys } = kept
    if (readAt !== null && now() - readAt < staleAfterMs) return keys
    throw new GatewayError('GW_RECORDS_UNAVAILABLE', {
      message: operatorText`The keys of the issuer of the token are not available`,
    })
  }

  function select(kid: string | null, alg: string): VerificationKey | null {
    const [key, ...more] = current().filter((one) => (kid === null || one.kid === kid) && one.fits(alg))
    return key === undefined || more.length > 0 ? null : key
  }

  /** Returns true if a read may find the missing key. */
  function isWorthReading(kid: string | null): boolean {
    if (now() - forcedAt < COOLDOWN_MS) return reading !== null
    return kept.readAt === null || (kid !== null && !kept.keys.some((key) => key.kid === kid))
  }

  async function readFor(kid: string | null, alg: string): Promise<VerificationKey | null> {
    if (waiting >= MAX_WAITING) throw new GatewayError('GW_OVERLOADED', { retryAfterSeconds: 1 })
    if (reading === null) forcedAt = now()
    waiting += 1
    try {
      await read()
    } finally {
      waiting -= 1
    }
    return select(kid, alg)
  }

  return {
    keyState: kept,
    start: readAndGoOn,
    close: () => {
      isClosed = true
      cancel?.()
    },
    find: (kid, alg) => {
      const isKnown = kid === null ? kept.readAt !== null : kept.keys.some((key) => key.kid === kid)
      return !isKnown && isWorthReading(kid) ? readFor(kid, alg) : select(kid, alg)
    },
    has: (key) => current().includes(key),
    state: () => ({
      problem: kept.problem ?? (kept.readAt === null ? 'its keys were not read yet' : null),
      ageMs: kept.readAt === null ? null : now() - kept.readAt,
    }),
    count: async (withinMs) => (await readKeys(options, withinMs)).length,
  }
}

/** @throws Error */
async function readKeys(
  { issuer, jwksUri, fetchJson: fetchDocument = fetchJson }: IssuerKeysOptions,
  withinMs: number,
): Promise<readonly VerificationKey[]> {
  const limits = { withinMs, maxBytes: MAX_DOCUMENT_BYTES }
  const uri = jwksUri ?? discoveredUri(await fetchDocument(discoveryUrlOf(issuer), limits), issuer)
  const document = await fetchDocument(uri, limits)
  const listed = isObject(document) ? document['keys'] : null
  if (!Array.isArray(listed)) throw new Error(`${uri}: the response has no list of keys`)
  if (listed.length > MAX_KEYS) throw new Error(`${uri}: the response has more than ${MAX_KEYS} keys`)
  const keys = listed.map(verificationKeyOf).filter((key) => key !== null)
  // Without keys no token of the issuer can be verified. This is usually a mistake in the configuration, not an intention.
  if (keys.length === 0) throw new Error(`${uri}: the response has no key that can verify signatures`)
  return keys
}

/** Returns the URL of the discovery document (OpenID Connect Discovery 1.0 section 4). */
function discoveryUrlOf(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
}

/** Returns the URL of the keys. Refuses the document of another issuer, which would provide that issuer's keys (section 4.3). @throws Error */
function discoveredUri(document: unknown, issuer: string): string {
  const url = discoveryUrlOf(issuer)
  if (stringIn(document, 'issuer') !== issuer)
    throw new Error(`${url}: the document does not have the issuer ${issuer}`)
  const uri = stringIn(document, 'jwks_uri') ?? ''
  const isSafe = URL.canParse(uri) && (new URL(uri).protocol === 'https:' || issuer.startsWith('http:'))
  if (!isSafe || !/^https?:/i.test(uri)) throw new Error(`${url}: the document has no valid jwks_uri`)
  return uri
}
