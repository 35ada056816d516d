/** A request that waits for a free node. */
export interface Waiter {
  /** Upper bound for this request, whatever the queue allows. */
  readonly waitMs: number
  /** False: no node is free for it, and it keeps waiting. */
  readonly start: () => boolean
  /** True: only some nodes qualify. Requests behind it may start while it waits. */
  readonly isSelective: boolean
  /** Called when its time is over. */
  readonly expire: () => void
}

/** How a wait ended. `left`: the client disconnected. */
export type WaitResult = 'sent' | 'refused' | 'left'

export interface QueueOptions {
  /** Requests that wait at the same time. */
  readonly max: number
  /** Longest wait of any request. */
  readonly waitMs: number
  /** Longest wait of a request that joins a standing queue. `waitMs` or more: the same as for others. Default 100 ms. */
  readonly targetMs?: number
  /** Called for every request that could not start at once, including those that a full queue refuses. */
  readonly onEnd?: (result: WaitResult, waitedMs: number) => void
  /** Monotonic milliseconds. */
  readonly now?: () => number
  /** @returns a function that cancels the timer. Default: `setTimeout`. */
  readonly schedule?: (work: () => void, ms: number) => () => void
}

interface QueueEntry {
  readonly sinceMs: number
  readonly cancel: () => void
}

const TARGET_MS = 100
/** RFC 8289 (CoDel): the target is best a tenth to a twentieth of the interval. */
const INTERVAL_TARGETS = 10

/**
 * Requests of one engine that wait for a free node: first come, first served.
 *
 * A request of a burst may wait for the full time. A standing queue makes every request wait without more work being done,
 * so a request that joins it waits for the target only. The timeouts are those of "Fail at Scale" (B. Maurer, ACM Queue
 * 13.8, 2015, queue.acm.org/detail.cfm?id=2839461).
 *
 * CoDel (RFC 8289) tells when a queue stands: nothing has left it within the target for an interval; or a request is late,
 * and the queue stood less than an interval ago. It stands until it is empty, also if timeouts empty it: with few
 * connections and slow answers, no request would otherwise wait for the next free one.
 */
export class Queue {
  readonly #max: number
  readonly #waitMs: number
  readonly #targetMs: number
  readonly #intervalMs: number
  readonly #onEnd: NonNullable<QueueOptions['onEnd']>
  readonly #now: () => number
  readonly #schedule: NonNullable<QueueOptions['schedule']>
  readonly #waiting = new Map<Waiter, QueueEntry>()
  #isSending = false
  #isStanding = false
  /** Since then no request has left within the target. */
  #lateSinceMs = Infinity
  #lastStoodMs = -Infinity

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

  /** New requests wait for the target only. */
  get isStanding(): boolean {
    return this.#isStanding
  }

  /** False: the queue is full. */
  add(waiter: Waiter): boolean {
    const sinceMs = this.#now()
    this.#checkOldest(sinceMs)
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

  /** Removes a request whose client disconnected. */
  remove(waiter: Waiter): void {
    this.#end(waiter, 'left')
  }

  /** Starts waiting requests. Call it when a node may be free. */
  send(): void {
    // A request that starts may fail at once and free its node during this loop.
    if (this.#isSending) return
    this.#isSending = true
    try {
      for (const waiter of this.#waiting.keys()) {
        if (waiter.start()) this.#end(waiter, 'sent')
        else if (!waiter.isSelective) break
      }
    } finally {
      this.#isSending = false
    }
  }

  #end(waiter: Waiter, result: WaitResult): void {
    const entry = this.#waiting.get(waiter)
    if (entry === undefined) return
    entry.cancel()
    this.#waiting.delete(waiter)
    const nowMs = this.#now()
    const waitedMs = nowMs - entry.sinceMs
    if (this.#waiting.size === 0) this.#onEmpty(nowMs)
    else if (waitedMs >= this.#targetMs) this.#onLate(nowMs)
    else if (result === 'sent' && !this.#isStanding) this.#lateSinceMs = Infinity
    this.#onEnd(result, waitedMs)
  }

  /** Detects lateness also if nothing leaves the queue. */
  #checkOldest(nowMs: number): void {
    const [oldest] = this.#waiting.values()
    if (oldest !== undefined && nowMs - oldest.sinceMs >= this.#targetMs) this.#onLate(nowMs)
  }

  #onLate(nowMs: number): void {
    this.#lateSinceMs = Math.min(this.#lateSinceMs, nowMs)
    const isLong = nowMs - this.#lateSinceMs >= this.#intervalMs
    if (isLong || nowMs - this.#lastStoodMs < this.#intervalMs) this.#isStanding = true
  }

  #onEmpty(nowMs: number): void {
    this.#lateSinceMs = Infinity
    if (this.#isStanding) this.#lastStoodMs = nowMs
    this.#isStanding = false
  }
}

function scheduleTimer(work: () => void, ms: number): () => void {
  const timer = setTimeout(work, ms)
  return () => clearTimeout(timer)
}
