/** Measures how many connections of the workers end in a second. */
export interface Turnover<Worker extends WeakKey> {
  /**
   * Notes how many connections of a worker have ended since its start. Returns the rate per second when a window is over, otherwise
   * null.
   */
  readonly note: (worker: Worker, ended: number) => number | null
}

/** The length of a window. It is long enough for a stable rate. A burst of connections that stay open has no effect, because they do not end. */
const WINDOW_MS = 250

export function createTurnover<Worker extends WeakKey>(nowMs: () => number): Turnover<Worker> {
  const counts = new WeakMap<Worker, number>()
  let endedInWindow = 0
  let sinceMs = nowMs()
  return {
    note: (worker, ended) => {
      endedInWindow += ended - (counts.get(worker) ?? ended)
      counts.set(worker, ended)
      const tookMs = nowMs() - sinceMs
      if (tookMs < WINDOW_MS) return null
      const rate = (endedInWindow * 1000) / tookMs
      endedInWindow = 0
      sinceMs = nowMs()
      return rate
    },
  }
}
