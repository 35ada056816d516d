import type { BufferedResponse } from '../request/buffered-response.ts'

/** Request headers that are part of the key or do not affect a stored response. A response that varies by any other header is not stored. */
const IN_KEY: ReadonlySet<string> = new Set(['accept', 'accept-encoding', 'host'])

/** Returns true if a response may be served to other callers. The engine's `no-cache` is ignored, because the operation defines the cache time. */
export function isStorable({
  status,
  headers,
  setsCookie,
}: Pick<BufferedResponse, 'status' | 'headers' | 'setsCookie'>): boolean {
  return (
    status === 200 &&
    setsCookie !== true &&
    headers['set-cookie'] === undefined &&
    !namesOf(headers['cache-control']).some((name) => name === 'private' || name === 'no-store') &&
    namesOf(headers['vary']).every((name) => IN_KEY.has(name)) &&
    // The key does not contain Accept-Encoding, so only a body without content encoding is suitable for every caller.
    namesOf(headers['content-encoding']).every((name) => name === 'identity')
  )
}

// `private="x-a, x-b"` counts as `private`, which is stricter than the standard requires.
function namesOf(field: string | string[] | undefined): string[] {
  if (field === undefined) return []
  return String(field)
    .split(',')
    .map((directive) => (directive.split('=', 1)[0] ?? '').trim().toLowerCase())
    .filter((name) => name !== '')
}
