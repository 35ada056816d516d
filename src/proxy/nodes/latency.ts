/** What was seen so long ago counts for a third of what it did. */
const FADE_MS = 10_000

/** A moving average of how long a node takes, weighted by time: a slow operation among a thousand quick ones changes little. */
export class Latency {
  #meanMs = 0
  #atMs: number

  constructor(nowMs: number) {
    this.#atMs = nowMs
  }

  observe(latencyMs: number, nowMs: number): void {
    const rest = restOf(nowMs - this.#atMs)
    this.#meanMs = this.#meanMs * rest + latencyMs * (1 - rest)
    this.#atMs = nowMs
  }

  /** Forgets what was, for a node that comes back as another. */
  seed(latencyMs: number, nowMs: number): void {
    this.#meanMs = latencyMs
    this.#atMs = nowMs
  }

  /** Fades while nothing is seen, so that a node that was slow once is asked again. */
  readMs(nowMs: number): number {
    return this.#meanMs * restOf(nowMs - this.#atMs)
  }
}

function restOf(elapsedMs: number): number {
  return Math.exp(-Math.max(0, elapsedMs) / FADE_MS)
}
