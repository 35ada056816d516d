import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Attempt } from './attempt.ts'
import {
  assertNoRedirect,
  clientHeaders,
  hasBody,
  lengthOf,
  type ParsedHeaders,
  type ResponsePolicy,
} from '../wire/headers.ts'
import type { RelayResult, UpgradedConnection, UpstreamRequest } from '../wire/upstream-request.ts'
import type { Receiver } from './receiver.ts'
import { KEPT_RESPONSE_BYTES } from '../../request/buffered-response.ts'

/** Responses of a known length up to this size are buffered and sent in one write. Before that, nothing is delivered. */
const COLLECT_BYTES = 64 * 1024
const ONE_PIECE_BYTES = 4096
/** nginx's status for a client that closed the connection before the response. It is never sent. */
const CLIENT_CLOSED = 499

/** The result of a read whose client disconnected before the first attempt. No request is sent to a node. */
export const CLIENT_GONE: RelayResult = { status: CLIENT_CLOSED, node: '', bytes: 0, ended: 'client-gone' }

export interface RelayOptions {
  readonly upstreamRequest: UpstreamRequest
  readonly headers: Readonly<Record<string, string>>
  readonly responsePolicy: ResponsePolicy
  /** The time without progress after which the client is disconnected, because it occupies a connection to the engine. */
  readonly stallMs: number
}

/** Relays one response to a client, at the rate at which the client reads. */
export class Relay implements Receiver<RelayResult> {
  readonly #sink: ServerResponse
  readonly #options: RelayOptions
  #attempt: Attempt | null = null
  /** Ends the wait in the queue. Null if the request does not wait. */
  #giveUp: ((result: RelayResult) => void) | null = null
  #collected: { readonly headers: ParsedHeaders; readonly chunks: Buffer[] } | null = null
  /** The head of a streamed response. It is sent with the first chunk of the body, because Node would delay it until then. */
  #head: ParsedHeaders = {}
  /** The body received so far, for the caller of `relay`. Null if it is not requested or too long. */
  #kept: Buffer[] | null = null
  /** The connection after 101. Null if the node did not upgrade it. */
  #upgraded: UpgradedConnection | null = null
  #bytes = 0
  #isStreaming = false
  #isComplete = false
  #isClientGone = false

  constructor(sink: ServerResponse, options: RelayOptions) {
    this.#sink = sink
    this.#options = options
    this.#isClientGone = sink.destroyed
    sink.on('close', () => this.#onClientClose())
  }

  onStart(attempt: Attempt): void {
    this.#attempt = attempt
    this.#giveUp = null
    this.#reset()
  }

  head(attempt: Attempt, headers: ParsedHeaders): void {
    if (this.#isClientGone) return
    assertNoRedirect(attempt.status, this.#options.responsePolicy)
    if (this.#options.upstreamRequest.keepsResponse === true && isKept(attempt, headers)) this.#kept = []
    const length = hasBody(this.#options.upstreamRequest.method, attempt.status) ? lengthOf(headers) : 0
    if (length !== null && length <= COLLECT_BYTES) {
      this.#collected = { headers, chunks: [] }
      return
    }
    this.#head = headers
  }

  data(attempt: Attempt, chunk: Buffer): void {
    if (this.#isClientGone) return
    if (this.#collected === null) this.#writeHead(attempt)
    this.#bytes += chunk.length
    if (this.#bytes > KEPT_RESPONSE_BYTES) this.#kept = null
    else this.#kept?.push(chunk)
    if (this.#collected !== null) this.#collected.chunks.push(chunk)
    else if (!this.#sink.write(chunk)) this.#waitForDrain(attempt)
  }

  upgraded(headers: ParsedHeaders, socket: Duplex): void {
    this.#upgraded = { headers, socket }
  }

  onComplete(attempt: Attempt): RelayResult {
    if (this.#upgraded !== null) return { ...this.#resultOf(attempt, 'whole'), upgraded: this.#upgraded }
    if (!this.#isClientGone) {
      if (this.#collected === null) {
        this.#writeHead(attempt)
        this.#sink.end()
      } else this.#write(attempt, this.#collected.headers, this.#collected.chunks)
    }
    return this.#resultOf(attempt, 'whole')
  }

  onQueued(giveUp: (result: RelayResult) => void): void {
    this.#giveUp = giveUp
  }

  hasDelivered(): boolean {
    return this.#isStreaming
  }

  onAbort(attempt: Attempt): RelayResult | null {
    if (this.#isClientGone) return this.#resultOf(attempt, 'client-gone')
    if (!this.#isStreaming) return null
    cut(this.#sink)
    return this.#resultOf(attempt, 'broken')
  }

  #reset(): void {
    this.#kept = null
    this.#collected = null
    this.#head = {}
    this.#bytes = 0
  }

  #writeHead(attempt: Attempt): void {
    if (this.#isStreaming) return
    this.#sink.writeHead(attempt.status, this.#clientHeaders(attempt, this.#head))
    this.#isStreaming = true
  }

  #clientHeaders({ node }: Attempt, parsed: ParsedHeaders): ReturnType<typeof clientHeaders> {
    const { upstreamRequest, headers, responsePolicy } = this.#options
    const shown = upstreamRequest.shownHeaders?.(parsed, node.name) ?? parsed
    return clientHeaders(shown, headers, responsePolicy)
  }

  #write(attempt: Attempt, parsed: ParsedHeaders, chunks: readonly Buffer[]): void {
    const { status } = attempt
    const headers = this.#clientHeaders(attempt, parsed)
    if (status === 204) delete headers['content-length'] // RFC 9110 section 8.6
    this.#sink.writeHead(status, headers)
    const body = joined(chunks)
    // Batches the write with others of this iteration of the event loop, as for requests: see gateway.ts.
    setImmediate(() => end(this.#sink, body))
  }

  #resultOf(attempt: Attempt, ended: RelayResult['ended']): RelayResult {
    this.#isComplete = true
    const isClientGone = this.#isClientGone
    return {
      status: isClientGone && attempt.status === 0 ? CLIENT_CLOSED : attempt.status,
      node: attempt.node.name,
      bytes: this.#bytes,
      ended: isClientGone ? 'client-gone' : ended,
      ...(this.#kept === null ? {} : { body: joined(this.#kept) }),
    }
  }

  #waitForDrain(attempt: Attempt): void {
    attempt.pause()
    const stalled = setTimeout(() => this.#sink.destroy(), this.#options.stallMs)
    const resume = (): void => {
      clearTimeout(stalled)
      this.#sink.off('drain', resume).off('close', resume)
      attempt.resume()
    }
    this.#sink.on('drain', resume).on('close', resume)
  }

  /**
   * Handles the end of the client's connection or response. If the response was not complete, a read is cancelled, and a write
   * continues with its response discarded.
   */
  #onClientClose(): void {
    if (this.#isComplete) return
    this.#isClientGone = true
    this.#collected = null
    if (this.#options.upstreamRequest.retry !== 'always') return
    this.#giveUp?.(CLIENT_GONE)
    this.#attempt?.cancel()
  }
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks)
}

function isKept({ status }: Attempt, headers: ParsedHeaders): boolean {
  return status >= 200 && status < 300 && headers['content-encoding'] === undefined
}

/** Ends the response. A short body written as text is sent in one piece with the head. This saves a fourteenth of a bare server's work. */
function end(sink: ServerResponse, body: Buffer): void {
  if (body.length <= ONE_PIECE_BYTES) sink.end(body.toString('latin1'), 'latin1')
  else sink.end(body)
}

/** Cuts the connection. A client of HTTP/1.0 treats a closed connection as the end of the response. Only a reset marks it as incomplete. */
function cut(sink: ServerResponse): void {
  if (sink.req.httpVersion === '1.0' && sink.socket !== null) sink.socket.resetAndDestroy()
  else sink.destroy()
}
