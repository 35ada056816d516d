import { isMapping } from './mapping.ts'
import { isDeepStrictEqual } from 'node:util'

/** The paths at which two configurations differ, without the values: they may be secrets. */
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

/** Settings that a socket has for its lifetime, and the number of processes that share it. */
const OF_THE_SOCKETS: ReadonlySet<string> = new Set([
  'listen.host',
  'listen.port',
  'admin.host',
  'admin.port',
  'timeouts.request',
  'workers',
])

/** Files that these name may change as often as they like; which they are, and what they mean, may not. */
const TLS_OF_THE_SOCKETS = /^(?:listen|admin)\.tls(?:\.|$)/

/** Problems of a change that a running process cannot apply. */
export function restartProblems(changes: readonly string[]): readonly string[] {
  return changes
    .filter((path) => OF_THE_SOCKETS.has(path) || TLS_OF_THE_SOCKETS.test(path))
    .map((path) => `${path}: needs a restart`)
}
