import { LRUCache } from 'lru-cache'
import type { EngineParts } from '../../pipeline/parts.ts'
import type { SizesAge } from './merged-rows.ts'

const RECENT_MS = 30_000
/** Of queries that are remembered for one engine, all together. */
const MAX_CHARS = 1024 ** 2

/** By query. They tell where a page is likely to begin, and need not be right. */
const recentSizes = new WeakMap<EngineParts, LRUCache<string, number>>()

interface Sizing {
  readonly query: string
  readonly age: SizesAge
  readonly count: () => Promise<number>
}

/** How many rows a query of an engine has. */
export async function sizeOf(engine: EngineParts, { query, age, count }: Sizing): Promise<number> {
  const sizes = recentSizes.get(engine) ?? createSizes()
  recentSizes.set(engine, sizes)
  const known = age === 'recent' ? sizes.get(query) : undefined
  if (known !== undefined) return known
  const size = await count()
  sizes.set(query, size)
  return size
}

function createSizes(): LRUCache<string, number> {
  return new LRUCache({ ttl: RECENT_MS, maxSize: MAX_CHARS, sizeCalculation: (_, { length }) => length })
}
