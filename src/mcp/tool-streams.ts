import { type Schedule, scheduleTimer } from '../files/source-state.ts'
import { type ReviewedStream, StreamReviews } from './stream-reviews.ts'

/** A stream through which a client learns that its tools have changed. */
export interface ToolStream extends ReviewedStream {
  /** Returns false if the records or the caller may have changed since the last review. It only compares. */
  readonly isCurrent: () => boolean
  /** Notifies the client, because nothing is known about later changes, and ends the stream. */
  readonly end: () => void
  /** Reports the error that has ended the stream. It must not throw. */
  readonly onError: (error: unknown) => void
}

export interface ToolStreamLimits {
  /** The number of streams of this process, and of one user. */
  readonly open: number
  readonly perUser: number
  /** The age after which a stream ends. The client then connects again, and is authenticated again. */
  readonly maxAgeMs: number
}

interface ToolStreamsOptions {
  readonly limits: ToolStreamLimits
  /** Returns whether another configuration has replaced the one of these streams. Clients then connect to the other one. */
  readonly isReplaced: () => boolean
  readonly schedule?: Schedule
  /** Monotonic milliseconds; default performance.now. */
  readonly now?: () => number
}

/** Why no stream is opened. */
export type StreamRefusal = 'draining' | 'process' | 'user'

/** Time between two comparisons. A revoked record must reach the clients within a second, and the records need a part of it. */
const INTERVAL_MS = 250

/** Time between two comments on a stream without messages. A proxy may close a stream that is silent for a minute. */
export const KEEP_ALIVE_MS = 25_000

/**
 * The open streams of this process. They are compared at an interval, as `ParkedRequests` does, so that no source of users or records
 * can be missed. Without streams there is no timer.
 */
export class ToolStreams {
  readonly #options: ToolStreamsOptions
  readonly #schedule: Schedule
  readonly #now: () => number
  /** The streams, and when each was opened. */
  readonly #streams = new Map<ToolStream, number>()
  readonly #perUser = new Map<string, number>()
  readonly #reviews: StreamReviews<ToolStream>
  #isScheduled = false
  #isDraining = false

  constructor(options: ToolStreamsOptions) {
    this.#options = options
    this.#schedule = options.schedule ?? scheduleTimer
    this.#now = options.now ?? (() => performance.now())
    this.#reviews = new StreamReviews({
      now: this.#now,
      onRejected: (stream, error) => this.#fail(stream, error),
    })
  }

  get size(): number {
    return this.#streams.size
  }

  /** Returns why the user gets no further stream, or null. */
  refusalFor(user: string): StreamRefusal | null {
    const { open, perUser } = this.#options.limits
    if (this.#isDraining || this.#options.isReplaced()) return 'draining'
    if (this.#streams.size >= open) return 'process'
    return (this.#perUser.get(user) ?? 0) >= perUser ? 'user' : null
  }

  add(stream: ToolStream): void {
    this.#streams.set(stream, this.#now())
    this.#perUser.set(stream.user, (this.#perUser.get(stream.user) ?? 0) + 1)
    this.#scheduleComparison()
  }

  has(stream: ToolStream): boolean {
    return this.#streams.has(stream)
  }

  delete(stream: ToolStream): void {
    if (!this.#streams.delete(stream)) return
    this.#reviews.cancel(stream)
    const left = (this.#perUser.get(stream.user) ?? 1) - 1
    if (left === 0) this.#perUser.delete(stream.user)
    else this.#perUser.set(stream.user, left)
  }

  /** Ends all streams, and opens no further ones. */
  drain(): void {
    this.#isDraining = true
    for (const stream of this.#streams.keys()) this.#end(stream)
  }

  #end(stream: ToolStream): void {
    if (!this.has(stream)) return
    this.delete(stream)
    try {
      stream.end()
    } catch (error) {
      stream.onError(error)
    }
  }

  /** Ends a stream after an error of its callbacks. The other streams are not concerned. */
  #fail(stream: ToolStream, error: unknown): void {
    if (!this.has(stream)) return
    stream.onError(error)
    this.#end(stream)
  }

  #scheduleComparison(): void {
    if (this.#isScheduled || this.#streams.size === 0) return
    this.#isScheduled = true
    this.#schedule(() => this.#compareAll(), INTERVAL_MS)
  }

  #compareAll(): void {
    this.#isScheduled = false
    for (const [stream, openedAtMs] of this.#streams)
      try {
        if (this.#isOver(openedAtMs)) this.#end(stream)
        else if (!stream.isCurrent()) this.#reviews.request(stream)
      } catch (error) {
        this.#fail(stream, error)
      }
    this.#reviews.start()
    this.#scheduleComparison()
  }

  #isOver(openedAtMs: number): boolean {
    return this.#options.isReplaced() || this.#now() - openedAtMs >= this.#options.limits.maxAgeMs
  }
}
