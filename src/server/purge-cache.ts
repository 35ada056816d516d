import type { SharedState } from '../cache/cache.ts'
import { tagsOf } from '../handlers/cached.ts'
import { CACHE_TAGS } from '../operations/cached-content.ts'
import type { Dependencies } from '../pipeline/dependencies.ts'
import { isObject } from '../request/value.ts'

/** The selection is not valid, and nothing was evicted. */
interface InvalidSelection {
  readonly problem: string
}

interface PurgeSelection {
  readonly engines: readonly string[]
  readonly tags: readonly string[]
}

/** The result in one process. */
export type PurgeResult = { readonly evicted: number; readonly redis: SharedState } | InvalidSelection

/** Evicts the selected responses in this process and in Redis. */
export async function purgeCache(
  { cache, engines }: Pick<Dependencies, 'cache' | 'engines'>,
  selection: unknown,
): Promise<PurgeResult> {
  const selected = selectionOf(selection, [...engines.keys()])
  if ('problem' in selected) return selected
  const before = cache.size.entries
  const isShared = cache.evict(selected.engines.flatMap((name) => tagsOf({ name }, selected.tags)))
  // The entries of this process are evicted before the promise exists.
  const evicted = before - cache.size.entries
  await isShared
  return { evicted, redis: cache.shared }
}

const MEMBERS: ReadonlySet<string> = new Set(['engine', 'tag'])

/** Returns the engines and the tags of `{ engine, tag }`. A member that is left out selects all. A member that is unknown selects nothing. */
function selectionOf(selection: unknown, names: readonly string[]): PurgeSelection | InvalidSelection {
  const given = selection ?? {}
  if (!isObject(given) || Object.keys(given).some((name) => !MEMBERS.has(name)))
    return { problem: 'The body must be a JSON object with the members engine and tag, or empty' }
  const { engine, tag } = given
  const engines = names.filter((name) => engine === undefined || name === engine)
  const tags = CACHE_TAGS.filter((name) => tag === undefined || name === tag)
  if (engines.length === 0) return { problem: 'The engine is not configured' }
  if (tags.length === 0) return { problem: `The tag must be one of ${CACHE_TAGS.join(', ')}` }
  return { engines, tags }
}
