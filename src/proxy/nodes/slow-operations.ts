import { Node as ListNode, Yallist } from 'yallist'
import type { Node } from './node.ts'

/** An operation is slow if its requests usually hold a place of a node for at least this long. */
const SLOW_MS = 1000
const SLOW_LOG = Math.log(SLOW_MS)
/** The weight of the completed requests: an operation of 5 ms is slow while eight of its requests have been in flight for 20 s. */
const REMEMBERED = 4

interface RunningAttempt {
  readonly node: Node
  readonly startedAtMs: number
}

/** The end of an attempt. `isComplete` is true if the engine processed the request. The duration of another request counts only if it was longer. */
export interface AttemptEnd {
  readonly isComplete: boolean
  readonly nowMs: number
}

/** Ends an attempt. Call it once. */
export type LearnDuration = (end: AttemptEnd) => void

/**
 * Limits the places of a node that slow operations use together, so that other requests find a free place. A place that a slow
 * request holds is free only after seconds, and by then the requests that wait for it are refused. Places of fast requests need no
 * such limit, because they are free again at once.
 *
 * The durations are learned, because the same operation is fast at one engine and slow at another. An operation without any
 * completed request may use the same number of places as all slow operations, so that a burst of it does not use all places.
 */
export class SlowOperations {
  readonly #share: number
  readonly #now: () => number
  /** One entry for each operation of the table that was used. */
  readonly #loads = new Map<string, OperationLoad>()

  /** @param share the share of a node's places for slow operations, less than 1 */
  constructor(share: number, now: () => number) {
    this.#share = share
    this.#now = now
  }

  /** Returns true unless only a slow operation may not use the next place of the node. */
  hasPlace(node: Node, operation: string | undefined): boolean {
    const most = Math.max(1, Math.floor(node.capacity * this.#share))
    if (node.inFlight < most) return true
    const load = this.#loadOf(operation)
    const nowMs = this.#now()
    if (load === undefined) return true
    if (load.isUnknown(nowMs)) return load.runningAt(node) < most
    return !load.isSlow(nowMs) || this.#slowAt(node, nowMs) < most
  }

  isSlow(operation: string | undefined): boolean {
    return this.#loadOf(operation)?.isSlow(this.#now()) === true
  }

  /** Returns true if requests of the operation are in flight, and none was ever completed. */
  isUntried(operation: string | undefined): boolean {
    const load = this.#loadOf(operation)
    return load !== undefined && load.running > 0 && load.isUnknown(this.#now())
  }

  /** Returns the number of requests of slow operations at all nodes. */
  running(): number {
    const nowMs = this.#now()
    return [...this.#loads.values()].reduce((sum, load) => sum + (load.isSlow(nowMs) ? load.running : 0), 0)
  }

  /** Returns the function to call at the end of the attempt, or null for a request without an operation. */
  onStart(operation: string | undefined, node: Node, startedAtMs: number): LearnDuration | null {
    if (operation === undefined) return null
    const load = this.#loads.get(operation) ?? new OperationLoad()
    this.#loads.set(operation, load)
    return load.onStart({ node, startedAtMs })
  }

  #loadOf(operation: string | undefined): OperationLoad | undefined {
    return operation === undefined ? undefined : this.#loads.get(operation)
  }

  #slowAt(node: Node, nowMs: number): number {
    let sum = 0
    for (const load of this.#loads.values())
      if (load.running > 0 && load.isSlow(nowMs)) sum += load.runningAt(node)
    return sum
  }
}

/** The requests of one operation in flight, and the estimate of their duration. */
class OperationLoad {
  /** The attempts in flight, oldest first. A linked list, for the reason that `Queue` gives. */
  readonly #running = new Yallist<RunningAttempt>()
  #completed = 0
  /**
   * The moving average of the logarithm of the duration. The logarithm keeps one very slow request, for example of a client that
   * reads its response slowly, from making a fast operation slow.
   */
  #meanLog = 0

  get running(): number {
    return this.#running.length
  }

  runningAt(node: Node): number {
    let count = 0
    for (const attempt of this.#running) if (attempt.node === node) count += 1
    return count
  }

  isUnknown(nowMs: number): boolean {
    return this.#estimateLog(nowMs) === null
  }

  isSlow(nowMs: number): boolean {
    return (this.#estimateLog(nowMs) ?? 0) >= SLOW_LOG
  }

  onStart(attempt: RunningAttempt): LearnDuration {
    const place = new ListNode(attempt)
    this.#running.pushNode(place)
    return (end) => this.#onEnd(place, end)
  }

  #onEnd(place: ListNode<RunningAttempt>, { isComplete, nowMs }: AttemptEnd): void {
    this.#running.removeNode(place)
    const durationLog = Math.log(Math.max(1, nowMs - place.value.startedAtMs))
    if (!isComplete && durationLog <= (this.#completed === 0 ? SLOW_LOG : this.#meanLog)) return
    this.#completed = Math.min(REMEMBERED, this.#completed + 1)
    this.#meanLog += (durationLog - this.#meanLog) / this.#completed
  }

  /**
   * Returns the logarithm of the estimated duration, or null if nothing is known. Each request that has been in flight for `SLOW_MS`
   * counts like a completed one, because a slow operation must be recognized before its first request ends.
   */
  #estimateLog(nowMs: number): number | null {
    let sum = this.#meanLog * this.#completed
    let count = this.#completed
    for (const { startedAtMs } of this.#running) {
      const ageMs = nowMs - startedAtMs
      if (ageMs < SLOW_MS) break
      sum += Math.log(ageMs)
      count += 1
    }
    return count === 0 ? null : sum / count
  }
}
