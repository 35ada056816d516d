import type { PartReader, RowPlace } from './part-reader.ts'
import { standAt, startAll, sum } from './part-starts.ts'
import { mapSideBySide } from './side-by-side.ts'

/**
 * Puts the readers of sorted parts where a page begins: all rows before it are read, many at once, and of each no more is kept
 * than its place.
 * @returns how many rows are before the readers, never more than `first`; null: rows have come or gone meanwhile, or are hidden
 */
export async function scanPage(
  readers: readonly PartReader[],
  { first, max }: { readonly first: number; readonly max: number },
): Promise<number | null> {
  const most = Math.max(MIN_PLACES, Math.floor(MAX_PLACES / readers.length))
  startAll(readers, [])
  for (const reader of readers) reader.expect(Math.min(first, most), most)
  const ends = await countPlaces(readers, { wanted: first, few: most / 20 })
  for (const reader of readers) reader.expect(BACK + max / readers.length, most)
  const starts = ends.map((end) => Math.max(0, end - BACK))
  const standing = await standAt(readers, starts)
  return standing?.isWhole === true && standing.before <= first ? standing.before : null
}

/** Places of all parts that are kept at once: some hundred bytes each. */
const MAX_PLACES = 80_000
const MIN_PLACES = 100
/** The page is read from so many rows before it: some may have gone meanwhile. */
const BACK = 5

interface PlaceOfPart extends RowPlace {
  readonly part: number
}

interface PlaceAt extends PlaceOfPart {
  /** Among those of its part. */
  readonly index: number
}

/** Rows of equal value stand in the order of their parts. */
type Compare = (one: PlaceOfPart, other: PlaceOfPart) => number

/** Reads the parts until so many rows are counted: how many of each are among the first. A part with few that wait is read on, too. */
async function countPlaces(
  readers: readonly PartReader[],
  { wanted, few }: { readonly wanted: number; readonly few: number },
): Promise<readonly number[]> {
  const ends = readers.map(() => 0)
  const waiting: (readonly RowPlace[])[] = readers.map(() => [])
  const compare: Compare = (one, other) => readers[one.part]?.compare(one, other) || one.part - other.part
  for (let left = wanted; left > 0; ) {
    // Those that would come next are read at the same time.
    if (waiting.some(({ length }) => length === 0))
      await mapSideBySide([...readers.entries()], async ([part, reader]) => {
        const rest = waiting[part] ?? []
        if (rest.length <= few) waiting[part] = [...rest, ...(await reader.passPage())]
      })
    const lasts = waiting.flatMap((places, part) => {
      const last = places.at(-1)
      return last === undefined ? [] : [{ ...last, part, index: places.length - 1 }]
    })
    // What comes after the end of any page may come after rows that are not read yet.
    const [horizon] = lasts.toSorted(compare)
    if (horizon === undefined) break
    const within = upTo(horizon, waiting, compare)
    const counted = sum(within) <= left ? within : firstOf(waiting, { within, count: left, compare })
    for (const [part, count] of counted.entries()) {
      ends[part] = (ends[part] ?? 0) + count
      waiting[part] = waiting[part]?.slice(count) ?? []
    }
    left -= sum(counted)
  }
  return ends
}

interface Selecting {
  /** How many of each part are looked at. */
  readonly within: readonly number[]
  /** How many of all are wanted, fewer than those. */
  readonly count: number
  readonly compare: Compare
}

/** How many of each part are among the first of all: the part that leaves most open is halved until none does. */
function firstOf(
  parts: readonly (readonly RowPlace[])[],
  { within, count, compare }: Selecting,
): readonly number[] {
  let [low, high] = [within.map(() => 0), within]
  for (;;) {
    const open = high.map((to, part) => to - (low[part] ?? 0))
    const part = open.indexOf(Math.max(...open))
    const middle = (low[part] ?? 0) + ((open[part] ?? 0) >> 1)
    const place = parts[part]?.[middle]
    if (open[part] === 0 || place === undefined) return low
    const before = upTo({ ...place, part, index: middle }, parts, compare)
    if (sum(before) <= count) low = before
    else high = before.with(part, middle)
  }
}

/** How many of each part stand up to a place, with it. */
function upTo(place: PlaceAt, parts: readonly (readonly RowPlace[])[], compare: Compare): number[] {
  const counts = parts.map((places, part) => countTo(places, (one) => compare({ ...one, part }, place) <= 0))
  // Others of its own part that have the same value come after it.
  return counts.with(place.part, place.index + 1)
}

/** How many places are before the first one of which it is not so. */
function countTo(places: readonly RowPlace[], isWithin: (place: RowPlace) => boolean): number {
  let [low, high] = [0, places.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const place = places[middle]
    if (place !== undefined && isWithin(place)) low = middle + 1
    else high = middle
  }
  return low
}
