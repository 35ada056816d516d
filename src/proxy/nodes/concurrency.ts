/** Fewer samples say nothing about a node. */
const LEAST_SAMPLES = 10
const MOST_SAMPLES = 200
const WINDOW_MS = 500
/** Every node can take this many requests at once. */
const LEAST = 16
/** Below this, differences are noise. */
const LEAST_USUAL_MS = 5
/** How much longer than usual answers may take before a node gets fewer requests: requests differ. */
const TOLERANCE = 2
const LEAST_GRADIENT = 0.5
/** Weight of one window in the new limit. */
const SMOOTHING = 0.4
/** Weight of one window in the usual latency. The mix of requests changes, and the load of a node must not count as a slower mix. */
const SHARE_IF_SLOWER = 0.01
const SHARE_IF_QUICKER = 0.2
const AFTER_OVERLOAD = 0.9

export interface Sample {
  readonly latencyMs: number
  /** At the node when this request ended, including it. */
  readonly inFlight: number
  readonly nowMs: number
}

/**
 * Limits how many requests a node gets at once. The limit shrinks when answers take longer than usual, because they then
 * wait inside the node. It grows by a square root. This is the gradient limit of Netflix's concurrency-limits
 * (github.com/Netflix/concurrency-limits), on medians, so that one slow report among fast reads changes nothing.
 */
export class Concurrency {
  readonly #most: number
  readonly #least: number
  #size: number
  #usualMs = 0
  #samples: number[] = []
  #busiest = 0
  #isOverloaded = false
  #windowEndsAtMs = 0

  /** `most` is also the first limit: nothing is limited without a reason. */
  constructor(most: number) {
    this.#most = most
    this.#least = Math.min(LEAST, most)
    this.#size = most
  }

  get limit(): number {
    return Math.floor(this.#size)
  }

  /** An answer came. */
  answered({ latencyMs, inFlight, nowMs }: Sample): void {
    if (this.#samples.length < MOST_SAMPLES) this.#samples.push(latencyMs)
    this.#busiest = Math.max(this.#busiest, inFlight)
    this.#closeWindow(nowMs)
  }

  /** The node reported overload, or did not answer in time. */
  overloaded(nowMs: number): void {
    this.#isOverloaded = true
    this.#closeWindow(nowMs)
  }

  #closeWindow(nowMs: number): void {
    if (nowMs < this.#windowEndsAtMs) return
    if (!this.#isOverloaded && this.#samples.length < LEAST_SAMPLES) return
    if (this.#isOverloaded) this.#size = Math.max(this.#least, this.#size * AFTER_OVERLOAD)
    else this.#adapt(medianOf(this.#samples))
    this.#samples = []
    this.#busiest = 0
    this.#isOverloaded = false
    this.#windowEndsAtMs = nowMs + WINDOW_MS
  }

  #adapt(latencyMs: number): void {
    const usualMs = this.#updateUsual(latencyMs)
    // A node that was never full does not show what it can take.
    if (this.#busiest < this.#size / 2) return
    const gradient = Math.min(1, Math.max(LEAST_GRADIENT, (TOLERANCE * usualMs) / latencyMs))
    const wanted = this.#size * gradient + Math.sqrt(this.#size)
    const next = this.#size * (1 - SMOOTHING) + wanted * SMOOTHING
    this.#size = Math.min(this.#most, Math.max(this.#least, next))
  }

  /** @returns the usual latency */
  #updateUsual(latencyMs: number): number {
    const share = latencyMs < this.#usualMs ? SHARE_IF_QUICKER : SHARE_IF_SLOWER
    const before = this.#usualMs === 0 ? latencyMs : this.#usualMs
    this.#usualMs = Math.max(LEAST_USUAL_MS, before + (latencyMs - before) * share)
    return this.#usualMs
  }
}

function medianOf(samples: readonly number[]): number {
  const sorted = samples.toSorted((one, other) => one - other)
  return Math.max(1, sorted[Math.floor(sorted.length / 2)] ?? 1)
}
