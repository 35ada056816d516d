import type { CacheHit } from './entry.ts'

/** Returns the member that this cache adds to `Cache-Status` (RFC 9211). */
export function cacheStatusOf({ from, stored, ttlSeconds }: CacheHit): string {
  if (from === 'upstream') return `engine-gateway; fwd=uri-miss${stored ? '; stored' : ''}`
  return `engine-gateway; hit; ttl=${ttlSeconds}; detail=${from}`
}
