const ENTITY_TAG = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g

/** Does `If-None-Match` name the held answer? Compared weakly, as RFC 9110 13.1.2 has it. */
export function isNotModified(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  const opaque = etag.replace(/^W\//, '')
  return [...ifNoneMatch.matchAll(ENTITY_TAG)].some(([, tag]) => tag === opaque)
}
