/** The minimum number of samples for an adaptation. Fewer samples are not meaningful. */
const LEAST_SAMPLES = 10
const MOST_SAMPLES = 200
const WINDOW_MS = 500
/** The lowest limit: every node can process this many requests at once. */
const LEAST = 16
/** Differences below this latency are noise. */
const LEAST_USUAL_MS = 5
/** How many times longer than usual responses may take before a node gets fewer requests, because requests differ. */
const TOLERANCE = 2
const LEAST_GRADIENT = 0.5
/** The weight of one window in the new limit. */
const SMOOTHING = 0.4
/**
 * The weight of one window in the usual latency. The usual latency must follow changes in the mix of requests, but a loaded node
 * must not be mistaken for a slower mix.
 */
const SHARE_IF_SLOWER = 0.01
const SHARE_IF_QUICKER = 0.2
const AFTER_OVERLOAD = 0.9

export interface Sample {
  readonly latencyMs: number
  /** The number of requests at the node when this request ended, including this request. */
  readonly inFlight: number
  readonly nowMs: number
}

/**
 * Limits how many requests a node gets at once. The limit shrinks when responses take longer than usual, because requests then
 * wait inside the node. It grows by the square root of the limit. This is the gradient limit of Netflix's concurrency-limits
 * (github.com/Netflix/concurrency-limits). It uses medians, so one slow report among fast reads has no influence.
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

  /** @param most the highest limit, which is also the first one, because nothing is limited without a reason */
  constructor(most: number) {
    this.#most = most
    this.#least = Math.min(LEAST, most)
    this.#size = most
  }

  get limit(): number {
    return Math.floor(this.#size)
  }

  /** Records a response. */
  recordResponse({ latencyMs, inFlight, nowMs }: Sample): void {
    if (this.#samples.length < MOST_SAMPLES) this.#samples.push(latencyMs)
    this.#busiest = Math.max(this.#busiest, inFlight)
    this.#closeWindow(nowMs)
  }

  /** Records that the node reported overload or did not respond in time. */
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
    // A node that was less than half full does not show how many requests it can process.
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
