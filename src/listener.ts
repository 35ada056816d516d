import type { Socket } from 'node:net'
import { randomUUID } from 'node:crypto'
import { fastify, type FastifyInstance } from 'fastify'
import type { Config } from './config.ts'
import { CODES, GatewayError, type GatewayCode } from './errors.ts'
import { canonicalOf } from './policy/canonical.ts'

/** Where requests that are not canonical are routed to. Whoever asks for it by name gets the same 400. */
const REFUSED = '/-refused'

/**
 * The public listener with its limits, and the first stage around it: what the gateway and the engine could read
 * differently is routed to a refusal before anything else reads it. (Throwing in `rewriteUrl` would leave the request hanging.)
 */
export function createListener(config: Config, onUnreadable: (code: GatewayCode) => void): FastifyInstance {
  const hosts = new Set(config.hosts.map((host) => host.toLowerCase()))
  const faults = new WeakMap<object, GatewayCode>()
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    requestTimeout: config.timeouts.request,
    keepAliveTimeout: 72_000,
    bodyLimit: config.limits.body,
    // A variable's name has up to 255 characters, and each may be encoded with nine; the router's default is 100.
    routerOptions: { maxParamLength: 4096 },
    genReqId: ({ headers }) => requestIdOf(headers['x-request-id']),
    http: {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 2000,
      requireHostHeader: false,
    },
    rewriteUrl: (request) => {
      const { url, fault } = canonicalOf(request, hosts)
      if (fault === null) return url
      faults.set(request, fault)
      return REFUSED
    },
    clientErrorHandler: (error, socket) => refuseUnreadable(error, socket, onUnreadable),
  })
  app.server.maxHeadersCount = 128
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  const refuse = (request: { readonly raw: object }): never => {
    throw new GatewayError(faults.get(request.raw) ?? 'GW_BAD_TARGET')
  }
  app.all(REFUSED, { onRequest: refuse }, refuse)
  return app
}

const REQUEST_ID = /^[\w.:/+=@-]{1,128}$/

/** The caller's id where it is harmless in a log and a header, else a new one. */
function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}

/** What is not HTTP never becomes a request: the answer is written to the bare socket, and the connection ends. */
function refuseUnreadable(
  error: Error & { readonly code?: string },
  socket: Socket,
  onUnreadable: (code: GatewayCode) => void,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const code = codeOf(error.code)
  onUnreadable(code)
  const body = JSON.stringify(new GatewayError(code).body)
  const head = [
    `HTTP/1.1 ${CODES[code][0]} `,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Gateway-Error: ${code}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

function codeOf(reason: string | undefined): GatewayCode {
  if (reason === 'HPE_HEADER_OVERFLOW') return 'GW_HEADERS_TOO_LARGE'
  if (reason === 'ERR_HTTP_REQUEST_TIMEOUT') return 'GW_REQUEST_TIMEOUT'
  if (reason === 'HPE_INVALID_METHOD') return 'GW_METHOD_UNKNOWN'
  return 'GW_BAD_REQUEST'
}
