/** How much further down the next read is. */
const FURTHER = 8

interface Ending {
  /** The list goes on up to here at least. */
  readonly known: number
  /** Where its end is looked for first, not before `known`. */
  readonly likely: number
  /** Rows of one read. */
  readonly size: number
}

/**
 * The length of a list of which only pages can be read: further and further down, then between what was read.
 * @param lengthAt how many rows a read of `size` gives, from a place on
 */
export async function findEnd(
  lengthAt: (from: number, size: number) => Promise<number>,
  { known, likely, size }: Ending,
): Promise<number> {
  let [low, high] = [known, Number.POSITIVE_INFINITY]
  let from = likely
  for (let step = size; low < high; step *= FURTHER) {
    const length = await lengthAt(from, size)
    if (length === size) low = from + size
    else if (length > 0) return from + length
    else high = from
    from = high - low <= size ? low : Math.min(low + step, Math.floor((low + high) / 2))
  }
  return low
}
