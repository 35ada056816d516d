import type { PartReader, PlacedRow } from './part-reader.ts'
import { mapSideBySide } from './side-by-side.ts'

export interface Sizes {
  /** How many rows each part has. A part behind these is read from its top. */
  readonly sizes: readonly number[]
  /** They are in proportion only. */
  readonly isEstimate: boolean
}

interface Sought extends Sizes {
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
 * @returns how many rows are before the readers, never more than `first`; null: a part has fewer rows than was said, and all are
 * read from the top
 */
export async function seekPage(
  readers: readonly PartReader[],
  { first, max, sizes, isEstimate }: Sought,
): Promise<number | null> {
  const known = readers.map((_, at) => (sizes[at] ?? 0) * (isEstimate ? MANY : 1))
  const target = Math.min(first, sum(known))
  let bounds: Bounds = { low: known.map(() => 0), high: known }
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { starts, margins } = nearBefore(bounds, target)
    if (sum(starts) === 0) break
    startAll(readers, starts)
    for (const [at, reader] of readers.entries()) {
      const isSized = (known[at] ?? 0) > 0
      reader.expect(isSized ? 2 * (margins[at] ?? 0) + max / readers.length : MAX_WINDOW, MAX_WINDOW)
    }
    const passed = await passToLastStart(readers, starts)
    // What is hidden was counted as well.
    if (readers.some(({ hidden }) => hidden > 0)) return startAll(readers, [])
    if (endsBefore(passed, starts)) {
      startAll(readers, [])
      return null
    }
    const found = starts.map((start, at) => start + (passed[at]?.count ?? 0))
    const before = sum(found)
    const isAll = passed.every((one) => one?.isAll !== false)
    if (before <= first && isAll) {
      if (first - before <= 2 * sum(margins) + max) return before
      bounds = { ...bounds, low: found }
    } else if (before > first) {
      const isTold = (at: number) => passed[at]?.isAll !== false
      bounds = { ...bounds, high: bounds.high.map((high, at) => (isTold(at) ? (found[at] ?? high) : high)) }
    } else break
  }
  return startAll(readers, bounds.low)
}

function endsBefore(passed: readonly unknown[], starts: readonly number[]): boolean {
  return passed.some((one, at) => one === null && starts[at] !== 0)
}

/** Of a part more rows than these are not read to find where a page begins. */
const MAX_WINDOW = 1000

function startAll(readers: readonly PartReader[], starts: readonly number[]): number {
  for (const [at, reader] of readers.entries()) reader.startAt(starts[at] ?? 0)
  return sum(starts)
}

/** Where the page is likely to begin in each part, less four times the deviation of rows that are spread by chance. */
function nearBefore({ low, high }: Bounds, first: number) {
  const left = sum(high) - sum(low)
  const share = left === 0 ? 0 : Math.min(1, Math.max(0, (first - sum(low)) / left))
  const rooms = low.map((from, at) => Math.max(0, (high[at] ?? from) - from))
  const margins = rooms.map((room) => Math.ceil(4 * Math.sqrt(room * share * (1 - share))) + 5)
  const starts = low.map((from, at) => {
    const likely = Math.floor((rooms[at] ?? 0) * share) - (margins[at] ?? 0)
    return from + Math.max(0, likely)
  })
  return { starts, margins }
}

/**
 * Passes over what stands before the last of the rows that the readers begin with. Null: a reader has none. Before a reader
 * that begins at its top nothing is left out: few rows, that may all stand late, do not tell where the others begin.
 */
async function passToLastStart(readers: readonly PartReader[], starts: readonly number[]) {
  const heads = await mapSideBySide(readers, (reader) => reader.head())
  const begun = heads.map((head, at) => (starts[at] === 0 ? null : head))
  const last = lastOf(readers, begun)
  return mapSideBySide([...readers.entries()], async ([at, reader]) => {
    if (last === null || heads[at] === null) return null
    return reader.passOver((place) => {
      const order = reader.compare(place, last.row)
      // Rows of equal value stand in the order of their parts.
      return order < 0 || (order === 0 && at < last.at)
    })
  })
}

function lastOf(readers: readonly PartReader[], rows: readonly (PlacedRow | null)[]) {
  let last: { readonly row: PlacedRow; readonly at: number } | null = null
  for (const [at, row] of rows.entries())
    if (row !== null && (last === null || (readers[at]?.compare(row, last.row) ?? 0) >= 0)) last = { row, at }
  return last
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0)
}
