interface BackOffOptions {
  /** Before the second consecutive start; doubles from there. Default 500 ms. */
  readonly firstMs?: number
  /** Default 30 s. */
  readonly longestMs?: number
  /** A worker that ran for this long ends for a new reason and starts a new series. Default 30 s. */
  readonly settledMs?: number
}

/** How long to wait before a worker that ended after `uptimeMs` is started again. The first time not at all. */
export type BackOff = (uptimeMs: number) => number

export function createBackOff(options: BackOffOptions = {}): BackOff {
  const { firstMs = 500, longestMs = 30_000, settledMs = 30_000 } = options
  let consecutive = 0
  return function backOff(uptimeMs) {
    consecutive = uptimeMs >= settledMs ? 1 : consecutive + 1
    return consecutive === 1 ? 0 : Math.min(longestMs, firstMs * 2 ** (consecutive - 2))
  }
}
