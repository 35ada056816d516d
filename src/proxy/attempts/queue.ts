import { Node as ListNode, Yallist } from 'yallist'
import { Turns } from './turns.ts'

/** A request that waits for a free node. */
export interface QueuedRequest {
  /** The id of the caller. Undefined for a request of the gateway itself. */
  readonly user?: string | undefined
  /** The longest wait of this request, even if the queue allows more. */
  readonly waitMs: number
  /** Starts the request. Returns false if no node is free for it. It then continues to wait. */
  readonly start: () => boolean
  /** Returns true if only some nodes or some of their places qualify. Requests behind it may start while it waits. */
  readonly isSelective: () => boolean
  /** Called when the request has waited for its longest time, or a full queue replaces it. */
  readonly expire: () => void
}

/** How a wait ended. `left`: the client disconnected. */
export type WaitResult = 'sent' | 'refused' | 'left'

export interface QueueOptions {
  /** The number of requests that may wait at the same time. */
  readonly max: number
  /** The longest wait of any request. */
  readonly waitMs: number
  /** The longest wait of a request that joins a standing queue. With `waitMs` or more, it is the same as for other requests. Default: 100 ms. */
  readonly targetMs?: number
  /** Called for every request that could not start immediately, including requests that a full queue refuses. */
  readonly onEnd?: (result: WaitResult, waitedMs: number) => void
  /** The monotonic clock, in milliseconds. */
  readonly now?: () => number
  /** Starts a timer and returns a function that cancels it. Default: `setTimeout`. */
  readonly schedule?: (work: () => void, ms: number) => () => void
}

/** A request in the queue. After its wait has ended, its list nodes are in no list. */
export class QueueEntry {
  readonly request: QueuedRequest
  readonly user: string | undefined
  readonly sinceMs: number
  readonly arrival = new ListNode<QueueEntry>(this)
  readonly turn = new ListNode<QueueEntry>(this)
  cancelTimer = (): void => {}

  constructor(request: QueuedRequest, sinceMs: number) {
    this.request = request
    this.user = request.user
    this.sinceMs = sinceMs
  }
}

const TARGET_MS = 100
/** RFC 8289 (CoDel) recommends a target of a twentieth to a tenth of the interval. */
const INTERVAL_TARGETS = 10

/**
 * The requests of one engine that wait for a free node. Users take turns. A full queue refuses the newest request of the user with
 * the most requests.
 *
 * A request of a burst may wait for the full time. A standing queue delays every request without increasing the throughput, so a
 * request that joins it waits only for the target time. The timeouts are those of "Fail at Scale" (B. Maurer, ACM Queue
 * 13.8, 2015, queue.acm.org/detail.cfm?id=2839461).
 *
 * CoDel (RFC 8289) defines when a queue is standing: if for an interval no request has left it within the target time, or if a
 * request is late and the queue was standing less than an interval ago. It remains standing until it is empty, even if timeouts
 * empty it. Otherwise, with few connections and slow responses, no request would wait for the next free connection.
 *
 * The entries are in linked lists. After a number of insertions and deletions, a `Map` or `Set` copies its entries into a new table,
 * and the former table stays in memory with all its entries until the old generation of the heap is collected. At 5,000 requests a
 * second, this kept 5 KB of each request that was in a map, and caused a collection of 60 ms every four seconds.
 */
export class Queue {
  readonly #max: number
  readonly #waitMs: number
  readonly #targetMs: number
  readonly #intervalMs: number
  readonly #onEnd: NonNullable<QueueOptions['onEnd']>
  readonly #now: () => number
  readonly #schedule: NonNullable<QueueOptions['schedule']>
  /** In the order of arrival. */
  readonly #waiting = new Yallist<QueueEntry>()
  readonly #turns = new Turns<QueueEntry>()
  #isSending = false
  #isStanding = false
  /** The time since which no request has left within the target time. */
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
    return this.#waiting.length
  }

  /** True if new requests wait only for the target time. */
  get isStanding(): boolean {
    return this.#isStanding
  }

  /** Adds a request. Returns null if the queue is full and no user has more requests in it. */
  add(request: QueuedRequest): QueueEntry | null {
    const sinceMs = this.#now()
    this.#checkOldest(sinceMs)
    const entry = new QueueEntry(request, sinceMs)
    if (this.#waiting.length >= this.#max && !this.#replaceOne(entry)) {
      this.#onEnd('refused', 0)
      return null
    }
    entry.cancelTimer = this.#schedule(
      () => this.#refuse(entry),
      Math.min(this.#isStanding ? this.#targetMs : this.#waitMs, request.waitMs),
    )
    this.#waiting.pushNode(entry.arrival)
    this.#turns.add(entry.turn)
    return entry
  }

  /** Removes a request whose client disconnected. Without effect if the request has left the queue. */
  remove(entry: QueueEntry): void {
    this.#end(entry, 'left')
  }

  /** Starts waiting requests. Call it when a node may be free. */
  send(): void {
    // A request that starts may fail immediately and free its node during this loop.
    if (this.#isSending || this.#waiting.length === 0) return
    this.#isSending = true
    try {
      const passed = new Set<QueueEntry>()
      while (this.#startNext(passed));
    } finally {
      this.#isSending = false
    }
  }

  /** Starts the next request for which a node is free. Returns false if no request can start. `passed` collects requests that cannot start. */
  #startNext(passed: Set<QueueEntry>): boolean {
    for (const entry of this.#turns.inOrder()) {
      if (passed.has(entry)) continue
      if (entry.request.start()) {
        this.#turns.onStarted(entry)
        this.#end(entry, 'sent')
        return true
      }
      if (!entry.request.isSelective()) return false
      passed.add(entry)
    }
    return false
  }

  /** Refuses a request of the user with the most requests. Returns false if the new request is of this user. */
  #replaceOne(entry: QueueEntry): boolean {
    const other = this.#turns.replaceableBy(entry)
    if (other !== null) this.#refuse(other)
    return other !== null
  }

  #refuse(entry: QueueEntry): void {
    this.#end(entry, 'refused')
    entry.request.expire()
  }

  #end(entry: QueueEntry, result: WaitResult): void {
    if (entry.arrival.list !== this.#waiting) return
    entry.cancelTimer()
    this.#waiting.removeNode(entry.arrival)
    this.#turns.delete(entry.turn)
    const nowMs = this.#now()
    const waitedMs = nowMs - entry.sinceMs
    if (this.#waiting.length === 0) this.#onEmpty(nowMs)
    else if (waitedMs >= this.#targetMs) this.#onLate(nowMs)
    else if (result === 'sent' && !this.#isStanding) this.#lateSinceMs = Infinity
    this.#onEnd(result, waitedMs)
  }

  /** Detects a late request even if no request leaves the queue. */
  #checkOldest(nowMs: number): void {
    const oldest = this.#waiting.head?.value
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
