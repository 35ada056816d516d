import { createHash } from 'node:crypto'
import type { BufferedResponse } from '../request/buffered-response.ts'

/** How long a response may be served after its time, in seconds (RFC 5861). */
export interface StaleTimes {
  /** How long it is served while another response is read in the background. */
  readonly whileRevalidate: number
  /** How long it is served if the engine does not respond, or responds with a status of 500 or more. */
  readonly ifError: number
}

/** How long the response of an operation is cached. An eviction of one of the tags removes it. */
export interface CacheRule {
  readonly seconds: number
  readonly tags: readonly string[]
  /** Default: the response is not served after its time. */
  readonly stale?: StaleTimes
  /** Returns true if the response may be stored. Other responses are passed on and not stored. */
  readonly accepts: (response: BufferedResponse) => boolean
}

export interface Entry extends Omit<CacheRule, 'accepts'> {
  readonly response: BufferedResponse
  /** The time on the injected monotonic clock. Negative for an entry that another process stored before this process started. */
  readonly storedAtMs: number
}

/** A response and its source. */
export interface CacheHit {
  readonly response: BufferedResponse
  readonly ageSeconds: number
  /** The remaining time. 0 for a response that is not cached, negative for one that is served after its time. */
  readonly ttlSeconds: number
  readonly from: 'memory' | 'redis' | 'upstream'
  /** True if the response came from upstream and is now cached, or was cached before. */
  readonly stored: boolean
}

export function cacheHitOf(entry: Entry, from: CacheHit['from'], nowMs: number): CacheHit {
  const ageSeconds = Math.max(0, Math.floor((nowMs - entry.storedAtMs) / 1000))
  return {
    response: entry.response,
    ageSeconds,
    ttlSeconds: entry.seconds - ageSeconds,
    from,
    stored: true,
  }
}

/** Returns the form in which a response is cached and shared: frozen, with a strong `etag`, and with its body in a separate buffer. */
export function cacheableOf({ status, headers, body }: BufferedResponse): BufferedResponse {
  const etag = headers['etag'] ?? `"${createHash('sha1').update(body).digest('base64')}"`
  return Object.freeze({ status, headers: Object.freeze({ ...headers, etag }), body: ownCopyOf(body) })
}

// A small Buffer is usually a view of a buffer of 8 or 64 KiB. A cached view would keep the whole buffer in memory.
function ownCopyOf(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body
  const copy = Buffer.allocUnsafeSlow(body.length)
  body.copy(copy)
  return copy
}
