import type { SortOrder } from '../../../operations/row-queries.ts'
import { GatewayError } from '../../../errors.ts'
import { isRecord, stringOf } from '../../../request/value.ts'
import { inQueries, QUERY_CHARS } from './lookup-lists.ts'
import type { ReadEngine } from './look-ups.ts'

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
  /** Those that are gone, and have left process instances in the history; null: there is too much to look through. */
  readonly deleted: () => Promise<readonly DefinitionRow[] | null>
  /** Whether instances of definitions that have no tenant may be of one: an engine may be made to choose it. */
  readonly hasOwnTenants: (keys: readonly string[] | null) => Promise<boolean>
  /** The order in which the database puts rows first that lack the value; null: no row has told yet. */
  readonly nullsFirst: () => Promise<SortOrder | null>
}

interface ListsOptions {
  readonly read: ReadEngine
  readonly nowMs: () => number
  /** Rows of the history that are looked through for deleted definitions. */
  readonly maxRows: number
}

/** Keys asked for at once. */
const KEYS_A_QUERY = 50
/** A definition that is deleted is noticed after this. */
const DELETED_MS = 60_000
const HISTORY_PAGE = 1000

/** Lists of one engine's definitions. */
export function createDefinitionLists({ read, nowMs, maxRows }: ListsOptions): DefinitionLists {
  let deleted: { readonly untilMs: number; readonly found: Promise<readonly DefinitionRow[] | null> } | null =
    null
  let nulls: { readonly untilMs: number; readonly first: SortOrder | null } | null = null
  return {
    async nullsFirst() {
      if (nulls !== null && nulls.untilMs >= nowMs()) return nulls.first
      const first = await findNullsFirst(read)
      // No database changes it.
      nulls = { first, untilMs: first === null ? nowMs() + DELETED_MS : Number.POSITIVE_INFINITY }
      return first
    },
    definitions: (keys, max) => definitionsOf(read, keys, max),
    deleted() {
      if (deleted === null || deleted.untilMs < nowMs()) {
        const found = deletedDefinitions(read, maxRows)
        const own = { untilMs: nowMs() + DELETED_MS, found }
        deleted = own
        // What failed is not kept.
        found.catch(() => {
          if (deleted === own) deleted = null
        })
      }
      return deleted.found
    },
    hasOwnTenants: (keys) => hasOwnTenants(read, keys),
  }
}

async function definitionsOf(
  read: ReadEngine,
  keys: readonly string[] | null,
  max: number,
): Promise<readonly DefinitionRow[] | null> {
  const found: DefinitionRow[] = []
  for (const some of keys === null ? [null] : inQueries(keys, QUERY_CHARS, KEYS_A_QUERY)) {
    const query = new URLSearchParams({ maxResults: String(max + 1 - found.length) })
    if (some !== null) query.set('keysIn', some.join(','))
    for (const row of rowsIn(await read(`/process-definition?${query}`))) {
      const [id, key] = [stringOf(row['id']), stringOf(row['key'])]
      if (id === null || key === null) throw new GatewayError('GW_UPSTREAM_INVALID')
      found.push({ id, key, tenantId: stringOf(row['tenantId']) })
    }
    if (found.length > max) return null
  }
  return found
}

/** Rows of the history that lack their definition's version stand at one end of the list sorted by it; at which, the database says. */
async function deletedDefinitions(
  read: ReadEngine,
  maxRows: number,
): Promise<readonly DefinitionRow[] | null> {
  const found = new Map<string, DefinitionRow>()
  for (const sortOrder of ['asc', 'desc'] as const) {
    for (let from = 0, size = 1; ; from += size, size = HISTORY_PAGE) {
      if (from > maxRows) return null
      const query = {
        sortBy: 'definitionVersion',
        sortOrder,
        firstResult: String(from),
        maxResults: String(size),
      }
      const rows = rowsIn(await read(`/history/process-instance?${new URLSearchParams(query)}`))
      const gone = rows.filter((row) => typeof row['processDefinitionVersion'] !== 'number')
      for (const row of gone) {
        const [id, key] = [stringOf(row['processDefinitionId']), stringOf(row['processDefinitionKey'])]
        if (id !== null && key !== null) found.set(id, { id, key, tenantId: null })
      }
      if (gone.length < size) break
    }
  }
  return [...found.values()]
}

/** Instances that run have no end: they stand first or last among those that have ended. */
async function findNullsFirst(read: ReadEngine): Promise<SortOrder | null> {
  const isFirst = async (sortOrder: SortOrder) => {
    const query = new URLSearchParams({ sortBy: 'endTime', sortOrder, maxResults: '1' })
    return rowsIn(await read(`/history/process-instance?${query}`)).some(
      ({ endTime = null }) => endTime === null,
    )
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

/** A refusal is not the same as no rows. */
function rowsIn(answer: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(answer)) throw new GatewayError('GW_UPSTREAM_INVALID')
  return answer.filter(isRecord)
}
