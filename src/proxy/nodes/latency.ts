/** A sample of this age has a weight of about a third (1/e). */
const FADE_MS = 10_000

/** The moving average of a node's latency, weighted by time. One slow operation among a thousand fast ones changes it only slightly. */
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

  /** Replaces the average. It is used for a node that recovers. */
  seed(latencyMs: number, nowMs: number): void {
    this.#meanMs = latencyMs
    this.#atMs = nowMs
  }

  /** Returns the average. It decays without samples, so that a node that was slow once gets requests again. */
  readMs(nowMs: number): number {
    return this.#meanMs * decayOf(nowMs - this.#atMs)
  }
}

function decayOf(elapsedMs: number): number {
  return Math.exp(-Math.max(0, elapsedMs) / FADE_MS)
}
