import { setImmediate } from 'node:timers/promises'

/** The event loop runs other work after this time. */
const TURN_MS = 5

/** Limits the time in which no other work runs. */
export class SearchTurn {
  #startedMs = performance.now()

  get isOver(): boolean {
    return performance.now() - this.#startedMs > TURN_MS
  }

  /** Lets other work run. */
  async end(): Promise<void> {
    await setImmediate()
    this.#startedMs = performance.now()
  }
}
