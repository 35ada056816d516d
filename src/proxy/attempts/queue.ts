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

/** How a wait ended: `left`: its client went. */
export type WaitResult = 'sent' | 'refused' | 'left'

export interface QueueOptions {
  /** Requests that wait at once. */
  readonly max: number
  /** None waits longer. */
  readonly waitMs: number
  /** What those that come to a standing queue may wait. `waitMs` or more: as long as the others. Default 100 ms. */
  readonly targetMs?: number
  /** Every request that could not start at once ends here, a full queue's included. */
  readonly onEnd?: (result: WaitResult, waitedMs: number) => void
  /** Monotonic milliseconds. */
  readonly now?: () => number
  /** @returns what calls it off. Default: `setTimeout`. */
  readonly schedule?: (work: () => void, ms: number) => () => void
}

interface Place {
  readonly sinceMs: number
  readonly cancel: () => void
}

const TARGET_MS = 100
/** RFC 8289 (CoDel): the target is best a tenth to a twentieth of the interval. */
const INTERVAL_TARGETS = 10

/**
 * What of one engine's requests no node has a place for now: first come, first served.
 *
 * A request of a burst may wait its whole time. A queue that stands makes everybody wait, and no more work is done than with
 * a short one: a request that comes to it may wait for the target only. The timeouts are those of "Fail at Scale" (B. Maurer,
 * ACM Queue 13.8, 2015, queue.acm.org/detail.cfm?id=2839461). When a queue stands is said by CoDel (RFC 8289): nothing has
 * left it within the target for an interval; or something is late, and it stood less than an interval ago. It stands until it
 * is empty, also where timeouts empty it: with few places and slow answers nobody would else wait when a place gets free.
 */
export class Queue {
  readonly #max: number
  readonly #waitMs: number
  readonly #targetMs: number
  readonly #intervalMs: number
  readonly #onEnd: NonNullable<QueueOptions['onEnd']>
  readonly #now: () => number
  readonly #schedule: NonNullable<QueueOptions['schedule']>
  readonly #waiting = new Map<Waiter, Place>()
  #isSending = false
  #isStanding = false
  /** Nothing has left within the target since then. */
  #lateSinceMs = Infinity
  #stoodUntilMs = -Infinity

  constructor(options: QueueOptions) {
    const { max, waitMs, targetMs = TARGET_MS, onEnd = () => {}, now, schedule = scheduleTimer } = options
    this.#max = max
    this.#waitMs = waitMs
    this.#targetMs = Math.min(targetMs, waitMs)
    this.#intervalMs = this.#targetMs * INTERVAL_TARGETS
    this.#onEnd = onEnd
    this.#now = now ?? (() => performance.now())
    this.#schedule = schedule
  }

  get size(): number {
    return this.#waiting.size
  }

  /** Those that come now may wait for the target only. */
  get isStanding(): boolean {
    return this.#isStanding
  }

  /** False: it is full. */
  add(waiter: Waiter): boolean {
    const sinceMs = this.#now()
    this.#look(sinceMs)
    if (this.#waiting.size >= this.#max) {
      this.#onEnd('refused', 0)
      return false
    }
    const cancel = this.#schedule(
      () => {
        this.#end(waiter, 'refused')
        waiter.expire()
      },
      Math.min(this.#isStanding ? this.#targetMs : this.#waitMs, waiter.waitMs),
    )
    this.#waiting.set(waiter, { sinceMs, cancel })
    return true
  }

  /** Its client has gone. */
  remove(waiter: Waiter): void {
    this.#end(waiter, 'left')
  }

  /** To be called when a node may have a place. */
  send(): void {
    // One that starts may fail at once, which frees a place while this goes on.
    if (this.#isSending) return
    this.#isSending = true
    try {
      for (const waiter of this.#waiting.keys()) {
        if (waiter.start()) this.#end(waiter, 'sent')
        else if (!waiter.isChoosy) break
      }
    } finally {
      this.#isSending = false
    }
  }

  #end(waiter: Waiter, result: WaitResult): void {
    const place = this.#waiting.get(waiter)
    if (place === undefined) return
    place.cancel()
    this.#waiting.delete(waiter)
    const nowMs = this.#now()
    const waitedMs = nowMs - place.sinceMs
    if (this.#waiting.size === 0) this.#emptied(nowMs)
    else if (waitedMs >= this.#targetMs) this.#late(nowMs)
    else if (result === 'sent' && !this.#isStanding) this.#lateSinceMs = Infinity
    this.#onEnd(result, waitedMs)
  }

  /** Also where nothing leaves at all. */
  #look(nowMs: number): void {
    const [oldest] = this.#waiting.values()
    if (oldest !== undefined && nowMs - oldest.sinceMs >= this.#targetMs) this.#late(nowMs)
  }

  #late(nowMs: number): void {
    this.#lateSinceMs = Math.min(this.#lateSinceMs, nowMs)
    const isLong = nowMs - this.#lateSinceMs >= this.#intervalMs
    if (isLong || nowMs - this.#stoodUntilMs < this.#intervalMs) this.#isStanding = true
  }

  #emptied(nowMs: number): void {
    this.#lateSinceMs = Infinity
    if (this.#isStanding) this.#stoodUntilMs = nowMs
    this.#isStanding = false
  }
}

function scheduleTimer(work: () => void, ms: number): () => void {
  const timer = setTimeout(work, ms)
  return () => clearTimeout(timer)
}
