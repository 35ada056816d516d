import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { fastify, type FastifyInstance } from 'fastify'
import type { Config } from './config.ts'
import { CODES, GatewayError, type GatewayCode } from './errors.ts'
import { notFound } from './matched.ts'
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
    ...limitsOf(config),
    genReqId: ({ headers }) => requestIdOf(headers['x-request-id']),
    rewriteUrl: (request) => {
      const { url, fault } = canonicalOf(request, hosts)
      if (fault === null) return url
      faults.set(request, fault)
      return REFUSED
    },
    clientErrorHandler: (error, socket) => refuseUnreadable(error, socket, onUnreadable),
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  const refuse = (request: { readonly raw: object }): never => {
    throw new GatewayError(faults.get(request.raw) ?? 'GW_BAD_TARGET')
  }
  // A method that the router does not know has no route, not even that one.
  const refuseStray = (request: { readonly raw: object }): never =>
    faults.has(request.raw) ? refuse(request) : notFound()
  app.all(REFUSED, { onRequest: refuse }, refuse)
  app.setNotFoundHandler(refuseStray)
  app.addHook('preParsing', function letBodyIn(request, reply, _payload, done) {
    if (request.is404) refuseStray(request)
    if (request.headers.expect !== undefined && request.raw.httpVersion === '1.1') reply.raw.writeContinue()
    done()
  })
  // RFC 9110 section 10.1.1: the body is asked for once the stages that look at headers alone have let the request in.
  for (const event of ['checkContinue', 'checkExpectation'])
    app.server.on(event, (request: object, response: object) => app.server.emit('request', request, response))
  letGo(app)
  return app
}

function limitsOf({ timeouts, limits }: Config) {
  return {
    logger: false,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    // While draining, a request on a connection that was kept is served like any other, and the connection then closed.
    return503OnClosing: false,
    requestTimeout: timeouts.request,
    keepAliveTimeout: 72_000,
    bodyLimit: limits.body,
    // A variable's name has up to 255 characters, and each may be encoded with nine; the router's default is 100.
    routerOptions: { maxParamLength: 4096 },
    http: {
      maxHeaderSize: 16 * 1024,
      // Node swaps the two where this one is the longer.
      headersTimeout: Math.min(10_000, timeouts.request),
      connectionsCheckingInterval: 2000,
      requireHostHeader: false,
    },
  } as const
}

/** Long enough for a request that was on its way when the drain began. */
const SILENT_MS = 1000

/**
 * So that a drain ends: the newest answer on each connection closes it, and a connection on which nothing was ever
 * said, which is not idle to Node, is not waited for.
 */
function letGo(app: FastifyInstance): void {
  const newest = new Map<Socket, ServerResponse | null>()
  app.server.on('connection', (socket: Socket) => {
    newest.set(socket, null)
    socket.once('close', () => newest.delete(socket))
  })
  app.server.on('request', ({ socket }: { readonly socket: Socket }, response: ServerResponse) =>
    newest.set(socket, response),
  )
  app.addHook('preClose', (done) => {
    for (const response of newest.values()) if (response !== null) response.shouldKeepAlive = false
    setTimeout(() => {
      for (const [socket, response] of newest)
        if (response === null && socket.bytesRead === 0) socket.destroy()
    }, SILENT_MS).unref()
    done()
  })
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
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
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

/**
 * Whether an answer to an earlier request is due or on its way on this connection: ours would be taken for it, or for
 * a piece of it. `_httpMessage` is Node's own answer under way, and what its own error handler looks at.
 */
function isAnswering(socket: Socket & { readonly _httpMessage?: ServerResponse | null }): boolean {
  const answer = socket._httpMessage
  return answer !== undefined && answer !== null && (answer.headersSent || answer.req.complete)
}

function codeOf(reason: string | undefined): GatewayCode {
  if (reason === 'HPE_HEADER_OVERFLOW') return 'GW_HEADERS_TOO_LARGE'
  if (reason === 'ERR_HTTP_REQUEST_TIMEOUT') return 'GW_REQUEST_TIMEOUT'
  if (reason === 'HPE_INVALID_METHOD') return 'GW_METHOD_UNKNOWN'
  return 'GW_BAD_REQUEST'
}
