interface BackOffOptions {
  /** The delay before the second consecutive restart. It doubles with each further restart. Default 500 ms. */
  readonly firstMs?: number
  /** The maximum delay. Default 30 s. */
  readonly longestMs?: number
  /** If a worker ran for at least this time, its restart counts as the first of a new series. Default 30 s. */
  readonly settledMs?: number
}

/** Returns the delay in milliseconds before the restart of a worker that ran for `uptimeMs`. The first restart has no delay. */
export type BackOff = (uptimeMs: number) => number

/** Creates the back-off of one worker. It counts the consecutive restarts. */
export function createBackOff(options: BackOffOptions = {}): BackOff {
  const { firstMs = 500, longestMs = 30_000, settledMs = 30_000 } = options
  let consecutive = 0
  return function backOff(uptimeMs) {
    consecutive = uptimeMs >= settledMs ? 1 : consecutive + 1
    return consecutive === 1 ? 0 : Math.min(longestMs, firstMs * 2 ** (consecutive - 2))
  }
}
