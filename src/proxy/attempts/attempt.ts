import type { Duplex } from 'node:stream'
import { errors, type Dispatcher } from 'undici'
import { GatewayError } from '../../errors.ts'
import type { ConnectionAware, NodeConnection } from '../nodes/node-connection.ts'
import type { Node } from '../nodes/node.ts'
import type { ParsedHeaders } from '../wire/headers.ts'

/** Receives the events of one attempt, in this order. `ended` is called once, as the last one. If `head` or `data` throws, the attempt ends. */
export interface AttemptOwner {
  head(attempt: Attempt, headers: ParsedHeaders): void
  data(attempt: Attempt, chunk: Buffer): void
  /** Receives the connection after 101. Only a request with `upgrade` can be upgraded. */
  upgraded?(headers: ParsedHeaders, socket: Duplex): void
  ended(attempt: Attempt, cause: Error | null): void
}

export interface WireRequest {
  readonly method: string
  readonly path: string
  readonly headers: string[]
  readonly body: Buffer | null
  /** From dispatch to the head of the response, including the wait for a connection. Infinity if the owner limits the time itself. */
  readonly headersMs: number
  /** The longest time between two chunks of the response body. */
  readonly bodyMs: number
  /** The longest time from the head of the response to its end. */
  readonly responseMs: number
  readonly upgrade?: 'websocket' | undefined
}

interface NodeDispatchOptions extends Dispatcher.DispatchOptions {
  /**
   * The TLS server name, or null without TLS. Without this option undici uses the name in `Host`, and opens a connection for the
   * `Host` of each client (undici 8.12.4, lib/core/request.js).
   */
  readonly servername: string | null
}

type Times = Pick<WireRequest, 'headersMs' | 'bodyMs' | 'responseMs'>

const NO_TIMEOUTS: Times = { headersMs: Infinity, bodyMs: Infinity, responseMs: Infinity }

/** One attempt on one node. */
export class Attempt implements Dispatcher.DispatchHandler, ConnectionAware {
  readonly node: Node
  /**
   * True if a byte of the request may have reached the node. Undici calls `onRequestStart` directly before it writes to a
   * connected socket: undici 8.12.4, `writeH1` in lib/dispatcher/client-h1.js.
   */
  sent = false
  /** True if the request ran on a reused connection. If such a connection breaks, this is no sign of a fault of the node. */
  isReused = false
  /** The status of the response, or 0 before the response head arrives. */
  status = 0
  isCancelled = false
  readonly #owner: AttemptOwner
  #connection: NodeConnection | null = null
  #controller: Dispatcher.DispatchController | null = null
  #deadline: NodeJS.Timeout | undefined
  #times = NO_TIMEOUTS
  #startedAtMs = 0
  #headAtMs = 0
  /** When the last chunk of the response arrived. Infinity while reading is paused. */
  #progressAtMs = 0
  #isOver = false

  constructor(node: Node, owner: AttemptOwner) {
    this.node = node
    this.#owner = owner
  }

  /** @param isDedicated whether the request needs a new connection, because a reused one may close */
  start(request: WireRequest, isDedicated: boolean): void {
    const { node } = this
    const { headersMs, bodyMs, responseMs } = request
    node.inFlight += 1
    this.#times = request
    this.#startedAtMs = performance.now()
    // The earliest possible deadline. Nearly every response is complete by then, so it needs only one timer.
    if (headersMs !== Infinity) this.#schedule(Math.min(headersMs, bodyMs, responseMs))
    const options: NodeDispatchOptions = {
      origin: node.origin,
      path: node.prefix + request.path,
      method: request.method,
      headers: request.headers,
      body: request.body,
      servername: node.serverName,
      // The timers of this class replace undici's. They include the wait in the pool's queue and are exact. Undici's timers have a
      // resolution of about 500 ms: github.com/nodejs/undici/pull/5543.
      headersTimeout: 0,
      bodyTimeout: 0,
      ...(request.upgrade !== undefined && { upgrade: request.upgrade }),
    }
    node.pool.dispatch(options, this, isDedicated)
  }

  /** Aborts the attempt because its client disconnected. */
  cancel(): void {
    this.isCancelled = true
    this.abort(new errors.RequestAbortedError('the client has disconnected'))
  }

  abort(reason: Error): void {
    if (this.#controller !== null) this.#controller.abort(reason)
    else this.#end(reason)
  }

  pause(): void {
    this.#progressAtMs = Infinity
    this.#controller?.pause()
  }

  resume(): void {
    this.#progressAtMs = performance.now()
    this.#controller?.resume()
  }

  onConnection(connection: NodeConnection): void {
    this.#connection = connection
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Either the attempt was aborted in the queue, or undici writes the request a second time: after an informational error its
    // `onHttpSocketClose` (undici 8.12.4, lib/dispatcher/client-h1.js) queues running requests again. An exception here prevents the
    // write and keeps the connection.
    if (this.#isOver || this.sent) throw new errors.RequestAbortedError('the request must not be sent')
    this.sent = true
    this.isReused = this.#connection?.isFresh === false
    this.#controller = controller
  }

  onRequestSent(): void {
    if (this.#connection?.wroteNothing() === true) this.sent = false
  }

  onRequestUpgrade(_controller: unknown, status: number, headers: ParsedHeaders, socket: Duplex): void {
    // Undici has removed its listeners. Without a listener, an error of the socket would end the process.
    socket.on('error', () => socket.destroy())
    if (this.#isOver || this.#owner.upgraded === undefined) {
      socket.destroy()
      return
    }
    this.status = status
    this.#owner.upgraded(headers, socket)
    this.#end(null)
  }

  onResponseStart(_controller: unknown, status: number, headers: ParsedHeaders): void {
    if (status < 200) return // an informational response, which the final head follows
    this.status = status
    this.#headAtMs = performance.now()
    this.#progressAtMs = this.#headAtMs
    if (this.#deadline === undefined) this.#schedule(this.#leftMs(this.#headAtMs))
    this.#owner.head(this, headers)
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#progressAtMs = performance.now()
    this.#owner.data(this, chunk)
  }

  onResponseEnd(): void {
    this.#end(null)
  }

  onResponseError(_controller: unknown, error: Error): void {
    // The request failed before it was written, in the iteration of the event loop in which undici validates an idle socket: undici
    // 8.12.4, `scheduleIdleSocketValidation` in lib/dispatcher/client-h1.js; github.com/nodejs/undici/pull/5707.
    if (this.#controller === null) this.isReused = this.#connection?.hasSocket === true
    this.#end(error)
  }

  #schedule(ms: number): void {
    this.#deadline = setTimeout(() => this.#checkDeadline(), ms)
  }

  #checkDeadline(): void {
    const nowMs = performance.now()
    const leftMs = this.#leftMs(nowMs)
    // The timer runs for at most the time between two chunks, because a paused response may resume at any moment.
    if (leftMs > 0) this.#schedule(Math.min(leftMs, this.#times.bodyMs))
    else
      this.abort(
        this.sent ? this.#timeoutError(nowMs) : new GatewayError('GW_OVERLOADED', { retryAfterSeconds: 1 }),
      )
  }

  /** Returns the milliseconds until the current deadline. */
  #leftMs(nowMs: number): number {
    const { headersMs, bodyMs, responseMs } = this.#times
    return this.status === 0
      ? this.#startedAtMs + headersMs - nowMs
      : Math.min(this.#headAtMs + responseMs, this.#progressAtMs + bodyMs) - nowMs
  }

  /** Returns the error for a timeout. After the head, a slow client may delay the response, so a long response is no fault of the node. */
  #timeoutError(nowMs: number): Error {
    if (this.status === 0) return new errors.HeadersTimeoutError()
    const isStalled = this.#progressAtMs + this.#times.bodyMs <= nowMs
    return isStalled ? new errors.BodyTimeoutError() : new GatewayError('GW_UPSTREAM_TIMEOUT')
  }

  #end(cause: Error | null): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#deadline)
    this.node.inFlight -= 1
    this.#owner.ended(this, cause)
  }
}
