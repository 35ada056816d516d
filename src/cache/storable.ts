import type { Answer } from '../request/answer.ts'

/** Headers that the key covers. An answer that varies by another one is not stored. */
const IN_KEY: ReadonlySet<string> = new Set(['accept', 'accept-encoding', 'host'])

/** Whether this answer may be served to others. The engine's `no-cache` does not forbid it: the row decides on freshness. */
export function isStorable({
  status,
  headers,
  setsCookie,
}: Pick<Answer, 'status' | 'headers' | 'setsCookie'>): boolean {
  return (
    status === 200 &&
    setsCookie !== true &&
    headers['set-cookie'] === undefined &&
    !namesOf(headers['cache-control']).some((name) => name === 'private' || name === 'no-store') &&
    namesOf(headers['vary']).every((name) => IN_KEY.has(name)) &&
    // The key has no Accept-Encoding: only an unencoded body suits every caller.
    namesOf(headers['content-encoding']).every((name) => name === 'identity')
  )
}

// `private="x-a, x-b"` counts as `private`: stricter than the field requires.
function namesOf(field: string | string[] | undefined): string[] {
  if (field === undefined) return []
  return String(field)
    .split(',')
    .map((directive) => (directive.split('=', 1)[0] ?? '').trim().toLowerCase())
    .filter((name) => name !== '')
}
