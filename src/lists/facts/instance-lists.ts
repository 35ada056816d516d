import { LRUCache } from 'lru-cache'
import { GatewayError } from '../../errors.ts'
import type { DateFormat } from '../../request/date-format.ts'
import { countIn } from '../../request/engine-request.ts'
import { isRecord, stringOf } from '../../request/value.ts'
import type { ReadEngine } from '../../policy/authz/entities/look-ups.ts'
import { LATE_INSTANCE_MS, MAX_READ_ITEMS, MIN_READ_ITEMS, READ_BYTES, SLOW_CHANGE_MS } from '../limits.ts'

/** Running instances, instances of the history, or cases that are not closed. */
export type InstanceKind = 'process-instance' | 'history/process-instance' | 'case-instance'

/** Lists of instances by which items are requested. */
export interface InstanceLists {
  /** Returns the ids that a query finds. Null if there are more than `max`. */
  readonly instanceIds: (
    kind: InstanceKind,
    query: InstanceQuery,
    max: number,
  ) => Promise<readonly string[] | null>
  readonly countInstances: (kind: InstanceKind, query: InstanceQuery) => Promise<number>
}

type InstanceQuery = Readonly<Record<string, unknown>>

interface InstanceListsOptions {
  readonly read: ReadEngine
  readonly dateFormat: DateFormat
  /** Monotonic milliseconds. */
  readonly nowMs: () => number
  /** The number of history ids that are stored for all queries together, at about 64 bytes each. */
  readonly maxRemembered: number
}

/**
 * Creates lists of one engine's process instances. The ids of the history are stored. Each time, the instances that have
 * started since are requested, and a count shows whether all others still exist. Running instances have no such start time,
 * and are read each time.
 */
export function createInstanceLists({
  read,
  dateFormat,
  nowMs,
  maxRemembered,
}: InstanceListsOptions): InstanceLists {
  const remembered = new LRUCache<string, InstanceIdsEntry>({
    maxSize: maxRemembered,
    sizeCalculation: ({ ids }) => Math.max(1, ids.length),
  })
  const confirmed = async (
    query: InstanceQuery,
    last: InstanceIdsEntry | undefined,
  ): Promise<InstanceIdsEntry | null> => {
    if (last === undefined || last.untilMs < nowMs()) return null
    const found = await confirm({ read, dateFormat }, query, last)
    return found === null ? null : { ...found, untilMs: last.untilMs }
  }
  const anew = async (query: InstanceQuery, max: number): Promise<InstanceIdsEntry | null> => {
    const found = await readIds({ read, dateFormat }, HISTORY, query, max)
    return found === null ? null : { ...found, untilMs: nowMs() + SLOW_CHANGE_MS }
  }
  return {
    countInstances: (kind, query) => countOf(read, kind, query),
    async instanceIds(kind, query, max) {
      if (kind !== HISTORY) return (await readIds({ read, dateFormat }, kind, query, max))?.ids ?? null
      const key = JSON.stringify(query)
      const found = (await confirmed(query, remembered.get(key))) ?? (await anew(query, max))
      if (found === null) remembered.delete(key)
      else remembered.set(key, found)
      return found === null || found.ids.length > max ? null : found.ids
    },
  }
}

interface InstanceIds {
  readonly ids: readonly string[]
  /** The latest start time of the instances. Null if it is not known. */
  readonly lastStart: number | null
}

interface InstanceIdsEntry extends InstanceIds {
  readonly untilMs: number
}

/**
 * Returns the stored ids with those of instances that have started since. Null if other instances were removed from the
 * query's result or added to it.
 */
async function confirm(
  reading: InstanceSource,
  query: InstanceQuery,
  { ids: known, lastStart }: InstanceIds,
): Promise<InstanceIds | null> {
  if (lastStart === null) return null
  const startedAfter = reading.dateFormat.format(lastStart - LATE_INSTANCE_MS)
  if (startedAfter === null) return null
  // An engine whose date format differs from its configured one refuses this date.
  const fresh = await readIds(reading, HISTORY, { ...query, startedAfter }, MAX_READ_ITEMS).catch(() => null)
  if (fresh === null) return null
  const ids = [...new Set([...known, ...fresh.ids])]
  if ((await countOf(reading.read, HISTORY, query)) !== ids.length) return null
  return { ids, lastStart: Math.max(lastStart, fresh.lastStart ?? lastStart) }
}

const HISTORY = 'history/process-instance'

async function countOf(read: ReadEngine, kind: InstanceKind, query: InstanceQuery): Promise<number> {
  return countIn(await read(`/${kind}/count`, query))
}

type InstanceSource = Pick<InstanceListsOptions, 'read' | 'dateFormat'>

async function readIds(
  { read, dateFormat }: InstanceSource,
  kind: InstanceKind,
  query: InstanceQuery,
  max: number,
): Promise<InstanceIds | null> {
  const ids = new Set<string>()
  let lastStart: number | null = 0
  for (let [from, size] = [0, MAX_READ_ITEMS]; ids.size <= max; ) {
    const items = await read(`/${kind}?firstResult=${from}&maxResults=${size}`, query)
    // A refusal is different from an empty list.
    if (!Array.isArray(items)) throw new GatewayError('GW_UPSTREAM_INVALID')
    for (const item of items) {
      const id = isRecord(item) ? stringOf(item['id']) : null
      if (id === null) throw new GatewayError('GW_UPSTREAM_INVALID')
      ids.add(id)
      lastStart = laterOf(lastStart, isRecord(item) ? dateFormat.toMs(item['startTime']) : null)
    }
    if (items.length < size) return { ids: [...ids], lastStart }
    from += size
    size = pageSizeOf(items)
  }
  return null
}

/** Returns null if one of the two is unknown. */
function laterOf(last: number | null, started: number | null): number | null {
  return last === null || started === null ? null : Math.max(last, started)
}

/** Returns the size of the next page. Each read sorts all items, so pages of short items are twice as large as other reads. */
function pageSizeOf(items: readonly unknown[]): number {
  const measured = items.slice(-MIN_READ_ITEMS)
  const bytes = JSON.stringify(measured).length / measured.length
  return Math.min(2 * MAX_READ_ITEMS, Math.max(MAX_READ_ITEMS, Math.floor(READ_BYTES / bytes)))
}
