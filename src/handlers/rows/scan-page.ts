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

/** Reads the parts until so many rows are counted: how many of each are among the first. Few that wait are no reason not to read on. */
async function countPlaces(
  readers: readonly PartReader[],
  { wanted, few }: { readonly wanted: number; readonly few: number },
): Promise<readonly number[]> {
  const ends = readers.map(() => 0)
  const waiting: (readonly RowPlace[])[] = readers.map(() => [])
  const compare = (one: PlaceOfPart, other: PlaceOfPart): number =>
    readers[one.part]?.compare(one, other) || one.part - other.part
  for (let left = wanted; left > 0; ) {
    const isAny = waiting.some(({ length }) => length === 0)
    // Those that would come next are read at the same time.
    if (isAny)
      await mapSideBySide([...readers.entries()], async ([part, reader]) => {
        const rest = waiting[part] ?? []
        if (rest.length <= few) waiting[part] = [...rest, ...(await reader.passPage())]
      })
    const lasts = waiting.flatMap((places, part) => {
      const last = places.at(-1)
      return last === undefined ? [] : [{ ...last, part }]
    })
    const [horizon] = lasts.toSorted(compare)
    if (horizon === undefined) break
    const within = waiting.map((places, part) =>
      countTo(places, (place) => compare({ ...place, part }, horizon) <= 0),
    )
    const counted = sum(within) <= left ? within : amongFirst(waiting, { within, left, compare })
    for (const [part, count] of counted.entries()) {
      ends[part] = (ends[part] ?? 0) + count
      waiting[part] = waiting[part]?.slice(count) ?? []
    }
    left -= sum(counted)
  }
  return ends
}

/** How many of each part's first places are among the first of all. */
function amongFirst(
  waiting: readonly (readonly RowPlace[])[],
  {
    within,
    left,
    compare,
  }: {
    readonly within: readonly number[]
    readonly left: number
    readonly compare: (one: PlaceOfPart, other: PlaceOfPart) => number
  },
): readonly number[] {
  const all = waiting.flatMap((places, part) =>
    places.slice(0, within[part]).map((place) => ({ ...place, part })),
  )
  const counts = waiting.map(() => 0)
  for (const { part } of all.toSorted(compare).slice(0, left)) counts[part] = (counts[part] ?? 0) + 1
  return counts
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
