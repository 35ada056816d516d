interface BreakerOptions {
  /** Failures in a row that open it. */
  readonly threshold: number
  /** How long it lets nobody through; after each pause one may try. */
  readonly pauseMs: number
  readonly now: () => number
}

/** Keeps requests away from what has just failed. */
export class Breaker {
  readonly #options: BreakerOptions
  #failures = 0
  /** `null`: closed. */
  #openUntilMs: number | null = null

  constructor(options: BreakerOptions) {
    this.#options = options
  }

  get closed(): boolean {
    return this.#openUntilMs === null
  }

  /** While open, true once a pause: the one who gets it is the trial. */
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

  /** Returns true when this failure opened it. `decisive`: one is enough. */
  failed(decisive: boolean): boolean {
    this.#failures += 1
    if (!this.closed || (!decisive && this.#failures < this.#options.threshold)) return false
    this.#openUntilMs = this.#options.now() + this.#options.pauseMs
    return true
  }
}
