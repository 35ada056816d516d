interface FloodGuardOptions {
  /** The monotonic clock, in milliseconds. */
  readonly now: () => number
  readonly maxInvalid?: number
  readonly windowMs?: number
  readonly pauseMs?: number
}

/** What is due: nothing, a subscription on trial, or the end of the flood. */
type FloodStep = 'none' | 'subscribe' | 'recovered'

/** Maximum number of invalid messages in a window. Gateways send no invalid ones, unless their keys or clocks differ. */
const MAX_INVALID = 100
const WINDOW_MS = 10_000
/** Time without a subscription. Then one window with at most `MAX_INVALID` invalid messages shows that the flood is over. */
const PAUSE_MS = 30_000

/**
 * Counts the invalid messages of a channel, and decides when its subscription pauses and when it is tried again. Reading and
 * verifying messages takes time of the event loop, so a client that floods the channel would delay all requests.
 */
export class FloodGuard {
  readonly #options: Required<FloodGuardOptions>
  #state: 'open' | 'paused' | 'trial' = 'open'
  /** The start of the pause or of the trial. */
  #since = 0
  #windowFrom = Number.NEGATIVE_INFINITY
  #invalid = 0

  constructor({
    now,
    maxInvalid = MAX_INVALID,
    windowMs = WINDOW_MS,
    pauseMs = PAUSE_MS,
  }: FloodGuardOptions) {
    this.#options = { now, maxInvalid, windowMs, pauseMs }
  }

  get isPaused(): boolean {
    return this.#state === 'paused'
  }

  /** True from the begin of a flood to its end, including trials. */
  get isFlooded(): boolean {
    return this.#state !== 'open'
  }

  /** Counts an invalid message. Returns true if the subscription must pause now. */
  add(): boolean {
    if (this.isPaused) return false
    const { maxInvalid, windowMs, now } = this.#options
    if (now() - this.#windowFrom >= windowMs) this.#startWindow()
    this.#invalid += 1
    if (this.#invalid <= maxInvalid) return false
    this.#state = 'paused'
    this.#since = now()
    return true
  }

  /** Returns the action that a flood requires at this time. */
  next(): FloodStep {
    const { windowMs, pauseMs, now } = this.#options
    const elapsedMs = now() - this.#since
    if (this.#state === 'open' || elapsedMs < (this.isPaused ? pauseMs : windowMs)) return 'none'
    const step = this.isPaused ? 'subscribe' : 'recovered'
    this.#state = this.isPaused ? 'trial' : 'open'
    this.#since = now()
    this.#startWindow()
    return step
  }

  #startWindow(): void {
    this.#windowFrom = this.#options.now()
    this.#invalid = 0
  }
}
