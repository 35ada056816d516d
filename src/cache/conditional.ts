const ENTITY_TAG = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g

/** Returns true if `If-None-Match` contains the etag of the cached response. The comparison is weak: RFC 9110 section 13.1.2. */
export function isNotModified(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  const opaque = etag.replace(/^W\//, '')
  return [...ifNoneMatch.matchAll(ENTITY_TAG)].some(([, tag]) => tag === opaque)
}
