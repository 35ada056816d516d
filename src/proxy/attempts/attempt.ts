import { errors, type Dispatcher } from 'undici'
import { GatewayError } from '../../errors.ts'
import type { Carried, Connection } from '../nodes/node-connection.ts'
import type { Node } from '../nodes/node.ts'
import type { ParsedHeaders } from '../wire/headers.ts'

/** The owner of a try hears of it in this order; `ended` comes once and last. What `head` and `data` throw ends the try. */
export interface AttemptOwner {
  head(attempt: Attempt, headers: ParsedHeaders): void
  data(attempt: Attempt, chunk: Buffer): void
  ended(attempt: Attempt, cause: Error | null): void
}

export interface WireRequest {
  readonly method: string
  readonly path: string
  readonly headers: string[]
  readonly body: Buffer | null
  /** From the hand-over to the answer's head, the wait for a connection included; Infinity: its owner keeps the time. */
  readonly headersMs: number
  /** Between two pieces of the answer's body. */
  readonly bodyMs: number
  /** From the answer's head to its end. */
  readonly answerMs: number
}

type Times = Pick<WireRequest, 'headersMs' | 'bodyMs' | 'answerMs'>

const NEVER: Times = { headersMs: Infinity, bodyMs: Infinity, answerMs: Infinity }

/** One try on one node. */
export class Attempt implements Dispatcher.DispatchHandler, Carried {
  readonly node: Node
  /** A byte of the request may have reached the node: undici calls onRequestStart right before it writes, on a socket that stands. */
  sent = false
  /** It was given a connection that was kept from before: that one breaks says nothing about the node. */
  isOnKept = false
  /** Status of the answer's head, 0 until it is there. */
  status = 0
  isCancelled = false
  readonly #owner: AttemptOwner
  #connection: Connection | null = null
  #controller: Dispatcher.DispatchController | null = null
  #deadline: NodeJS.Timeout | undefined
  #times = NEVER
  #startedAtMs = 0
  #headAtMs = 0
  /** When the last piece of the answer came; Infinity while nobody takes any. */
  #movedAtMs = 0
  #isOver = false

  constructor(node: Node, owner: AttemptOwner) {
    this.node = node
    this.#owner = owner
  }

  /** @param isSingle whether it needs a connection of its own: one that is kept may be about to end */
  start(request: WireRequest, isSingle: boolean): void {
    const { node } = this
    const { headersMs, bodyMs, answerMs } = request
    node.inFlight += 1
    this.#times = request
    this.#startedAtMs = performance.now()
    // The soonest that any of them can be up: nearly every answer is over by then, and has cost one timer.
    if (headersMs !== Infinity) this.#wake(Math.min(headersMs, bodyMs, answerMs))
    node.pool.dispatch(
      {
        origin: node.origin,
        path: node.prefix + request.path,
        method: request.method,
        headers: request.headers,
        body: request.body,
        // Ours covers the wait in the pool's queue too, which undici's does not, and is exact: undici's clock ticks every half second.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      this,
      isSingle,
    )
  }

  /** Gives the try up, because its client left. */
  cancel(): void {
    this.isCancelled = true
    this.abort(new errors.RequestAbortedError('the client left'))
  }

  abort(reason: Error): void {
    if (this.#controller !== null) this.#controller.abort(reason)
    else this.#end(reason)
  }

  pause(): void {
    this.#movedAtMs = Infinity
    this.#controller?.pause()
  }

  resume(): void {
    this.#movedAtMs = performance.now()
    this.#controller?.resume()
  }

  carriedBy(connection: Connection): void {
    this.#connection = connection
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Given up while it waited, or written a second time by undici itself: a throw here keeps it off the wire and spares the connection.
    if (this.#isOver || this.sent) throw new errors.RequestAbortedError('not to be sent')
    this.sent = true
    this.isOnKept = this.#connection?.isFresh === false
    this.#controller = controller
  }

  onRequestSent(): void {
    if (this.#connection?.tookNothing() === true) this.sent = false
  }

  onResponseStart(_controller: unknown, status: number, headers: ParsedHeaders): void {
    if (status < 200) return // informational: the head is still to come
    this.status = status
    this.#headAtMs = performance.now()
    this.#movedAtMs = this.#headAtMs
    if (this.#deadline === undefined) this.#wake(this.#leftMs(this.#headAtMs))
    this.#owner.head(this, headers)
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#movedAtMs = performance.now()
    this.#owner.data(this, chunk)
  }

  onResponseEnd(): void {
    this.#end(null)
  }

  onResponseError(_controller: unknown, error: Error): void {
    // It waited for nothing but its turn of the event loop: see undici's validation of idle sockets.
    if (this.#controller === null) this.isOnKept = this.#connection?.stood === true
    this.#end(error)
  }

  #wake(ms: number): void {
    this.#deadline = setTimeout(() => this.#look(), ms)
  }

  #look(): void {
    const nowMs = performance.now()
    const leftMs = this.#leftMs(nowMs)
    // No longer than between two pieces: who is paused now may go on in a moment.
    if (leftMs > 0) this.#wake(Math.min(leftMs, this.#times.bodyMs))
    else
      this.abort(
        this.sent ? this.#lateness(nowMs) : new GatewayError('GW_OVERLOADED', { retryAfterSeconds: 1 }),
      )
  }

  /** Until what it waits for is late. */
  #leftMs(nowMs: number): number {
    const { headersMs, bodyMs, answerMs } = this.#times
    return this.status === 0
      ? this.#startedAtMs + headersMs - nowMs
      : Math.min(this.#headAtMs + answerMs, this.#movedAtMs + bodyMs) - nowMs
  }

  /** An answer that has begun may have a client to wait for: that it takes long says nothing about the node. */
  #lateness(nowMs: number): Error {
    if (this.status === 0) return new errors.HeadersTimeoutError()
    const isStill = this.#movedAtMs + this.#times.bodyMs <= nowMs
    return isStill ? new errors.BodyTimeoutError() : new GatewayError('GW_UPSTREAM_TIMEOUT')
  }

  #end(cause: Error | null): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#deadline)
    this.node.inFlight -= 1
    this.#owner.ended(this, cause)
  }
}
