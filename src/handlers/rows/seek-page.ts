import type { PartReader } from './part-reader.ts'
import { standAt, startAll, sum } from './part-starts.ts'

export interface Sizes {
  /** How many rows each part has. A part behind these is read from its top. */
  readonly sizes: readonly number[]
  /** They are in proportion only. */
  readonly isEstimate: boolean
  /** Some were counted some seconds ago, but for those that are 0. */
  readonly isRecent: boolean
}

interface Sought extends Omit<Sizes, 'isRecent'> {
  /** Of all parts: rows before the page. */
  readonly first: number
  readonly max: number
}

/** What is known of the rows before the page: of each part at least `low` of them are, and at most `high`. */
interface Bounds {
  readonly low: readonly number[]
  readonly high: readonly number[]
}

const MAX_ROUNDS = 4
/** Rows of a part whose size is not known: more than any has. */
const MANY = 1e9

/**
 * Puts the readers of sorted parts where a page begins, or as near before it as is found. The rows of a page that stands in
 * the middle of all stand near the middle of each part, if they are spread alike: so each is read a little before there.
 * What stands before the last of these beginnings is counted by then: the readers pass over it.
 * @returns how many rows are before the readers, never more than `first`; null: that cannot be told from the sizes
 */
export async function seekPage(
  readers: readonly PartReader[],
  { first, max, sizes, isEstimate }: Sought,
): Promise<number | null> {
  const known = readers.map((_, at) => (sizes[at] ?? 0) * (isEstimate ? MANY : 1))
  const target = Math.min(first, sum(known))
  const short = shortOf(known)
  let bounds: Bounds = { low: known.map(() => 0), high: known }
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { starts, margins } = nearBefore(bounds, target, short)
    if (sum(starts) === 0) return startAll(readers, starts)
    for (const [at, reader] of readers.entries()) {
      const isSized = (known[at] ?? 0) > 0 && !short.has(at)
      reader.expect(isSized ? 2 * (margins[at] ?? 0) + max / readers.length : MAX_WINDOW, MAX_WINDOW)
    }
    const standing = await standAt(readers, starts, (at) => !isEstimate && sizes[at] === 0)
    // Else they are not spread alike.
    if (standing?.isWhole !== true) return null
    const { found, before } = standing
    if (before > first) bounds = { ...bounds, high: found }
    else if (first - before <= 2 * sum(margins) + max) return before
    else bounds = { ...bounds, low: found }
  }
  return null
}

/** Of a part more rows than these are not read to find where a page begins. */
const MAX_WINDOW = 1000

/** Parts that are read from their top: they have few rows beside the others, which may all stand at one end. */
function shortOf(sizes: readonly number[]): ReadonlySet<number> {
  const short = new Set<number>()
  let rows = 0
  for (const [at, size] of [...sizes.entries()].toSorted(([, one], [, other]) => one - other)) {
    rows += size
    if (rows > SHORT_ROWS || size * sizes.length * SHORT_SHARE > sum(sizes)) return short
    short.add(at)
  }
  return short
}

/** Of all short parts together. */
const SHORT_ROWS = 500
/** A part is short that has so many times fewer rows than the mean. */
const SHORT_SHARE = 4

/** Where the page is likely to begin in each part, less four times the deviation of rows that are spread by chance. */
function nearBefore({ low, high }: Bounds, first: number, short: ReadonlySet<number>) {
  const left = sum(high) - sum(low)
  const share = left === 0 ? 0 : Math.min(1, Math.max(0, (first - sum(low)) / left))
  const rooms = low.map((from, at) => Math.max(0, (high[at] ?? from) - from))
  const margins = rooms.map((room) => Math.ceil(4 * Math.sqrt(room * share * (1 - share))) + 5)
  const starts = low.map((from, at) => {
    const likely = Math.floor((rooms[at] ?? 0) * share) - (margins[at] ?? 0)
    return short.has(at) ? 0 : from + Math.max(0, likely)
  })
  return { starts, margins }
}
