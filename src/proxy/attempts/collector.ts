import { GatewayError } from '../../errors.ts'
import type { Attempt } from './attempt.ts'
import { clientHeaders, hasBody, lengthOf, type ParsedHeaders } from '../wire/headers.ts'
import type { Answer } from '../../request/answer.ts'
import type { Receiver } from './receiver.ts'

/** Buffers one answer, up to a limit. */
export class Collector implements Receiver<Answer> {
  readonly #method: string
  readonly #limitBytes: number
  #headers: ParsedHeaders = {}
  #chunks: Buffer[] = []
  #bytes = 0

  constructor(method: string, limitBytes: number) {
    this.#method = method
    this.#limitBytes = limitBytes
  }

  onStart(): void {
    this.#chunks = []
    this.#bytes = 0
  }

  head(attempt: Attempt, headers: ParsedHeaders): void {
    this.#headers = headers
    if (hasBody(this.#method, attempt.status)) this.#checkLimit(lengthOf(headers) ?? 0)
  }

  data(_attempt: Attempt, chunk: Buffer): void {
    this.#bytes += chunk.length
    this.#checkLimit(this.#bytes)
    this.#chunks.push(chunk)
  }

  onComplete(attempt: Attempt): Answer {
    const { 'content-length': _, ...headers } = clientHeaders(this.#headers)
    return { status: attempt.status, headers, body: this.#join(), node: attempt.node.name }
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
      message: `The engine's answer is larger than ${this.#limitBytes} bytes`,
    })
  }

  /** Copies into memory of its own: the chunks are slices of 64 KiB reads, which a cached answer of 200 bytes would keep alive. */
  #join(): Buffer {
    const body = Buffer.allocUnsafeSlow(this.#bytes)
    let offset = 0
    for (const chunk of this.#chunks) offset += chunk.copy(body, offset)
    this.#chunks = []
    return body
  }
}
