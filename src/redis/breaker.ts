interface BreakerOptions {
  /** Consecutive failures that open it. */
  readonly threshold: number
  /** How long it admits nothing; after each pause it admits one trial. */
  readonly pauseMs: number
  readonly now: () => number
}

/** A circuit breaker: stops requests to a server that has just failed. */
export class Breaker {
  readonly #options: BreakerOptions
  #failures = 0
  /** Null: closed. */
  #openUntilMs: number | null = null

  constructor(options: BreakerOptions) {
    this.#options = options
  }

  get closed(): boolean {
    return this.#openUntilMs === null
  }

  /** While open, true once per pause: that caller is the trial. */
  admits(): boolean {
    if (this.#openUntilMs === null) return true
    const nowMs = this.#options.now()
    if (nowMs < this.#openUntilMs) return false
    this.#openUntilMs = nowMs + this.#options.pauseMs
    return true
  }

  succeeded(): void {
    this.#failures = 0
    this.#openUntilMs = null
  }

  /** Returns true if this failure opened it. `decisive`: one failure is enough. */
  failed(decisive: boolean): boolean {
    this.#failures += 1
    if (!this.closed || (!decisive && this.#failures < this.#options.threshold)) return false
    this.#openUntilMs = this.#options.now() + this.#options.pauseMs
    return true
  }
}
