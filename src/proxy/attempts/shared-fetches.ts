import { GatewayError } from '../../errors.ts'
import type { BufferedResponse } from '../../request/buffered-response.ts'
import { SingleFlight } from '../../request/single-flight.ts'
import { targetPathOf } from '../../request/target.ts'
import type { UpstreamRequest } from '../wire/upstream-request.ts'

/** `sent`: the request was sent. `joined`: it got the response to a request in progress. */
export type ShareResult = 'sent' | 'joined'

export interface ShareOptions {
  readonly onResult?: (result: ShareResult) => void
}

/** A longer response, or the response to a longer body, is not shared. A count needs 13 bytes. */
const MAX_RESPONSE_BYTES = 1024
const MAX_REQUEST_BYTES = 16 * 1024

/** Headers that identify a request or its client, and have no influence on a count. */
const WITHOUT_INFLUENCE: ReadonlySet<string> = new Set([
  'x-request-id',
  'user-agent',
  'traceparent',
  'tracestate',
])

/**
 * Sends one of several identical counts. Each caller was permitted and restricted before, so an identical request has the same
 * response for all of them.
 *
 * A caller must see the effect of a write before it. Therefore a request shares only responses that the engine began to compute
 * after the last write through this process has ended.
 */
export class SharedFetches {
  readonly #options: ShareOptions
  readonly #flights = new SingleFlight<BufferedResponse>()

  constructor(options: ShareOptions) {
    this.#options = options
  }

  /** Call it when a write has ended, before its client gets the response. */
  onWrite(): void {
    this.#flights.abandon(() => true)
  }

  async fetch(
    upstreamRequest: UpstreamRequest,
    send: () => Promise<BufferedResponse>,
  ): Promise<BufferedResponse> {
    const key = keyOf(upstreamRequest)
    if (key === null) return send()
    const running = this.#flights.running(key)
    if (running === undefined) {
      this.#options.onResult?.('sent')
      return copyOf(await this.#flights.begin(key, null, send))
    }
    const response = await running.result.catch((error: unknown) => {
      // The permission of another caller has changed, and not the permission of this one.
      if (error instanceof GatewayError && error.code === 'GW_DECISION_OUTDATED') return null
      throw error
    })
    return response === null || !isShared(response) ? send() : this.#shareWith(response, upstreamRequest)
  }

  #shareWith(response: BufferedResponse, { isStillPermitted }: UpstreamRequest): BufferedResponse {
    if (isStillPermitted?.() === false)
      throw new GatewayError('GW_DECISION_OUTDATED', { retryAfterSeconds: 1 })
    this.#options.onResult?.('joined')
    return copyOf(response)
  }
}

/**
 * Returns what identifies the response to a request. Null if its response is not shared. If the engine knows the caller, a header
 * names the caller, so different callers share nothing.
 */
function keyOf({ isShareable, retry, method, path, headers, body }: UpstreamRequest): string | null {
  if (isShareable !== true || retry !== 'always' || !targetPathOf(path).endsWith('/count')) return null
  if (method === 'HEAD' || (body?.length ?? 0) > MAX_REQUEST_BYTES) return null
  const relevant = Object.entries(headers).filter(([name]) => !WITHOUT_INFLUENCE.has(name))
  return JSON.stringify([method, path, relevant, body?.toString('latin1') ?? null])
}

function isShared({ status, body, setsCookie }: BufferedResponse): boolean {
  return status === 200 && setsCookie !== true && body.length <= MAX_RESPONSE_BYTES
}

/** Returns a response with memory of its own, because its reader may release the memory of the body. */
function copyOf(response: BufferedResponse): BufferedResponse {
  return { ...response, body: Buffer.from(response.body) }
}
