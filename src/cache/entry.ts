import { createHash } from 'node:crypto'
import type { Answer } from '../request/answer.ts'

/** A row's word on holding its answer; tags name what evicts it. */
export interface CacheRule {
  readonly seconds: number
  readonly tags: readonly string[]
}

export interface Entry extends CacheRule {
  readonly answer: Answer
  /** On the injected monotonic clock; before the clock's zero for an entry that another process stored. */
  readonly storedAtMs: number
}

/** An answer and where it came from. */
export interface CacheHit {
  readonly answer: Answer
  readonly ageSeconds: number
  /** What is left of its time; 0 for an answer that is not kept. */
  readonly ttlSeconds: number
  readonly from: 'memory' | 'redis' | 'upstream'
  /** The answer came from upstream and is now kept, or was kept already. */
  readonly stored: boolean
}

export function cacheHitOf(entry: Entry, from: CacheHit['from'], nowMs: number): CacheHit {
  const ageSeconds = Math.max(0, Math.floor((nowMs - entry.storedAtMs) / 1000))
  const ttlSeconds = Math.max(0, entry.seconds - ageSeconds)
  return { answer: entry.answer, ageSeconds, ttlSeconds, from, stored: true }
}

/** The form in which an answer is kept and shared: frozen, with a strong `etag`, its body in memory of its own. */
export function keptOf({ status, headers, body }: Answer): Answer {
  const etag = headers['etag'] ?? `"${createHash('sha1').update(body).digest('base64')}"`
  return Object.freeze({ status, headers: Object.freeze({ ...headers, etag }), body: ownCopyOf(body) })
}

// A small Buffer is mostly a view into a slab of 8 or 64 KiB, which a kept view would keep whole.
function ownCopyOf(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body
  const copy = Buffer.allocUnsafeSlow(body.length)
  body.copy(copy)
  return copy
}
