/** A request that waits for a place at a node. */
export interface Waiter {
  /** It waits no longer, whatever others may. */
  readonly waitMs: number
  /** False: no node has a place for it, and it waits on. */
  readonly start: () => boolean
  /** True: only some nodes will do, so others behind it may find a place where it finds none. */
  readonly isChoosy: boolean
  /** Its time is over. */
  readonly expire: () => void
}

interface QueueOptions {
  /** Requests that wait at once. */
  readonly max: number
  /** None waits longer. */
  readonly waitMs: number
}

/** What of one engine's requests no node has a place for now: first come, first served. */
export class Queue {
  readonly #options: QueueOptions
  readonly #waiting = new Map<Waiter, NodeJS.Timeout>()
  #isSending = false

  constructor(options: QueueOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#waiting.size
  }

  /** False: it is full. */
  add(waiter: Waiter): boolean {
    const { max, waitMs } = this.#options
    if (this.#waiting.size >= max) return false
    const timer = setTimeout(
      () => {
        this.#waiting.delete(waiter)
        waiter.expire()
      },
      Math.min(waitMs, waiter.waitMs),
    )
    this.#waiting.set(waiter, timer)
    return true
  }

  remove(waiter: Waiter): void {
    clearTimeout(this.#waiting.get(waiter))
    this.#waiting.delete(waiter)
  }

  /** To be called when a node may have a place. */
  send(): void {
    // One that starts may fail at once, which frees a place while this goes on.
    if (this.#isSending) return
    this.#isSending = true
    try {
      for (const waiter of this.#waiting.keys()) {
        if (waiter.start()) this.remove(waiter)
        else if (!waiter.isChoosy) break
      }
    } finally {
      this.#isSending = false
    }
  }
}
