import { errors, type Dispatcher } from 'undici'
import { GatewayError } from '../errors.ts'
import type { Node } from './node.ts'

/** Response headers as undici parses them: lower-case names, latin1 values. */
export type ParsedHeaders = Readonly<Record<string, string | string[] | undefined>>

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
  /** Between two pieces of the answer's body; kept by undici, whose clock ticks every half second. */
  readonly bodyMs: number
  /** From the answer's head to its end. */
  readonly answerMs: number
}

/** One try on one node. */
export class Attempt implements Dispatcher.DispatchHandler {
  readonly node: Node
  /** A byte of the request may have reached the node: undici calls onRequestStart right before it writes, on a socket that stands. */
  sent = false
  /** Status of the answer's head, 0 until it is there. */
  status = 0
  isCancelled = false
  readonly #owner: AttemptOwner
  #controller: Dispatcher.DispatchController | null = null
  #deadline: NodeJS.Timeout | undefined
  #headersMs = Infinity
  #answerMs = Infinity
  #headAtMs = 0
  #isOver = false

  constructor(node: Node, owner: AttemptOwner) {
    this.node = node
    this.#owner = owner
  }

  start(request: WireRequest): void {
    const { node } = this
    node.inFlight += 1
    this.#headersMs = request.headersMs
    this.#answerMs = request.answerMs
    if (request.headersMs !== Infinity) this.#bound(request.headersMs)
    node.pool.dispatch(
      {
        origin: node.origin,
        path: node.prefix + request.path,
        method: request.method,
        headers: request.headers,
        body: request.body,
        headersTimeout: 0, // ours covers the wait in the pool's queue too, which undici's does not
        bodyTimeout: request.bodyMs,
      },
      this,
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
    this.#controller?.pause()
  }

  resume(): void {
    this.#controller?.resume()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Given up while it waited, or written a second time by undici itself: a throw here keeps it off the wire and spares the connection.
    if (this.#isOver || this.sent) throw new errors.RequestAbortedError('not to be sent')
    this.sent = true
    this.#controller = controller
  }

  onResponseStart(_controller: unknown, status: number, headers: ParsedHeaders): void {
    if (status < 200) return // informational: the head is still to come
    this.status = status
    this.#headAtMs = performance.now()
    // A timer that ends sooner is left to run: nearly every answer is over before, and a second one would cost each of them.
    if (this.#answerMs < this.#headersMs) this.#bound(this.#answerMs)
    this.#owner.head(this, headers)
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#owner.data(this, chunk)
  }

  onResponseEnd(): void {
    this.#end(null)
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#end(error)
  }

  #bound(ms: number): void {
    clearTimeout(this.#deadline)
    this.#deadline = setTimeout(() => this.#expire(), ms)
  }

  #expire(): void {
    const leftMs = this.status === 0 ? 0 : this.#headAtMs + this.#answerMs - performance.now()
    if (leftMs > 0) return this.#bound(leftMs)
    this.abort(this.sent ? lateness(this) : new GatewayError('GW_OVERLOADED', { retryAfterSeconds: 1 }))
  }

  #end(cause: Error | null): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#deadline)
    this.node.inFlight -= 1
    this.#owner.ended(this, cause)
  }
}

/** An answer that has begun may have a client to wait for: that says nothing about the node. */
function lateness({ status }: Attempt): Error {
  return status === 0 ? new errors.HeadersTimeoutError() : new GatewayError('GW_UPSTREAM_TIMEOUT')
}
