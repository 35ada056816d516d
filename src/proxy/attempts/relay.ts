import { type ServerResponse } from 'node:http'
import type { Attempt } from './attempt.ts'
import type { ParsedHeaders } from '../wire/headers.ts'
import { clientHeaders, hasBody, lengthOf } from '../wire/headers.ts'
import type { UpstreamRequest } from '../wire/upstream-request.ts'
import type { Receiver } from './receiver.ts'

/** Answers of a known length up to this are collected and leave in one write; until then nothing is given out. */
const COLLECT_BYTES = 64 * 1024
const ONE_PIECE_BYTES = 4096
/** nginx's status for a client that closed before it was answered; never on a wire. */
const CLIENT_CLOSED = 499

export interface Relayed {
  /** Of the engine's answer; 499 if the client left before there was one. */
  readonly status: number
  readonly node: string
  /** Of the body, as handed to the client's connection. */
  readonly bytes: number
  /** `broken`: the engine broke off in the middle, so the client's connection was cut. */
  readonly ended: 'whole' | 'client-gone' | 'broken'
}

/** A read for nobody: its client left before it was begun, so no node is asked. */
export const CLIENT_GONE: Relayed = { status: CLIENT_CLOSED, node: '', bytes: 0, ended: 'client-gone' }

export interface RelayOptions {
  readonly upstreamRequest: UpstreamRequest
  readonly headers: Readonly<Record<string, string>>
  /** A client that takes nothing for so long is cut: it holds a connection to the engine. */
  readonly stallMs: number
}

/** Passes one answer on to a client, at the pace at which it reads. */
export class Relay implements Receiver<Relayed> {
  readonly #sink: ServerResponse
  readonly #options: RelayOptions
  #attempt: Attempt | null = null
  /** Null: it has begun, or need not wait. */
  #giveUp: ((result: Relayed) => void) | null = null
  #collected: { readonly headers: ParsedHeaders; readonly chunks: Buffer[] } | null = null
  /** Of an answer that is streamed: leaves with the first piece of its body, which Node would wait for anyway. */
  #head: ParsedHeaders = {}
  #bytes = 0
  #isStreaming = false
  #isOver = false
  #isGone = false

  constructor(sink: ServerResponse, options: RelayOptions) {
    this.#sink = sink
    this.#options = options
    this.#isGone = sink.destroyed
    sink.on('close', () => this.#leave())
  }

  onStart(attempt: Attempt): void {
    this.#attempt = attempt
    this.#giveUp = null
    this.#forget()
  }

  head(attempt: Attempt, headers: ParsedHeaders): void {
    if (this.#isGone) return
    const length = hasBody(this.#options.upstreamRequest.method, attempt.status) ? lengthOf(headers) : 0
    if (length !== null && length <= COLLECT_BYTES) {
      this.#collected = { headers, chunks: [] }
      return
    }
    this.#head = headers
  }

  data(attempt: Attempt, chunk: Buffer): void {
    if (this.#isGone) return
    if (this.#collected === null) this.#begin(attempt)
    this.#bytes += chunk.length
    if (this.#collected !== null) this.#collected.chunks.push(chunk)
    else if (!this.#sink.write(chunk)) this.#wait(attempt)
  }

  onComplete(attempt: Attempt): Relayed {
    if (!this.#isGone) {
      if (this.#collected === null) {
        this.#begin(attempt)
        this.#sink.end()
      } else this.#write(attempt.status, this.#collected.headers, this.#collected.chunks)
    }
    return this.#told(attempt, 'whole')
  }

  waits(giveUp: (result: Relayed) => void): void {
    this.#giveUp = giveUp
  }

  hasGiven(): boolean {
    return this.#isStreaming
  }

  onAbort(attempt: Attempt): Relayed | null {
    if (this.#isGone) return this.#told(attempt, 'client-gone')
    if (!this.#isStreaming) return null
    cut(this.#sink)
    return this.#told(attempt, 'broken')
  }

  #forget(): void {
    this.#collected = null
    this.#head = {}
    this.#bytes = 0
  }

  #begin({ status }: Attempt): void {
    if (this.#isStreaming) return
    this.#sink.writeHead(status, clientHeaders(this.#head, this.#options.headers))
    this.#isStreaming = true
  }

  #write(status: number, parsed: ParsedHeaders, chunks: readonly Buffer[]): void {
    const headers = clientHeaders(parsed, this.#options.headers)
    if (status === 204) delete headers['content-length'] // RFC 9110 section 8.6
    this.#sink.writeHead(status, headers)
    const [first] = chunks
    const body = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks)
    // Together with the others that this turn of the event loop brings, as requests are sent on: see gateway.ts.
    setImmediate(() => end(this.#sink, body))
  }

  #told(attempt: Attempt, ended: Relayed['ended']): Relayed {
    this.#isOver = true
    const isGone = this.#isGone
    return {
      status: isGone && attempt.status === 0 ? CLIENT_CLOSED : attempt.status,
      node: attempt.node.name,
      bytes: this.#bytes,
      ended: isGone ? 'client-gone' : ended,
    }
  }

  #wait(attempt: Attempt): void {
    attempt.pause()
    const stalled = setTimeout(() => this.#sink.destroy(), this.#options.stallMs)
    const goOn = (): void => {
      clearTimeout(stalled)
      this.#sink.off('drain', goOn).off('close', goOn)
      attempt.resume()
    }
    this.#sink.on('drain', goOn).on('close', goOn)
  }

  /** The client closed its connection, or has its answer. A read is called off; a write runs on, its answer is thrown away. */
  #leave(): void {
    if (this.#isOver) return
    this.#isGone = true
    this.#collected = null
    if (this.#options.upstreamRequest.retry !== 'always') return
    this.#giveUp?.(CLIENT_GONE)
    this.#attempt?.cancel()
  }
}

/** As text a short body leaves with the head in one piece, which saves a fourteenth of what a bare server does for an answer. */
function end(sink: ServerResponse, body: Buffer): void {
  if (body.length <= ONE_PIECE_BYTES) sink.end(body.toString('latin1'), 'latin1')
  else sink.end(body)
}

/** To a client of HTTP/1.0 a closed connection is the end of the answer: only a reset says that it is not whole. */
function cut(sink: ServerResponse): void {
  if (sink.req.httpVersion === '1.0' && sink.socket !== null) sink.socket.resetAndDestroy()
  else sink.destroy()
}
