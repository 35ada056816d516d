import { operatorText, GatewayError } from '../../errors.ts'
import type { Attempt } from './attempt.ts'
import {
  API_RESPONSES,
  assertNoRedirect,
  clientHeaders,
  hasBody,
  lengthOf,
  type ParsedHeaders,
  type ResponsePolicy,
} from '../wire/headers.ts'
import type { BufferedResponse } from '../../request/buffered-response.ts'
import type { Receiver } from './receiver.ts'

/** Buffers one response, up to a limit. */
export class Collector implements Receiver<BufferedResponse> {
  readonly #method: string
  readonly #limitBytes: number
  readonly #policy: ResponsePolicy
  #headers: ParsedHeaders = {}
  /** The body received so far, with free space for more. */
  #memory = Buffer.allocUnsafeSlow(0)
  #bytes = 0
  /** The length that the head of the response names. 0 if it names none. */
  #expectedBytes = 0

  constructor(method: string, limitBytes: number, policy = API_RESPONSES) {
    this.#method = method
    this.#limitBytes = limitBytes
    this.#policy = policy
  }

  onStart(): void {
    this.#bytes = 0
  }

  head(attempt: Attempt, headers: ParsedHeaders): void {
    assertNoRedirect(attempt.status, this.#policy)
    this.#headers = headers
    this.#expectedBytes = hasBody(this.#method, attempt.status) ? (lengthOf(headers) ?? 0) : 0
    this.#checkLimit(this.#expectedBytes)
  }

  data(_attempt: Attempt, chunk: Buffer): void {
    const bytes = this.#bytes + chunk.length
    this.#checkLimit(bytes)
    this.#growTo(bytes)
    chunk.copy(this.#memory, this.#bytes)
    this.#bytes = bytes
  }

  onComplete(attempt: Attempt): BufferedResponse {
    const { 'content-length': _, ...headers } = clientHeaders(this.#headers, undefined, this.#policy)
    const response = { status: attempt.status, headers, body: this.#body(), node: attempt.node.name }
    return this.#headers['set-cookie'] === undefined ? response : { ...response, setsCookie: true }
  }

  hasDelivered(): boolean {
    return false
  }

  onAbort(): null {
    return null
  }

  #checkLimit(bytes: number): void {
    if (bytes <= this.#limitBytes) return
    throw new GatewayError('GW_UPSTREAM_INVALID', {
      message: operatorText`The engine's response is larger than ${this.#limitBytes} bytes`,
    })
  }

  /**
   * Grows the buffer. Each chunk is copied when it arrives. A chunk is a slice of a 64 KiB read buffer, and a cached response of 200
   * bytes would keep that buffer in memory. The chunks of a long response would become old objects, which only a full garbage
   * collection frees.
   */
  #growTo(bytes: number): void {
    const { buffer, length } = this.#memory
    if (length === 0) this.#memory = Buffer.allocUnsafeSlow(Math.max(bytes, this.#expectedBytes))
    else if (bytes > length) this.#memory = Buffer.from(buffer.transfer(Math.max(bytes, 2 * length)))
  }

  /** Returns the body in a separate buffer of exactly its length. */
  #body(): Buffer {
    const { buffer, length } = this.#memory
    return length === this.#bytes ? this.#memory : Buffer.from(buffer.transfer(this.#bytes))
  }
}
