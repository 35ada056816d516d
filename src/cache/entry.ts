import { createHash } from 'node:crypto'
import type { Answer } from '../request/answer.ts'

/** How long a row's answer is cached; tags name what evicts it. */
export interface CacheRule {
  readonly seconds: number
  readonly tags: readonly string[]
  /** Returns true if the response may be stored. Other responses are passed on and not stored. Default: every response may be stored. */
  readonly accepts?: (answer: Answer) => boolean
}

export interface Entry extends Omit<CacheRule, 'accepts'> {
  readonly answer: Answer
  /** On the injected monotonic clock; negative for an entry that another process stored before this one started. */
  readonly storedAtMs: number
}

/** An answer and its source. */
export interface CacheHit {
  readonly answer: Answer
  readonly ageSeconds: number
  /** Remaining time; 0 for an answer that is not cached. */
  readonly ttlSeconds: number
  readonly from: 'memory' | 'redis' | 'upstream'
  /** The answer came from upstream and is now cached, or was cached before. */
  readonly stored: boolean
}

export function cacheHitOf(entry: Entry, from: CacheHit['from'], nowMs: number): CacheHit {
  const ageSeconds = Math.max(0, Math.floor((nowMs - entry.storedAtMs) / 1000))
  const ttlSeconds = Math.max(0, entry.seconds - ageSeconds)
  return { answer: entry.answer, ageSeconds, ttlSeconds, from, stored: true }
}

/** The form in which an answer is cached and shared: frozen, with a strong `etag`, its body in memory of its own. */
export function cacheableOf({ status, headers, body }: Answer): Answer {
  const etag = headers['etag'] ?? `"${createHash('sha1').update(body).digest('base64')}"`
  return Object.freeze({ status, headers: Object.freeze({ ...headers, etag }), body: ownCopyOf(body) })
}

// A small Buffer is usually a view of a slab of 8 or 64 KiB, which a cached view would keep alive.
function ownCopyOf(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body
  const copy = Buffer.allocUnsafeSlow(body.length)
  body.copy(copy)
  return copy
}
