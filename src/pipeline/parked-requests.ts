import { setImmediate } from 'node:timers/promises'
import { type Schedule, scheduleTimer } from '../files/source-state.ts'

/** A request that waits for work, and the decision that permitted it. */
export interface ParkedRequest {
  /** Returns false if something has changed that its decision depends on. It is cheap and does not throw. */
  readonly isCurrent: () => boolean
  /** Decides the request again, and ends it if the outcome differs. Never rejects. */
  readonly review: () => Promise<void>
}

interface ParkedRequestsOptions {
  /** Time between two reviews; default 1 s. */
  readonly intervalMs?: number
  readonly schedule?: Schedule
  /** Monotonic milliseconds; default performance.now. */
  readonly now?: () => number
}

const INTERVAL_MS = 1000
/** Time after which a review yields to other work. */
const SLICE_MS = 5
/** Maximum number of reviews that wait for the engine at the same time. */
const MAX_CONCURRENT = 8

/**
 * Reviews parked requests whose decision may no longer hold. It compares at an interval instead of listening for changes, so that
 * no source of users, records or keys can be missed. 10,000 requests cost about 2 ms for each interval without a change.
 */
export class ParkedRequests {
  readonly #parked = new Set<ParkedRequest>()
  readonly #intervalMs: number
  readonly #schedule: Schedule
  readonly #now: () => number
  #isScheduled = false
  #sliceEndMs = 0
  #pause: Promise<void> | null = null

  constructor({ intervalMs = INTERVAL_MS, schedule = scheduleTimer, now }: ParkedRequestsOptions = {}) {
    this.#intervalMs = intervalMs
    this.#schedule = schedule
    this.#now = now ?? (() => performance.now())
  }

  get size(): number {
    return this.#parked.size
  }

  add(parked: ParkedRequest): void {
    this.#parked.add(parked)
    this.#scheduleReview()
  }

  delete(parked: ParkedRequest): void {
    this.#parked.delete(parked)
  }

  #scheduleReview(): void {
    if (this.#isScheduled || this.#parked.size === 0) return
    this.#isScheduled = true
    this.#schedule(() => void this.#reviewAll(), this.#intervalMs)
  }

  async #reviewAll(): Promise<void> {
    this.#sliceEndMs = this.#now() + SLICE_MS
    // All reviews share one iterator. Each request is reviewed once, and a request that is parked meanwhile is current.
    const rest = this.#parked.values()
    await Promise.all(Array.from({ length: MAX_CONCURRENT }, () => this.#reviewRest(rest)))
    this.#isScheduled = false
    this.#scheduleReview()
  }

  async #reviewRest(rest: Iterable<ParkedRequest>): Promise<void> {
    for (const parked of rest) {
      if (!parked.isCurrent()) await parked.review()
      if (this.#now() >= this.#sliceEndMs) await (this.#pause ??= this.#yield())
    }
  }

  /** All reviews share one pause. If each had its own slice of time, the slices would add up. */
  async #yield(): Promise<void> {
    await setImmediate()
    this.#pause = null
    this.#sliceEndMs = this.#now() + SLICE_MS
  }
}
