interface BackOffOptions {
  /** Before the second start in a row; doubles from there. Default 500 ms. */
  readonly firstMs?: number
  /** Default 30 s. */
  readonly longestMs?: number
  /** What lived so long ends for a reason of its own, and begins a new row. Default 30 s. */
  readonly settledMs?: number
}

/** How long to wait before what has ended after `livedMs` is started again: the first time not at all. */
export type BackOff = (livedMs: number) => number

export function createBackOff(options: BackOffOptions = {}): BackOff {
  const { firstMs = 500, longestMs = 30_000, settledMs = 30_000 } = options
  let inARow = 0
  return function backOff(livedMs) {
    inARow = livedMs >= settledMs ? 1 : inARow + 1
    return inARow === 1 ? 0 : Math.min(longestMs, firstMs * 2 ** (inARow - 2))
  }
}
