import { LRUCache } from 'lru-cache'
import type { EngineParts } from '../../pipeline/parts.ts'
import type { SizesAge } from './merged-rows.ts'

const RECENT_MS = 30_000
/** How values are spread over the parts of a list changes slowly. */
const UNEVEN_MS = 10 * 60_000
/** Of queries that are remembered for one engine, all together. */
const MAX_CHARS = 1024 ** 2

/** What tells where a page is likely to begin, and need not be right. */
interface Remembered {
  /** By query. */
  readonly sizes: LRUCache<string, number>
  readonly uneven: LRUCache<string, true>
}

const remembered = new WeakMap<EngineParts, Remembered>()

interface Sizing {
  readonly query: string
  readonly age: SizesAge
  readonly count: () => Promise<number>
}

interface Size {
  readonly size: number
  /** It was counted some seconds ago. */
  readonly isRecent: boolean
}

/** How many rows a query of an engine has. Whether one that had none still has none is asked each time: what has none is not read. */
export async function sizeOf(engine: EngineParts, { query, age, count }: Sizing): Promise<Size> {
  const { sizes } = rememberedOf(engine)
  const known = age === 'recent' ? sizes.get(query) : undefined
  if (known !== undefined && known > 0) return { size: known, isRecent: true }
  const size = await count()
  sizes.set(query, size)
  return { size, isRecent: false }
}

/** A page far down a list that is asked for in parts. */
export interface FarPage {
  /** Of its parts. */
  readonly queries: readonly string[]
  readonly first: number
}

/** Whether it has been noted lately that such a page does not begin where the sizes of the parts say. */
export function isUneven(engine: EngineParts, page: FarPage): boolean {
  return rememberedOf(engine).uneven.has(keyOf(page))
}

export function noteUneven(engine: EngineParts, page: FarPage): void {
  rememberedOf(engine).uneven.set(keyOf(page), true)
}

/** Pages near each other are alike, and of many parts the first two tell whose they are. */
function keyOf({ queries, first }: FarPage): string {
  return [Math.round(4 * Math.log2(first)), queries.length, ...queries.slice(0, 2)].join(' ')
}

function rememberedOf(engine: EngineParts): Remembered {
  const found = remembered.get(engine) ?? {
    sizes: createMemory<number>(RECENT_MS),
    uneven: createMemory<true>(UNEVEN_MS),
  }
  remembered.set(engine, found)
  return found
}

function createMemory<T extends number | true>(ttl: number): LRUCache<string, T> {
  return new LRUCache({ ttl, maxSize: MAX_CHARS, sizeCalculation: (_, { length }) => length })
}
