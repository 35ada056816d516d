interface BreakerOptions {
  /** Consecutive failures that open the breaker. */
  readonly threshold: number
  /** How long an open breaker rejects all commands. After each pause, it admits one trial. */
  readonly pauseMs: number
  readonly now: () => number
}

/** A circuit breaker: stops requests to a server that has just failed. */
export class Breaker {
  readonly #options: BreakerOptions
  #failures = 0
  /** Null while the breaker is closed. */
  #openUntilMs: number | null = null

  constructor(options: BreakerOptions) {
    this.#options = options
  }

  get closed(): boolean {
    return this.#openUntilMs === null
  }

  /** Returns whether a command may be sent. While open, returns true once per pause, for the trial. */
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

  /** Records a failure. Returns true if it opened the breaker. If `decisive` is set, one failure is enough. */
  failed(decisive: boolean): boolean {
    this.#failures += 1
    if (!this.closed || (!decisive && this.#failures < this.#options.threshold)) return false
    this.#openUntilMs = this.#options.now() + this.#options.pauseMs
    return true
  }
}
