import type { SubqueryReader, PlacedItem } from './subquery-reader.ts'
import { mapSideBySide } from '../side-by-side.ts'

/** The positions of the readers of sorted subqueries. */
export interface ReaderPositions {
  /** How many items of each subquery are before its reader. */
  readonly found: readonly number[]
  readonly before: number
  /**
   * True if the items before the readers are exactly the first items of the merged list. False if a subquery has more items before
   * the place than one read gives.
   */
  readonly isWhole: boolean
}

/**
 * Moves each reader to its start.
 * @returns how many items are before the readers
 */
export function startAll(readers: readonly SubqueryReader[], starts: readonly number[]): number {
  for (const [at, reader] of readers.entries()) reader.startAt(starts[at] ?? 0)
  return sum(starts)
}

/**
 * Reads each subquery from its start. The last of their first items is the common place, and each reader skips the items before
 * this place. A subquery that starts at position 0 does not determine the place: no item before its start is left out, and its few
 * items may all come late.
 * @param isEmpty returns whether a subquery is known to have no items; it is not read
 * @returns null if a subquery ends before its start, or has hidden items, which the sizes include
 */
export async function positionReaders(
  readers: readonly SubqueryReader[],
  starts: readonly number[],
  isEmpty: (at: number) => boolean = () => false,
): Promise<ReaderPositions | null> {
  startAll(readers, starts)
  for (const [at, reader] of readers.entries()) if (isEmpty(at)) reader.finish()
  const heads = await mapSideBySide(readers, (reader) => reader.head())
  const last = lastOf(
    readers,
    heads.map((head, at) => (starts[at] === 0 ? null : head)),
  )
  const hasEnded = heads.some((head, at) => head === null && starts[at] !== 0)
  if (last === null || hasEnded || readers.some(({ hidden }) => hidden > 0)) return null
  const passed = await mapSideBySide([...readers.entries()], ([at, reader]) =>
    reader.passOver((place) => {
      const order = reader.compare(place, last.item)
      // Items of equal value are in the order of their subqueries.
      return order < 0 || (order === 0 && at < last.at)
    }),
  )
  const found = passed.map(({ count }, at) => count + (starts[at] ?? 0))
  return { found, before: sum(found), isWhole: passed.every(({ isAll }) => isAll) }
}

function lastOf(readers: readonly SubqueryReader[], items: readonly (PlacedItem | null)[]) {
  let last: { readonly item: PlacedItem; readonly at: number } | null = null
  for (const [at, item] of items.entries())
    if (item !== null && (last === null || (readers[at]?.compare(item, last.item) ?? 0) >= 0))
      last = { item, at }
  return last
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0)
}
