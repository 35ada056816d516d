import type { SubqueryReader } from './subquery-reader.ts'
import { positionReaders, startAll, sum } from './reader-positions.ts'
import { FEW_ITEMS, MAX_SEARCH_READS, MIN_READ_ITEMS, SEEK_DEVIATIONS, STEP_ITEMS } from '../limits.ts'

export interface Sizes {
  /** Number of items of each subquery. Subqueries after the last size are read from their top. */
  readonly sizes: readonly number[]
  /** True if the sizes are only proportional to the numbers of items. */
  readonly isEstimate: boolean
  /** True if some sizes were counted some seconds ago. Sizes of 0 are always current. */
  readonly isRecent: boolean
}

interface PageTarget extends Omit<Sizes, 'isRecent'> {
  /** Number of items of all subqueries before the page. */
  readonly first: number
  readonly max: number
}

/** Known limits for the items before the page: at least `low` and at most `high` items of each subquery are before it. */
interface Bounds {
  readonly low: readonly number[]
  readonly high: readonly number[]
}

/**
 * Moves the readers of sorted subqueries to the start of a page, or to a place shortly before it. If values are distributed alike
 * in all subqueries, the items of a page in the middle of the merged list are near the middle of each subquery. Each subquery is
 * therefore read from a little before this position. The items before the last of these starts are then counted, and the readers
 * skip them.
 * @returns how many items are before the readers, never more than `first`; null if the sizes do not show that
 */
export async function seekPage(
  readers: readonly SubqueryReader[],
  { first, max, sizes, isEstimate }: PageTarget,
): Promise<number | null> {
  const scale = scaleOf(sizes, isEstimate)
  const known = readers.map((_, at) => (sizes[at] ?? 0) * scale)
  const target = Math.min(first, sum(known))
  const short = shortOf(known)
  let bounds: Bounds = { low: known.map(() => 0), high: known }
  for (let round = 0; round < MAX_SEARCH_READS; round += 1) {
    const { starts, margins } = nearBefore(bounds, target, short)
    if (sum(starts) === 0) return startAll(readers, starts)
    for (const [at, reader] of readers.entries()) {
      const isSized = (known[at] ?? 0) > 0 && !short.has(at)
      reader.expect(isSized ? 2 * (margins[at] ?? 0) + max / readers.length : STEP_ITEMS, STEP_ITEMS)
    }
    const positions = await positionReaders(readers, starts, (at) => !isEstimate && sizes[at] === 0)
    // Otherwise the values are not distributed alike.
    if (positions?.isWhole !== true) return null
    const { found, before } = positions
    if (before > first) bounds = { ...bounds, high: found }
    else if (first - before <= 2 * sum(margins) + max) return before
    else bounds = { ...bounds, low: found }
  }
  return null
}

/** Returns a factor for the sizes. Estimated sizes become larger than those of any real subquery. */
function scaleOf(sizes: readonly number[], isEstimate: boolean): number {
  return isEstimate ? Number.MAX_SAFE_INTEGER / Math.max(1, sum(sizes)) : 1
}

/** Returns the subqueries that are read from their top. Together they have few items, and all of them may be at one end. */
function shortOf(sizes: readonly number[]): ReadonlySet<number> {
  const short = new Set<number>()
  let count = 0
  for (const [at, size] of [...sizes.entries()].toSorted(([, one], [, other]) => one - other)) {
    count += size
    if (count > FEW_ITEMS) return short
    short.add(at)
  }
  return short
}

/** Returns the likely start of the page in each subquery, less four standard deviations of items that are spread at random. */
function nearBefore({ low, high }: Bounds, first: number, short: ReadonlySet<number>) {
  const left = sum(high) - sum(low)
  const share = left === 0 ? 0 : Math.min(1, Math.max(0, (first - sum(low)) / left))
  const rooms = low.map((from, at) => Math.max(0, (high[at] ?? from) - from))
  const margins = rooms.map(
    (room) => Math.ceil(SEEK_DEVIATIONS * Math.sqrt(room * share * (1 - share))) + MIN_READ_ITEMS,
  )
  const starts = low.map((from, at) => {
    const likely = Math.floor((rooms[at] ?? 0) * share) - (margins[at] ?? 0)
    return short.has(at) ? 0 : from + Math.max(0, likely)
  })
  return { starts, margins }
}
