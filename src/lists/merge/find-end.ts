import { READ_GROWTH } from '../limits.ts'

interface EndEstimate {
  /** The list has at least this length. */
  readonly known: number
  /** Position of the first read, at or after `known`. */
  readonly likely: number
  /** Number of items of one read. */
  readonly size: number
}

/**
 * Returns the length of a list that can only be read in pages. The reads first move down the list in growing steps, and then search
 * between the known positions.
 * @param lengthAt returns how many items a read of `size` items from a position gives
 */
export async function findEnd(
  lengthAt: (from: number, size: number) => Promise<number>,
  { known, likely, size }: EndEstimate,
): Promise<number> {
  let [low, high] = [known, Number.POSITIVE_INFINITY]
  let from = likely
  for (let step = size; low < high; step *= READ_GROWTH) {
    const length = await lengthAt(from, size)
    if (length === size) low = from + size
    else if (length > 0) return from + length
    else high = from
    from = high - low <= size ? low : Math.min(low + step, Math.floor((low + high) / 2))
  }
  return low
}
