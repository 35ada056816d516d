import { GatewayError, messageOf } from '../../errors.ts'
import { type Schedule, scheduleTimer, type SourceState } from '../../files/source-state.ts'
import { isObject, stringIn } from '../../request/value.ts'
import { fetchJson, type FetchJson } from './fetch-json.ts'
import { type VerificationKey, verificationKeyOf } from './verification-key.ts'

export interface IssuerSettings {
  /** As `iss` has it. */
  readonly issuer: string
  /** Null: as the issuer's discovery document says. */
  readonly jwksUri: string | null
  /** From one reading to the next. */
  readonly refreshMs: number
  /** Keys that were last read longer ago verify nothing. */
  readonly staleAfterMs: number
}

export interface IssuerKeysOptions extends IssuerSettings {
  /** Of a configuration before, for the same issuer. */
  readonly kept?: KeptIssuerKeys
  /** When the keys cannot be read any more, and when they are read again (null). */
  readonly onChange?: (problem: string | null) => void
  readonly fetchJson?: FetchJson
  /** Monotonic milliseconds; default performance.now. */
  readonly now?: () => number
  readonly schedule?: Schedule
}

/** What was read of one issuer: plain values, that outlive the configuration. */
export interface KeptIssuerKeys {
  keys: readonly VerificationKey[]
  /** Null: never. */
  readAt: number | null
  problem: string | null
}

export interface IssuerKeys {
  readonly kept: KeptIssuerKeys
  /** Reads now and from time to time; resolves after the first reading, however it ends. */
  readonly start: () => Promise<void>
  readonly close: () => void
  /**
   * The one key that verifies a token; null: there is none. An unknown `kid` has the keys read anew, at most once in COOLDOWN_MS.
   * @throws GatewayError GW_RECORDS_UNAVAILABLE where no keys were read for too long, GW_OVERLOADED where too many wait
   */
  readonly find: (kid: string | null, alg: string) => VerificationKey | null | Promise<VerificationKey | null>
  /** Whether the issuer still has this key. @throws GatewayError GW_RECORDS_UNAVAILABLE as `find` */
  readonly has: (key: VerificationKey) => boolean
  readonly state: () => SourceState
  /** Reads the keys without a change of what is in force. Resolves with their number. @throws Error */
  readonly count: (withinMs: number) => Promise<number>
}

const MAX_DOCUMENT_BYTES = 256 * 1024
const MAX_KEYS = 100
const FETCH_MS = 5_000
/** After a reading that failed. */
const RETRY_MS = 5_000
/** Of readings for a `kid` that is not known: whoever makes one up costs the issuer no more. */
const COOLDOWN_MS = 10_000
/** Tokens that wait for such a reading. */
const MAX_WAITING = 256

/** The public keys of one issuer. While it is away the last good ones count for a while. */
export function createIssuerKeys(options: IssuerKeysOptions): IssuerKeys {
  const { now = () => performance.now(), schedule = scheduleTimer, refreshMs, staleAfterMs } = options
  const kept = options.kept ?? { keys: [], readAt: null, problem: null }
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
      // The same object for the same key: what was verified with it is remembered.
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
      message: 'The keys of the issuer of the token are not available',
    })
  }

  function select(kid: string | null, alg: string): VerificationKey | null {
    const [key, ...more] = current().filter((one) => (kid === null || one.kid === kid) && one.fits(alg))
    return key === undefined || more.length > 0 ? null : key
  }

  /** Whether a reading now may bring what is missing. */
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
    kept,
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
  if (!Array.isArray(listed)) throw new Error(`${uri}: has no list of keys`)
  if (listed.length > MAX_KEYS) throw new Error(`${uri}: has more than ${MAX_KEYS} keys`)
  const keys = listed.map(verificationKeyOf).filter((key) => key !== null)
  // Of an issuer without keys nothing could be verified: that is a mistake more often than a wish.
  if (keys.length === 0) throw new Error(`${uri}: has no key that verifies signatures`)
  return keys
}

/** OpenID Connect Discovery 1.0 section 4. */
function discoveryUrlOf(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
}

/** Section 4.3: the document of another issuer would bring its keys. @throws Error */
function discoveredUri(document: unknown, issuer: string): string {
  const url = discoveryUrlOf(issuer)
  if (stringIn(document, 'issuer') !== issuer) throw new Error(`${url}: is not of the issuer ${issuer}`)
  const uri = stringIn(document, 'jwks_uri') ?? ''
  const isSafe = URL.canParse(uri) && (new URL(uri).protocol === 'https:' || issuer.startsWith('http:'))
  if (!isSafe || !/^https?:/i.test(uri)) throw new Error(`${url}: has no jwks_uri that can be asked`)
  return uri
}
