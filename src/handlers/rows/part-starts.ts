import type { PartReader, PlacedRow } from './part-reader.ts'
import { mapSideBySide } from './side-by-side.ts'

/** Where the readers of sorted parts stand, and how many rows are before them. */
export interface Standing {
  /** How many rows of each part are before its reader. */
  readonly found: readonly number[]
  readonly before: number
  /**
   * Whether no row is left out: the rows before the readers are the first of all. Else there are more rows of a part before the
   * place than one read gives.
   */
  readonly isWhole: boolean
}

/** @returns how many rows are before the readers */
export function startAll(readers: readonly PartReader[], starts: readonly number[]): number {
  for (const [at, reader] of readers.entries()) reader.startAt(starts[at] ?? 0)
  return sum(starts)
}

/**
 * Reads each part from its start on, and passes over what stands before the last of the rows that they begin with. Before a
 * reader that begins at its top nothing is left out: few rows, that may all stand late, do not tell where the others begin.
 * @param isEmpty whether a part has been found to have no row: it is not read
 * @returns null: a part ends before its start, or has rows that are hidden, which were counted all the same
 */
export async function standAt(
  readers: readonly PartReader[],
  starts: readonly number[],
  isEmpty: (at: number) => boolean = () => false,
): Promise<Standing | null> {
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
      const order = reader.compare(place, last.row)
      // Rows of equal value stand in the order of their parts.
      return order < 0 || (order === 0 && at < last.at)
    }),
  )
  const found = passed.map(({ count }, at) => count + (starts[at] ?? 0))
  return { found, before: sum(found), isWhole: passed.every(({ isAll }) => isAll) }
}

function lastOf(readers: readonly PartReader[], rows: readonly (PlacedRow | null)[]) {
  let last: { readonly row: PlacedRow; readonly at: number } | null = null
  for (const [at, row] of rows.entries())
    if (row !== null && (last === null || (readers[at]?.compare(row, last.row) ?? 0) >= 0)) last = { row, at }
  return last
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0)
}
