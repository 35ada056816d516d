import type { SubqueryReader, ItemPlace } from './subquery-reader.ts'
import { positionReaders, startAll, sum } from './reader-positions.ts'
import { mapSideBySide } from '../side-by-side.ts'
import { MAX_IDS, MIN_READ_ITEMS, SPARE_SHARE } from '../limits.ts'

/**
 * Moves the readers of sorted subqueries to the start of a page. All items before the page are read in large pages, and only the
 * place of each item is kept.
 * @returns how many items are before the readers, never more than `first`; null if items were added or removed meanwhile, or are
 *   hidden
 */
export async function scanPage(
  readers: readonly SubqueryReader[],
  { first, max }: { readonly first: number; readonly max: number },
): Promise<number | null> {
  const most = Math.max(MIN_READ_ITEMS, Math.floor(MAX_IDS / readers.length))
  startAll(readers, [])
  for (const reader of readers) reader.expect(Math.min(first, most), most)
  const ends = await countPlaces(readers, { wanted: first, few: SPARE_SHARE * most })
  for (const reader of readers) reader.expect(MIN_READ_ITEMS + max / readers.length, most)
  const starts = ends.map((end) => Math.max(0, end - MIN_READ_ITEMS))
  const positions = await positionReaders(readers, starts)
  return positions?.isWhole === true && positions.before <= first ? positions.before : null
}

interface SubqueryPlace extends ItemPlace {
  readonly subquery: number
}

interface PlaceAt extends SubqueryPlace {
  /** Position among the places of its subquery. */
  readonly index: number
}

/** Compares places. Items of equal value are in the order of their subqueries. */
type Compare = (one: SubqueryPlace, other: SubqueryPlace) => number

/**
 * Reads the subqueries until `wanted` items are counted, and returns how many of them each subquery has. Each read also continues
 * the subqueries that have at most `few` waiting places.
 */
async function countPlaces(
  readers: readonly SubqueryReader[],
  { wanted, few }: { readonly wanted: number; readonly few: number },
): Promise<readonly number[]> {
  const ends = readers.map(() => 0)
  const waiting: (readonly ItemPlace[])[] = readers.map(() => [])
  const compare: Compare = (one, other) =>
    readers[one.subquery]?.compare(one, other) || one.subquery - other.subquery
  for (let left = wanted; left > 0; ) {
    // The subqueries that would be needed next are read at the same time.
    if (waiting.some(({ length }) => length === 0))
      await mapSideBySide([...readers.entries()], async ([subquery, reader]) => {
        const rest = waiting[subquery] ?? []
        if (rest.length <= few) waiting[subquery] = [...rest, ...(await reader.passPage())]
      })
    const lasts = waiting.flatMap((places, subquery) => {
      const last = places.at(-1)
      return last === undefined ? [] : [{ ...last, subquery, index: places.length - 1 }]
    })
    // Items after the end of any page may come after items that are not read yet.
    const [horizon] = lasts.toSorted(compare)
    if (horizon === undefined) break
    const within = upTo(horizon, waiting, compare)
    const counted = sum(within) <= left ? within : firstOf(waiting, { within, count: left, compare })
    for (const [subquery, count] of counted.entries()) {
      ends[subquery] = (ends[subquery] ?? 0) + count
      waiting[subquery] = waiting[subquery]?.slice(count) ?? []
    }
    left -= sum(counted)
  }
  return ends
}

interface PlaceSelection {
  /** How many places of each subquery are considered. */
  readonly within: readonly number[]
  /** How many places are wanted in total, fewer than the sum of `within`. */
  readonly count: number
  readonly compare: Compare
}

/** Returns how many places of each subquery are among the first `count`. The largest open range is halved until no range is open. */
function firstOf(
  waiting: readonly (readonly ItemPlace[])[],
  { within, count, compare }: PlaceSelection,
): readonly number[] {
  let [low, high] = [within.map(() => 0), within]
  for (;;) {
    const open = high.map((to, subquery) => to - (low[subquery] ?? 0))
    const subquery = open.indexOf(Math.max(...open))
    const middle = (low[subquery] ?? 0) + ((open[subquery] ?? 0) >> 1)
    const place = waiting[subquery]?.[middle]
    if (open[subquery] === 0 || place === undefined) return low
    const before = upTo({ ...place, subquery, index: middle }, waiting, compare)
    if (sum(before) <= count) low = before
    else high = before.with(subquery, middle)
  }
}

/** Returns how many places of each subquery are not after a place. The place itself is included. */
function upTo(place: PlaceAt, waiting: readonly (readonly ItemPlace[])[], compare: Compare): number[] {
  const counts = waiting.map((places, subquery) =>
    countTo(places, (one) => compare({ ...one, subquery }, place) <= 0),
  )
  // Places of the same subquery with an equal value come after it.
  return counts.with(place.subquery, place.index + 1)
}

/** Returns the number of places before the first place that is not within. */
function countTo(places: readonly ItemPlace[], isWithin: (place: ItemPlace) => boolean): number {
  let [low, high] = [0, places.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const place = places[middle]
    if (place !== undefined && isWithin(place)) low = middle + 1
    else high = middle
  }
  return low
}
