import type { Answer } from '../request/answer.ts'

/** What the key tells apart; an answer that varies by anything else is not stored. */
const IN_KEY: ReadonlySet<string> = new Set(['accept', 'accept-encoding', 'host'])

/** May this answer be given to others? The engine's `no-cache` does not forbid it: freshness is the row's business. */
export function isStorable({ status, headers }: Pick<Answer, 'status' | 'headers'>): boolean {
  return (
    status === 200 &&
    headers['set-cookie'] === undefined &&
    !namesOf(headers['cache-control']).some((name) => name === 'private' || name === 'no-store') &&
    namesOf(headers['vary']).every((name) => IN_KEY.has(name)) &&
    // The key holds no Accept-Encoding: only a plain body suits every caller.
    namesOf(headers['content-encoding']).every((name) => name === 'identity')
  )
}

// `private="x-a, x-b"` counts as `private`: a superset of what the field allows, on the safe side.
function namesOf(field: string | string[] | undefined): string[] {
  if (field === undefined) return []
  return String(field)
    .split(',')
    .map((part) => (part.split('=', 1)[0] ?? '').trim().toLowerCase())
    .filter((name) => name !== '')
}
