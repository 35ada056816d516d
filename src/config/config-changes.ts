import { isMapping } from './mapping.ts'
import { isDeepStrictEqual } from 'node:util'

/** Returns the paths at which two configurations differ. The values are left out because they may be secrets. */
export function changesBetween(before: unknown, after: unknown): readonly string[] {
  return differencesOf(before, after, '')
}

function differencesOf(before: unknown, after: unknown, path: string): readonly string[] {
  if (isDeepStrictEqual(before, after)) return []
  if (!isMapping(before) || !isMapping(after)) return [path]
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].flatMap((key) =>
    differencesOf(before[key], after[key], path === '' ? key : `${path}.${key}`),
  )
}

/** Settings that are fixed for the lifetime of a socket, and the number of processes that share it. */
const OF_THE_SOCKETS: ReadonlySet<string> = new Set([
  'listen.host',
  'listen.port',
  'admin.host',
  'admin.port',
  'timeouts.request',
  'workers',
])

/** The content of these files may change at any time. The choice of the files and the other settings may not change. */
const TLS_OF_THE_SOCKETS = /^(?:listen|admin)\.tls(?:\.|$)/

/** Returns a problem for each change that a running process cannot apply. */
export function restartProblems(changes: readonly string[]): readonly string[] {
  return changes
    .filter((path) => OF_THE_SOCKETS.has(path) || TLS_OF_THE_SOCKETS.test(path))
    .map((path) => `${path}: needs a restart`)
}
