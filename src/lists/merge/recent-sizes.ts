import { LRUCache } from 'lru-cache'
import type { ListSource } from '../list-request.ts'
import type { SizesAge } from './merged-rows.ts'
import { MAX_STORED_CHARS, OBSERVATION_MS, SLOW_CHANGE_MS } from '../limits.ts'

/** Values that predict where a page begins. They need not be exact. */
interface SizeMemory {
  /** Sizes by query. */
  readonly sizes: LRUCache<string, number>
  readonly uneven: LRUCache<string, true>
}

const remembered = new WeakMap<ListSource, SizeMemory>()

interface SizeRequest {
  readonly query: string
  readonly age: SizesAge
  readonly count: () => Promise<number>
}

interface Size {
  readonly size: number
  /** True if it was counted some seconds ago. */
  readonly isRecent: boolean
}

/** Returns the number of items of a query. A query that had no items is always counted again, because a subquery without items is not read. */
export async function sizeOf(engine: ListSource, { query, age, count }: SizeRequest): Promise<Size> {
  const { sizes } = rememberedOf(engine)
  const known = age === 'recent' ? sizes.get(query) : undefined
  if (known !== undefined && known > 0) return { size: known, isRecent: true }
  const size = await count()
  sizes.set(query, size)
  return { size, isRecent: false }
}

/** A page far down a list that is read with subqueries. */
export interface FarPage {
  /** Queries of its subqueries. */
  readonly queries: readonly string[]
  readonly first: number
}

/** Returns whether such a page was recently found not to begin where the sizes predict. */
export function isUneven(engine: ListSource, page: FarPage): boolean {
  return rememberedOf(engine).uneven.has(keyOf(page))
}

export function noteUneven(engine: ListSource, page: FarPage): void {
  rememberedOf(engine).uneven.set(keyOf(page), true)
}

/** Returns the key of a page. Pages near each other share a key, and the first two of many subqueries are enough to distinguish callers. */
function keyOf({ queries, first }: FarPage): string {
  return [Math.round(4 * Math.log2(first)), queries.length, ...queries.slice(0, 2)].join(' ')
}

function rememberedOf(engine: ListSource): SizeMemory {
  const found = remembered.get(engine) ?? {
    sizes: createMemory<number>(OBSERVATION_MS),
    uneven: createMemory<true>(SLOW_CHANGE_MS),
  }
  remembered.set(engine, found)
  return found
}

function createMemory<T extends number | true>(ttl: number): LRUCache<string, T> {
  return new LRUCache({ ttl, maxSize: MAX_STORED_CHARS, sizeCalculation: (_, { length }) => length })
}
