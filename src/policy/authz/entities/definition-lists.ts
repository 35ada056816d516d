import type { SortOrder } from '../../../operations/row-queries.ts'
import { GatewayError } from '../../../errors.ts'
import { isRecord, stringIn, stringOf } from '../../../request/value.ts'
import { inQueries, QUERY_CHARS } from './lookup-lists.ts'
import type { ReadEngine } from './look-ups.ts'
import { itemsIn } from './lookup-response.ts'

/** One version of a definition. */
export interface DefinitionRow {
  readonly id: string
  readonly key: string
  /** Null: of no tenant, or of one that is not known any more. */
  readonly tenantId: string | null
}

/** Lists of definitions by which rows are asked for. */
export interface DefinitionLists {
  /** All versions of these keys, or of all; null: there are more than `max`. */
  readonly definitions: (
    keys: readonly string[] | null,
    max: number,
  ) => Promise<readonly DefinitionRow[] | null>
  /** The same of the latest version of each key and tenant. */
  readonly latestDefinitions: DefinitionLists['definitions']
  /** Those that are gone, and have left process instances in the history; null: there are too many. */
  readonly deleted: () => Promise<readonly DefinitionRow[] | null>
  /** Whether instances of definitions that have no tenant may be of one: an engine may be made to choose it. */
  readonly hasOwnTenants: (keys: readonly string[] | null) => Promise<boolean>
  /** The order in which the database puts rows first that lack the value; null: no row has told yet. */
  readonly nullsFirst: () => Promise<SortOrder | null>
}

interface ListsOptions {
  readonly read: ReadEngine
  readonly nowMs: () => number
}

/** Keys asked for at once. */
const KEYS_A_QUERY = 50
/** A definition that is deleted is noticed after this. */
const DELETED_MS = 60_000
/** An engine with a long history sorts it for seconds: it is not to do so all the time. */
const DELETED_SHARE = 1 / 20
/** So many intervals long the last answer serves while it is looked again. */
const STALE_INTERVALS = 10
const HISTORY_PAGE = 1000
/** More deleted definitions than this are not looked for. */
const MAX_DELETED = 1000

/** Lists of one engine's definitions. */
export function createDefinitionLists({ read, nowMs }: ListsOptions): DefinitionLists {
  let nulls: { readonly untilMs: number; readonly first: SortOrder | null } | null = null
  return {
    async nullsFirst() {
      if (nulls !== null && nulls.untilMs >= nowMs()) return nulls.first
      const first = await findNullsFirst(read)
      // No database changes it.
      nulls = { first, untilMs: first === null ? nowMs() + DELETED_MS : Number.POSITIVE_INFINITY }
      return first
    },
    definitions: (keys, max) => definitionsOf(read, { keys, max }),
    latestDefinitions: (keys, max) => definitionsOf(read, { keys, max, isLatest: true }),
    deleted: lookedForAgain(() => deletedDefinitions(read), nowMs),
    hasOwnTenants: (keys) => hasOwnTenants(read, keys),
  }
}

/** What was found last, while it is not too old; who comes first waits. A failure is not kept. */
function lookedForAgain<T>(find: () => Promise<T>, nowMs: () => number): () => Promise<T> {
  let last: { readonly found: T; readonly freshUntilMs: number; readonly untilMs: number } | null = null
  let looking: Promise<T> | null = null
  const look = async (): Promise<T> => {
    const beganMs = nowMs()
    try {
      const found = await find()
      const endedMs = nowMs()
      const intervalMs = Math.max(DELETED_MS, (endedMs - beganMs) / DELETED_SHARE)
      last = { found, freshUntilMs: endedMs + intervalMs, untilMs: endedMs + STALE_INTERVALS * intervalMs }
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
    // The next call looks again.
    looking.catch(() => undefined)
    return last.found
  }
}

async function definitionsOf(
  read: ReadEngine,
  {
    keys,
    max,
    isLatest = false,
  }: { readonly keys: readonly string[] | null; readonly max: number; readonly isLatest?: boolean },
): Promise<readonly DefinitionRow[] | null> {
  const found: DefinitionRow[] = []
  for (const some of keys === null ? [null] : inQueries(keys, QUERY_CHARS, KEYS_A_QUERY)) {
    const query = new URLSearchParams({ maxResults: String(max + 1 - found.length) })
    if (some !== null) query.set('keysIn', some.join(','))
    if (isLatest) query.set('latestVersion', 'true')
    const path = `/process-definition?${query}`
    for (const row of itemsIn(await read(path), { path, shape: DEFINITION })) {
      const [id, key] = [stringIn(row, 'id') ?? '', stringIn(row, 'key') ?? '']
      found.push({ id, key, tenantId: stringOf(row['tenantId']) })
    }
    if (found.length > max) return null
  }
  return found
}

/**
 * Rows of the history that lack their definition's version stand at one end of the list sorted by it; at which, the database
 * says. There they stand definition by definition: how many rows the last of a page has is counted, and these are passed.
 */
async function deletedDefinitions(read: ReadEngine): Promise<readonly DefinitionRow[] | null> {
  for (const sortOrder of ['asc', 'desc'] as const) {
    const found = new Map<string, DefinitionRow>()
    const sorting = [
      { sortBy: 'definitionVersion', sortOrder },
      { sortBy: 'definitionId', sortOrder: 'asc' },
    ]
    for (let first = 0, size = 1; found.size <= MAX_DELETED; size = HISTORY_PAGE) {
      const page = new URLSearchParams({ firstResult: String(first), maxResults: String(size) })
      const path = `${HISTORY}?${page}`
      const rows = itemsIn(await read(path, { sorting }), { path, shape: DEFINED })
      const gone = rows.filter((row) => typeof row['processDefinitionVersion'] !== 'number')
      const ids = gone.map((row) => stringOf(row['processDefinitionId']))
      for (const [at, id] of ids.entries()) {
        const key = stringOf(gone[at]?.['processDefinitionKey'])
        if (id !== null && key !== null) found.set(id, { id, key, tenantId: null })
      }
      if (gone.length < size) break
      const last = ids.at(-1) ?? null
      const rowsOfLast =
        last === null ? 0 : countIn(await read(`${HISTORY}/count`, { processDefinitionId: last }))
      first += Math.max(gone.length, ids.indexOf(last) + rowsOfLast)
    }
    if (found.size > MAX_DELETED) return null
    if (found.size > 0) return [...found.values()]
  }
  return []
}

const HISTORY = '/history/process-instance'

const DEFINITION = { texts: ['id', 'key'], nullable: ['tenantId'] }
/** Instances of the history: which definition they belong to, and whether they have ended. */
const DEFINED = { texts: ['processDefinitionId', 'processDefinitionKey'] }
const TIMED = { nullable: ['endTime'] }

/** Instances that run have no end: they stand first or last among those that have ended. */
async function findNullsFirst(read: ReadEngine): Promise<SortOrder | null> {
  const isFirst = async (sortOrder: SortOrder) => {
    const query = new URLSearchParams({ sortBy: 'endTime', sortOrder, maxResults: '1' })
    const path = `/history/process-instance?${query}`
    const rows = itemsIn(await read(path), { path, shape: TIMED })
    return rows.some(({ endTime }) => endTime === null)
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

function countIn(answer: unknown): number {
  const count = isRecord(answer) ? answer['count'] : null
  if (typeof count !== 'number') throw new GatewayError('GW_UPSTREAM_INVALID')
  return count
}
