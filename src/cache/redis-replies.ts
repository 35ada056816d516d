import { decode } from './envelope.ts'
import type { DecodedEntry } from './envelope.ts'
import type { Reply } from '../redis/redis-client.ts'
import { replyCodeOf } from '../redis/redis-link.ts'
import type { Signer } from '../redis/signature.ts'

/** What a stored value must match. */
interface Expected {
  readonly key: string
  /** Its key in Redis. */
  readonly name: string
  /** The longest time that its row allows. */
  readonly seconds: number
  readonly signer: Signer
  /** On the wall clock: milliseconds since 1970. */
  readonly nowMs: number
}

/** Allowed difference between the clocks of two gateways. */
const MAX_SKEW_MS = 5 * 60_000

/** The entry in the replies to PTTL and GETRANGE; null: none. */
export function foundIn(
  [ttl, value]: readonly Reply[],
  { key, name, signer, ...expected }: Expected,
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
 * False for a value that this gateway did not write: without a time to live (-1), with a longer one than it was given,
 * stored too long ago, or to be stored longer than its row allows. It may also expire right now (-2).
 */
function isInTime(
  { seconds, atMs }: DecodedEntry,
  ttlMs: number,
  expected: Pick<Expected, 'seconds' | 'nowMs'>,
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

/** The form of a token. */
const TOKEN = /^[\w-]{12}$/
/** One byte more than a token, to detect longer values. */
export const TOKEN_READ_BYTES = 13

/** The tokens in the replies to one GETRANGE per tag, as one string; null if a tag has no token. */
export function tokensOf(replies: readonly Reply[]): string | null {
  return replies.every(isToken) ? replies.map(([, token]) => token).join(' ') : null
}

/** Whether the key of a token holds another value. */
export function isInvalidToken(reply: Reply | undefined): boolean {
  if (reply === undefined || isToken(reply)) return false
  const [error, token] = reply
  return error === null ? token !== '' : replyCodeOf(error) === 'WRONGTYPE'
}

function isToken([error, token]: Reply): boolean {
  return error === null && typeof token === 'string' && TOKEN.test(token)
}

/** Matches every tag. */
export const ALL = '*'
/** More tags than this are sent as one eviction of everything, and read as one. */
export const MAX_TAGS = 1000

/** A message of another replica; null for anything else. */
export function parseMessage(
  text: string,
): { readonly from: string; readonly tags: readonly string[] } | null {
  try {
    const message: unknown = JSON.parse(text)
    if (typeof message !== 'object' || message === null || !('from' in message) || !('tags' in message))
      return null
    const { from, tags } = message
    if (typeof from !== 'string' || !Array.isArray(tags)) return null
    return { from, tags: tags.length > MAX_TAGS ? [ALL] : tags.filter((tag) => typeof tag === 'string') }
  } catch {
    return null
  }
}
