import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as createRequest,
  type RequestListener,
} from 'node:http'
import { type Duplex, duplexPair } from 'node:stream'
import type { ToolCall, ToolCalls } from './tool-calls.ts'
import type { ToolRequest } from './tool-request.ts'

export interface InProcessResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The first bytes of the body. */
  readonly body: Buffer
  /** True if the body is longer, or if its bytes are not a text. */
  readonly isCut: boolean
}

interface InProcessRequest extends ToolRequest {
  readonly headers: Readonly<Record<string, string>>
  /** Ends the request. The stages see a client that disconnects. */
  readonly signal: AbortSignal
}

/** Sends requests to a listener of this process. */
export type InProcessClient = (call: ToolCall, request: InProcessRequest) => Promise<InProcessResponse>

interface InProcessClientOptions {
  readonly calls: ToolCalls
  /** The longest body that is read. */
  readonly maxBytes: number
}

/**
 * Creates a client for the listener that also serves the requests from the network. The requests are written and parsed as HTTP, but
 * between two streams in memory. Therefore they pass the same stages in the same form, and a client that leaves, a slow reader and a
 * response that is too long have the same effects. No request uses a port, and no connection is used twice.
 */
export function createInProcessClient(
  handle: RequestListener,
  { calls, maxBytes }: InProcessClientOptions,
): InProcessClient {
  const server = createServer({ requireHostHeader: false }, handle)
  return (call, request) =>
    new Promise((resolve, reject) => {
      const [near, far] = connectedPair()
      // The stages ask the connection for the address of the client.
      Object.defineProperty(far, 'remoteAddress', { value: call.client.socket.remoteAddress })
      calls.set(far, call)
      server.emit('connection', far)
      const sent = createRequest({
        createConnection: () => near,
        method: request.method,
        path: request.target,
        headers: { ...request.headers, ...contentHeadersOf(request.body) },
        setHost: false,
        signal: request.signal,
      })
      sent.once('error', (error) => {
        near.destroy()
        reject(error)
      })
      sent.once('response', (response) => {
        void readStart(response, maxBytes)
          .then(resolve, reject)
          .finally(() => near.destroy())
      })
      sent.end(request.body ?? undefined)
    })
}

/** Returns two ends of a connection. Node.js does not tell one end that the other was destroyed. */
function connectedPair(): readonly [Duplex, Duplex] {
  const [near, far] = duplexPair()
  near.once('close', () => far.destroy())
  far.once('close', () => {
    if (!far.writableFinished) near.destroy(new Error('The connection was closed without a response'))
  })
  return [near, far]
}

function contentHeadersOf(body: Buffer | null): Readonly<Record<string, string>> {
  return body === null ? {} : { 'content-type': 'application/json', 'content-length': String(body.length) }
}

/** Reads the body up to the limit. The rest is never read: the connection ends. */
async function readStart(response: IncomingMessage, maxBytes: number): Promise<InProcessResponse> {
  const { statusCode: status = 0, headers } = response
  const chunks: Buffer[] = []
  let length = 0
  let isCut = !isText(headers['content-type'])
  if (!isCut)
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, maxBytes - length))
      length += chunk.length
      isCut = length > maxBytes
      if (isCut) break
    }
  return { status, headers, body: Buffer.concat(chunks), isCut }
}

const TEXT_TYPE = /^(?:text\/[\w.+-]+|application\/(?:json|xml|javascript|[\w.-]+\+(?:json|xml)))(?: *;|$)/i

/** Returns whether a body of this media type is a text. A response without a media type has no body. */
export function isText(mediaType: string | undefined): boolean {
  return mediaType === undefined || TEXT_TYPE.test(mediaType)
}
