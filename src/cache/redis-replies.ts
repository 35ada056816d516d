import { decode, type DecodedEntry } from './envelope.ts'
import type { RedisReply } from '../redis/redis-client.ts'
import { replyCodeOf } from '../redis/redis-link.ts'
import type { Signer } from '../redis/signature.ts'
import { isRecord, jsonValueOf } from '../request/value.ts'

/** The expectations for a stored value. */
interface EntryExpectation {
  readonly key: string
  /** The key in Redis. */
  readonly name: string
  /** The longest cache time that its operation allows. */
  readonly seconds: number
  readonly signer: Signer
  /** The wall-clock time, in milliseconds since 1970. */
  readonly nowMs: number
}

/** The allowed difference between the clocks of two gateways. */
const MAX_SKEW_MS = 5 * 60_000

/** Returns the entry in the replies to PTTL and GETRANGE, or null if they contain no entry. */
export function foundIn(
  [ttl, value]: readonly RedisReply[],
  { key, name, signer, ...expected }: EntryExpectation,
): (DecodedEntry & { readonly ttlMs: number }) | 'corrupt' | null {
  if (value?.[0]) return replyCodeOf(value[0]) === 'WRONGTYPE' ? 'corrupt' : null
  const bytes = value?.[1]
  // GETRANGE returns an empty string for a missing key.
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) return null
  const opened = signer.open(name, bytes)
  const encoded = opened === null ? null : decode(key, opened)
  const ttlMs = Number(ttl?.[1])
  if (encoded === null || !isInTime(encoded, ttlMs, expected)) return 'corrupt'
  return ttlMs > 0 ? { ...encoded, ttlMs } : null
}

/**
 * Returns false for a value that no gateway has written: it has no time to live (-1) or a longer one than it was given, it was stored
 * too long ago, or its cache time is longer than its operation allows. Accepts a value that expired between the two commands (-2).
 */
function isInTime(
  { seconds, atMs }: DecodedEntry,
  ttlMs: number,
  expected: Pick<EntryExpectation, 'seconds' | 'nowMs'>,
): boolean {
  const ageMs = expected.nowMs - atMs
  return (
    seconds <= expected.seconds &&
    ttlMs !== -1 &&
    ttlMs <= seconds * 1000 &&
    ageMs >= -MAX_SKEW_MS &&
    ageMs <= seconds * 1000 + MAX_SKEW_MS
  )
}

/** The syntax of a token. */
const TOKEN = /^[\w-]{12}$/
/** One byte more than a token has, to detect longer values. */
export const TOKEN_READ_BYTES = 13

/** Returns the tokens in the replies to one GETRANGE for each tag, as one string. Null if a tag has no token. */
export function tokensOf(replies: readonly RedisReply[]): string | null {
  return replies.every(isToken) ? replies.map(([, token]) => token).join(' ') : null
}

/** Returns true if the key of a token contains a value that is not a token. */
export function isInvalidToken(reply: RedisReply | undefined): boolean {
  if (reply === undefined || isToken(reply)) return false
  const [error, token] = reply
  return error === null ? token !== '' : replyCodeOf(error) === 'WRONGTYPE'
}

function isToken([error, token]: RedisReply): boolean {
  return error === null && typeof token === 'string' && TOKEN.test(token)
}

/** The tag that means all tags. */
export const ALL = '*'
/** If an eviction has more tags, it is sent as an eviction of all entries. A received message with more tags is treated in the same way. */
export const MAX_TAGS = 1000

/** Parses a message of another replica. Returns null for any other text. */
export function parseMessage(
  text: string,
): { readonly from: string; readonly tags: readonly string[] } | null {
  const message = jsonValueOf(text)
  if (!isRecord(message)) return null
  const { from, tags } = message
  if (typeof from !== 'string' || !Array.isArray(tags)) return null
  return { from, tags: tags.length > MAX_TAGS ? [ALL] : tags.filter((tag) => typeof tag === 'string') }
}
