/** A sample of this age counts for about a third (1/e). */
const FADE_MS = 10_000

/** A moving average of a node's latency, weighted by time: one slow operation among a thousand fast ones changes little. */
export class Latency {
  #meanMs = 0
  #atMs: number

  constructor(nowMs: number) {
    this.#atMs = nowMs
  }

  observe(latencyMs: number, nowMs: number): void {
    const decay = decayOf(nowMs - this.#atMs)
    this.#meanMs = this.#meanMs * decay + latencyMs * (1 - decay)
    this.#atMs = nowMs
  }

  /** Replaces the average, for a node that recovers. */
  seed(latencyMs: number, nowMs: number): void {
    this.#meanMs = latencyMs
    this.#atMs = nowMs
  }

  /** Decays without samples, so that a node that was slow once is asked again. */
  readMs(nowMs: number): number {
    return this.#meanMs * decayOf(nowMs - this.#atMs)
  }
}

function decayOf(elapsedMs: number): number {
  return Math.exp(-Math.max(0, elapsedMs) / FADE_MS)
}
