/** A stream whose tools can be reviewed. */
export interface ReviewedStream {
  readonly user: string
  /** Notifies the client if its tools have changed. Rejects if the caller may not use tools any more. */
  readonly review: () => Promise<void>
}

interface StreamReviewsOptions<S> {
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** Called with a stream whose review was rejected. */
  readonly onRejected: (stream: S, error: unknown) => void
}

/** The largest number of reviews that hold a place. A review may wait for an engine or an issuer that verifies the caller again. */
const MAX_PLACES = 16

/** The largest number of unfinished reviews of one user, with and without a place. */
const MAX_PER_USER = 4

/**
 * The time after which an unfinished review gives its place to another stream. Otherwise the users of an engine that does not respond
 * would hold all places, and the streams of other engines would wait for its timeout.
 */
const MAX_PLACE_MS = 1000

/** The reviews of streams. A stream has one review at a time, and waits for it in the order of the requests. */
export class StreamReviews<S extends ReviewedStream> {
  readonly #options: StreamReviewsOptions<S>
  readonly #waiting = new Set<S>()
  readonly #unfinished = new Set<S>()
  /** The unfinished reviews that hold a place, and when each was started. The oldest is the first. */
  readonly #places = new Map<S, number>()
  /** The numbers of unfinished reviews. */
  readonly #perUser = new Map<string, number>()

  constructor(options: StreamReviewsOptions<S>) {
    this.#options = options
  }

  /** Requests a review, unless the stream already has one. */
  request(stream: S): void {
    if (!this.#unfinished.has(stream)) this.#waiting.add(stream)
  }

  /** Removes a request for a review. A review that was started is not interrupted. */
  cancel(stream: S): void {
    this.#waiting.delete(stream)
  }

  /** Starts the requested reviews for which there are places. */
  start(): void {
    this.#releasePlaces()
    for (const stream of this.#waiting) {
      if (this.#places.size >= MAX_PLACES) return
      if (this.#countOf(stream.user) < MAX_PER_USER) void this.#review(stream)
    }
  }

  #releasePlaces(): void {
    for (const [stream, startedMs] of this.#places) {
      if (this.#options.now() - startedMs < MAX_PLACE_MS) return
      this.#places.delete(stream)
    }
  }

  async #review(stream: S): Promise<void> {
    this.#waiting.delete(stream)
    this.#unfinished.add(stream)
    this.#places.set(stream, this.#options.now())
    this.#count(stream.user, 1)
    try {
      await stream.review()
    } catch (error) {
      this.#options.onRejected(stream, error)
    }
    this.#unfinished.delete(stream)
    this.#places.delete(stream)
    this.#count(stream.user, -1)
    this.start()
  }

  #countOf(user: string): number {
    return this.#perUser.get(user) ?? 0
  }

  #count(user: string, change: 1 | -1): void {
    const count = this.#countOf(user) + change
    if (count === 0) this.#perUser.delete(user)
    else this.#perUser.set(user, count)
  }
}
