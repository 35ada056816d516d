import type { SortOrder } from '../../operations/prefilters.ts'
import { countIn } from '../../request/engine-request.ts'
import { stringIn, stringOf } from '../../request/value.ts'
import { IDS_A_QUERY, inQueries, QUERY_CHARS } from '../../policy/authz/entities/lookup-lists.ts'
import type { ReadEngine } from '../../policy/authz/entities/look-ups.ts'
import { itemsIn } from '../../policy/authz/entities/lookup-response.ts'
import { DELETED_SHARE, OBSERVATION_MS, SLOW_CHANGE_FACTOR, STEP_ITEMS } from '../limits.ts'

/** One version of a definition. */
export interface DefinitionVersion {
  readonly id: string
  readonly key: string
  /** Null if the definition has no tenant, or its tenant is no longer known. */
  readonly tenantId: string | null
}

interface DefinitionQuery {
  /** Null if definitions of all keys are requested. */
  readonly keys: readonly string[] | null
  /** Whether only the latest version of each key and tenant is requested. */
  readonly isLatest: boolean
  readonly max: number
}

/** Lists of definitions by which items are requested. */
export interface DefinitionLists {
  /** Returns the definitions that a query finds. Null if there are more than `max`. */
  readonly definitions: (query: DefinitionQuery) => Promise<readonly DefinitionVersion[] | null>
  /** Returns the deleted definitions with process instances in the history. Null if there are too many. */
  readonly deleted: () => Promise<readonly DefinitionVersion[] | null>
  /** Returns whether instances of definitions without a tenant may belong to a tenant, which an engine may be configured to choose. */
  readonly hasOwnTenants: (keys: readonly string[] | null) => Promise<boolean>
  /** Returns the sort order in which the database puts items without the value first. Null if no item has shown this yet. */
  readonly nullsFirst: () => Promise<SortOrder | null>
}

interface DefinitionListsOptions {
  readonly read: ReadEngine
  readonly nowMs: () => number
}

/** Creates the lists of one engine's definitions. */
export function createDefinitionLists({ read, nowMs }: DefinitionListsOptions): DefinitionLists {
  let nulls: { readonly untilMs: number; readonly first: SortOrder | null } | null = null
  return {
    async nullsFirst() {
      if (nulls !== null && nulls.untilMs >= nowMs()) return nulls.first
      const first = await findNullsFirst(read)
      // The order of a database does not change.
      nulls = { first, untilMs: first === null ? nowMs() + OBSERVATION_MS : Number.POSITIVE_INFINITY }
      return first
    },
    definitions: (query) => definitionsOf(read, query),
    deleted: lookedForAgain(() => deletedDefinitions(read), nowMs),
    hasOwnTenants: (keys) => hasOwnTenants(read, keys),
  }
}

/** Returns a function that returns the last result unless it is too old. The first caller waits for a result. A failure is not stored. */
function lookedForAgain<T>(find: () => Promise<T>, nowMs: () => number): () => Promise<T> {
  let last: { readonly found: T; readonly freshUntilMs: number; readonly untilMs: number } | null = null
  let looking: Promise<T> | null = null
  const look = async (): Promise<T> => {
    const beganMs = nowMs()
    try {
      const found = await find()
      const endedMs = nowMs()
      const intervalMs = Math.max(OBSERVATION_MS, (endedMs - beganMs) / DELETED_SHARE)
      last = { found, freshUntilMs: endedMs + intervalMs, untilMs: endedMs + SLOW_CHANGE_FACTOR * intervalMs }
      return found
    } finally {
      looking = null
    }
  }
  return async () => {
    const isFresh = last !== null && last.freshUntilMs >= nowMs()
    if (last !== null && isFresh) return last.found
    looking ??= look()
    if (last === null || last.untilMs < nowMs()) return looking
    // The next call searches again.
    looking.catch(() => undefined)
    return last.found
  }
}

async function definitionsOf(
  read: ReadEngine,
  { keys, isLatest, max }: DefinitionQuery,
): Promise<readonly DefinitionVersion[] | null> {
  const found: DefinitionVersion[] = []
  for (const some of keys === null ? [null] : inQueries(keys, QUERY_CHARS, IDS_A_QUERY)) {
    const query = new URLSearchParams({ maxResults: String(max + 1 - found.length) })
    if (some !== null) query.set('keysIn', some.join(','))
    if (isLatest) query.set('latestVersion', 'true')
    const path = `/process-definition?${query}`
    for (const item of itemsIn(await read(path), { path, shape: DEFINITION })) {
      const [id, key] = [stringIn(item, 'id') ?? '', stringIn(item, 'key') ?? '']
      found.push({ id, key, tenantId: stringOf(item['tenantId']) })
    }
    if (found.length > max) return null
  }
  return found
}

/**
 * Finds the definitions that are deleted. In a list of the history that is sorted by the definition's version, the items
 * without a version are at one end; the database determines which one. These items are grouped by definition. The items of
 * the last definition on a page are counted, and then skipped.
 */
async function deletedDefinitions(read: ReadEngine): Promise<readonly DefinitionVersion[] | null> {
  for (const sortOrder of ['asc', 'desc'] as const) {
    const found = new Map<string, DefinitionVersion>()
    const sorting = [
      { sortBy: 'definitionVersion', sortOrder },
      { sortBy: 'definitionId', sortOrder: 'asc' },
    ]
    for (let first = 0, size = 1; found.size <= STEP_ITEMS; size = STEP_ITEMS) {
      const page = new URLSearchParams({ firstResult: String(first), maxResults: String(size) })
      const path = `${HISTORY}?${page}`
      const items = itemsIn(await read(path, { sorting }), { path, shape: DEFINED })
      const gone = items.filter((item) => typeof item['processDefinitionVersion'] !== 'number')
      const ids = gone.map((item) => stringOf(item['processDefinitionId']))
      for (const [at, id] of ids.entries()) {
        const key = stringOf(gone[at]?.['processDefinitionKey'])
        if (id !== null && key !== null) found.set(id, { id, key, tenantId: null })
      }
      if (gone.length < size) break
      const last = ids.at(-1) ?? null
      const itemsOfLast =
        last === null ? 0 : countIn(await read(`${HISTORY}/count`, { processDefinitionId: last }))
      first += Math.max(gone.length, ids.indexOf(last) + itemsOfLast)
    }
    if (found.size > STEP_ITEMS) return null
    if (found.size > 0) return [...found.values()]
  }
  return []
}

const HISTORY = '/history/process-instance'

const DEFINITION = { texts: ['id', 'key'], nullable: ['tenantId'] }
/** Instances of the history: the definition that they belong to, and whether they have ended. */
const DEFINED = { texts: ['processDefinitionId', 'processDefinitionKey'] }
const TIMED = { nullable: ['endTime'] }

/** Running instances have no end. They are first or last in a list of ended instances. */
async function findNullsFirst(read: ReadEngine): Promise<SortOrder | null> {
  const isFirst = async (sortOrder: SortOrder) => {
    const query = new URLSearchParams({ sortBy: 'endTime', sortOrder, maxResults: '1' })
    const path = `/history/process-instance?${query}`
    const items = itemsIn(await read(path), { path, shape: TIMED })
    return items.some(({ endTime }) => endTime === null)
  }
  const [asc, desc] = await Promise.all([isFirst('asc'), isFirst('desc')])
  return asc === desc ? null : asc ? 'asc' : 'desc'
}

async function hasOwnTenants(read: ReadEngine, keys: readonly string[] | null): Promise<boolean> {
  const of = {
    processDefinitionWithoutTenantId: true,
    ...(keys !== null && { processDefinitionKeyIn: keys }),
  }
  const [all, ofNone] = await Promise.all([
    read('/process-instance/count', of),
    read('/process-instance/count', { ...of, withoutTenantId: true }),
  ])
  return countIn(all) !== countIn(ofNone)
}
