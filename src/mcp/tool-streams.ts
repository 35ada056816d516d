import { type Schedule, scheduleTimer } from '../files/source-state.ts'

/** A stream through which a client learns that its tools have changed. */
export interface ToolStream {
  /** The user, for the limit of streams of one user. */
  readonly user: string
  /** Returns false if the records or the caller may have changed since the last review. It only compares. */
  readonly isCurrent: () => boolean
  /** Notifies the client if its tools have changed. Rejects if the caller may not use tools any more. */
  readonly review: () => Promise<void>
  /** Notifies the client, because nothing is known about later changes, and ends the stream. */
  readonly end: () => void
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

/** Time between two reviews. A revoked record must reach the clients within a second, and the records need a part of it. */
const INTERVAL_MS = 250

/** The largest number of reviews at a time. A review may wait for an engine or an issuer that verifies the caller again. */
const MAX_REVIEWS = 16

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
  #isScheduled = false
  #isDraining = false

  constructor(options: ToolStreamsOptions) {
    this.#options = options
    this.#schedule = options.schedule ?? scheduleTimer
    this.#now = options.now ?? (() => performance.now())
  }

  get size(): number {
    return this.#streams.size
  }

  /** Returns why the user gets no further stream, or null. */
  refusalFor(user: string): StreamRefusal | null {
    const { open, perUser } = this.#options.limits
    if (this.#isDraining) return 'draining'
    if (this.#streams.size >= open) return 'process'
    return (this.#perUser.get(user) ?? 0) >= perUser ? 'user' : null
  }

  add(stream: ToolStream): void {
    this.#streams.set(stream, this.#now())
    this.#perUser.set(stream.user, (this.#perUser.get(stream.user) ?? 0) + 1)
    this.#scheduleReview()
  }

  delete(stream: ToolStream): void {
    if (!this.#streams.delete(stream)) return
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
    this.delete(stream)
    stream.end()
  }

  #scheduleReview(): void {
    if (this.#isScheduled || this.#streams.size === 0) return
    this.#isScheduled = true
    this.#schedule(() => void this.#reviewAll(), INTERVAL_MS)
  }

  async #reviewAll(): Promise<void> {
    if (this.#options.isReplaced()) this.drain()
    const streams = this.#streams.entries()
    await Promise.all(Array.from({ length: MAX_REVIEWS }, () => this.#reviewEach(streams)))
    this.#isScheduled = false
    this.#scheduleReview()
  }

  /** Reviews the next stream until there is none. Several calls share the same streams. */
  async #reviewEach(streams: MapIterator<[ToolStream, number]>): Promise<void> {
    for (const [stream, openedAtMs] of streams)
      if (this.#now() - openedAtMs >= this.#options.limits.maxAgeMs) this.#end(stream)
      else if (!stream.isCurrent()) await stream.review().catch(() => this.#end(stream))
  }
}
