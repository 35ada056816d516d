import { decode } from './envelope.ts'
import type { DecodedEntry } from './envelope.ts'
import { codeOf } from '../redis/redis-link.ts'
import type { Reply } from '../redis/redis-link.ts'
import type { Signer } from '../redis/signature.ts'

/** What a value must be for this reading. */
interface Expected {
  readonly key: string
  /** Where it stands in Redis. */
  readonly name: string
  /** The longest time that its row allows. */
  readonly seconds: number
  readonly signer: Signer
  /** By the clock on the wall: milliseconds since 1970. */
  readonly nowMs: number
}

/** By so much the clocks of two gateways may differ. */
const MAX_SKEW_MS = 5 * 60_000

/** The entry in the replies to PTTL and GETRANGE; `null`: none. */
export function foundIn(
  [ttl, value]: readonly Reply[],
  { key, name, signer, ...expected }: Expected,
): (DecodedEntry & { readonly ttlMs: number }) | 'corrupt' | null {
  if (value?.[0]) return codeOf(value[0]) === 'WRONGTYPE' ? 'corrupt' : null
  const bytes = value?.[1]
  // GETRANGE knows no null: nothing is as long as what is not there.
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) return null
  const opened = signer.open(name, bytes)
  const encoded = opened === null ? null : decode(key, opened)
  const ttlMs = Number(ttl?.[1])
  if (encoded === null || !isInTime(encoded, ttlMs, expected)) return 'corrupt'
  return ttlMs > 0 ? { ...encoded, ttlMs } : null
}

/**
 * No time to live (-1), or more than it was given, or an answer that was stored too long ago or is to be kept for longer
 * than its row says: not this gateway's doing. It may also end right now (-2).
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

/** As this gateway makes them. */
const TOKEN = /^[\w-]{12}$/
/** One more than a token has: what is longer is none. */
export const TOKEN_READ_BYTES = 13

/** The replies to one GETRANGE for each tag, in one string; `null` when a tag has no token. */
export function tokensOf(replies: readonly Reply[]): string | null {
  return replies.every(isToken) ? replies.map(([, token]) => token).join(' ') : null
}

/** Whether something stands in the place of a token that is none. */
export function isForeign(reply: Reply | undefined): boolean {
  if (reply === undefined || isToken(reply)) return false
  const [error, token] = reply
  return error === null ? token !== '' : codeOf(error) === 'WRONGTYPE'
}

function isToken([error, token]: Reply): boolean {
  return error === null && typeof token === 'string' && TOKEN.test(token)
}

/** Stands for every tag. */
export const ALL = '*'
/** More tags than this are told as one eviction of everything, and heard as one. */
export const MAX_TAGS = 1000

/** What another replica published; `null` for anything else. */
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
