import { LRUCache } from 'lru-cache'
import type { ListRequest, ListSource } from '../list-request.ts'
import { MAX_STORED_CHARS, OBSERVATION_MS, SLOW_CHANGE_MS } from '../limits.ts'

/** Recent observations about the lists of one engine. They choose between ways to read a list, and need not be exact. */
interface ListObservations {
  /** Large counts of whole lists, by query. These queries are counted with subqueries at once, without a count of the whole list. */
  readonly longCounts: LRUCache<string, number>
  /** How long the first page of an unrestricted list took to read, in milliseconds, by operation. A database may sort the whole list for it. */
  readonly topTimes: LRUCache<string, number>
  /** Numbers of items by query. */
  readonly sizes: LRUCache<string, number>
  /** Pages that did not begin where the sizes predict. */
  readonly unevenPages: LRUCache<string, true>
  /** Whether the engine adds the variables to tasks, by the operation that reads them. */
  readonly addsVariables: LRUCache<string, boolean>
}

const observations = new WeakMap<ListSource, ListObservations>()

/** Returns the text by which observations identify a query. */
export function queryTextOf({ upstreamRequest: { path, body } }: ListRequest): string {
  return `${path} ${body?.toString()}`
}

export function observationsOf(engine: ListSource): ListObservations {
  const found = observations.get(engine) ?? {
    longCounts: createMemory<number>(OBSERVATION_MS),
    topTimes: createMemory<number>(OBSERVATION_MS),
    sizes: createMemory<number>(OBSERVATION_MS),
    unevenPages: createMemory<true>(SLOW_CHANGE_MS),
    addsVariables: createMemory<boolean>(OBSERVATION_MS),
  }
  observations.set(engine, found)
  return found
}

function createMemory<T extends number | boolean>(ttl: number): LRUCache<string, T> {
  return new LRUCache({ ttl, maxSize: MAX_STORED_CHARS, sizeCalculation: (_, { length }) => length })
}
