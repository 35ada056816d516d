/** Fewer than this say nothing about a node. */
const LEAST_SAMPLES = 10
const MOST_SAMPLES = 200
const WINDOW_MS = 500
/** So many requests at once every node can take. */
const LEAST = 16
/** Below this, differences are noise. */
const LEAST_USUAL_MS = 5
/** How much longer than usual answers may take before a node is given less: requests differ. */
const TOLERANCE = 2
const LEAST_GRADIENT = 0.5
/** Of a new limit in one window. */
const SMOOTHING = 0.4
/** Of one window in what is usual: the mix of requests changes, and a node's load should not pass for it. */
const SHARE_IF_SLOWER = 0.01
const SHARE_IF_QUICKER = 0.2
const AFTER_OVERLOAD = 0.9

export interface Sample {
  readonly latencyMs: number
  /** At the node when this one ended, itself included. */
  readonly inFlight: number
  readonly nowMs: number
}

/**
 * How many requests a node is given at once. It shrinks when answers come later than they used to, for then they wait
 * inside the node, and grows again by a square root: the gradient limit of Netflix's concurrency-limits, on medians,
 * so that one slow report among quick reads changes nothing.
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

  /** `most` is also what it begins with: nothing is held back before there is a reason. */
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

  /** The node said that it has too much to do, or said nothing in time. */
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
    const usualMs = this.#learn(latencyMs)
    // A node that was never full shows nothing about what it can take.
    if (this.#busiest < this.#size / 2) return
    const gradient = Math.min(1, Math.max(LEAST_GRADIENT, (TOLERANCE * usualMs) / latencyMs))
    const wanted = this.#size * gradient + Math.sqrt(this.#size)
    const next = this.#size * (1 - SMOOTHING) + wanted * SMOOTHING
    this.#size = Math.min(this.#most, Math.max(this.#least, next))
  }

  /** @returns what is usual */
  #learn(latencyMs: number): number {
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
