import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  ServerResponse,
} from 'node:http'
import { Server as NetServer, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { MOST_WAITING } from './accept-waiting.ts'
import { type Connections, type ConnectionLoad, watchConnections } from './connections.ts'
import { NO_UPGRADES, type Upgrades } from '../request/upgrades.ts'
import { CODES, GatewayError, type GatewayCode } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics/registry.ts'
import { urlOf } from '../tls/listener-url.ts'
import { createTlsListener, type TlsListener } from '../tls/tls-listener.ts'
import { onRenewal } from '../tls/renewal-lines.ts'
import { maxConnectionsFor } from './file-descriptors.ts'

/** The public listening socket. Its request handler can be replaced without an effect on open connections. */
export interface PublicListener {
  /** Resolves to `http://127.0.0.1:8080`. */
  readonly listen: (at: Pick<Config['listen'], 'host' | 'port'>) => Promise<string>
  /** Serves a connection that another process, or another server of this process, has accepted. Used instead of `listen`. */
  readonly serveConnection: (connection: Socket) => void
  /**
   * Sends new requests to `handle`, and upgrades that are accepted to `upgrades`. Resolves when all requests of the previous handler
   * have ended. An upgraded connection counts as a request in progress.
   */
  readonly serve: (handle: RequestListener, upgrades?: Upgrades) => Promise<void>
  readonly load: () => ConnectionLoad
  /** Returns how many of the connections that came through `serveConnection` are open, and how many have ended. */
  readonly connectionCounts: () => ConnectionCounts
  /**
   * Stops accepting connections after those that already wait have been accepted. If another process accepts, `lastAccepted`
   * resolves at that time. Each connection is closed with its next response, and an idle connection after a second without a
   * request. At the deadline, the remaining connections are cut. Returns the load that was cut.
   */
  readonly close: (deadline: Promise<void>, lastAccepted?: Promise<void>) => Promise<ConnectionLoad>
}

export interface ConnectionCounts {
  readonly open: number
  /** Since the start of the process. */
  readonly ended: number
}

interface ListenerOptions {
  readonly handle: RequestListener
  /** Default: no connection is upgraded. */
  readonly upgrades?: Upgrades | undefined
  readonly metrics: Pick<Metrics, 'refusal'>
  readonly log: Pick<Logger, 'info' | 'error'>
  /** Default: the number that the limit of open files allows. */
  readonly maxConnections?: number
}

/** Creates the public listener. @throws if Node.js rejects the certificate or key of `listen.tls` */
export function createListener(
  config: Config,
  { handle, upgrades, metrics, log, maxConnections = maxConnectionsFor(config) }: ListenerOptions,
): PublicListener {
  const server = createServer({
    ...limitsOf(config.timeouts.request),
    // A request that is not accepted here is handled as if it had no `Upgrade`.
    shouldUpgradeCallback: (request) => requests.acceptsUpgrade(request),
  })
  const refused = (reason: string) =>
    metrics.refusal({ engine: '', operation: '', stage: 'canonical', reason })
  const onDrop = () => refused('too-many-connections')
  const tls = createFront(config, server, { onRefused: () => refused('tls-handshake'), log })
  /** The server that accepts the connections. */
  const entry = tls?.server ?? server
  entry.maxConnections = maxConnections
  entry.on('drop', onDrop)
  const connections = watchConnections(server)
  const counts = { open: 0, ended: 0 }
  const startTimeouts = createStartTimeouts(server)
  const requests = createSwitch({ handle, upgrades }, connections)
  server.on('request', requests.handle)
  server.on('upgrade', requests.upgrade)
  server.on('clientError', (error, socket: Socket) => refuseUnreadable(error, socket, refused))
  // RFC 9110 section 10.1.1: `100 Continue` is sent only after the stages that check the headers alone have accepted the request.
  for (const event of ['checkContinue', 'checkExpectation'])
    server.on(event, (request: object, response: object) => server.emit('request', request, response))
  return {
    listen: async ({ host, port }) => {
      entry.listen({ host, port, backlog: MOST_WAITING })
      await once(entry, 'listening')
      if (tls !== null) startTimeouts()
      return urlOf(entry, tls !== null)
    },
    serveConnection: (connection) => {
      if (connections.count() + (tls?.handshakes() ?? 0) >= maxConnections) {
        onDrop()
        connection.destroy()
        return
      }
      startTimeouts()
      counts.open += 1
      connection.once('close', () => {
        counts.open -= 1
        counts.ended += 1
      })
      // The HTTP server sets this on connections that it accepts itself.
      connection.allowHalfOpen = true
      entry.emit('connection', connection)
    },
    serve: requests.serve,
    load: connections.load,
    connectionCounts: () => ({ ...counts }),
    close: async (deadline, lastAccepted) => {
      connections.endBusy()
      await Promise.race([lastAccepted ?? connections.calm(config.timeouts.drain), deadline])
      // The `close` method of an HTTP server cuts idle connections, on which a request may be on its way.
      NetServer.prototype.close.call(entry)
      if (tls !== null) await Promise.race([tls.calm(), wait(HANDSHAKE_LINGER_MS), deadline])
      const ended = connections.endAll()
      const sweep = setInterval(connections.sweep, 50)
      const isOver = await Promise.race([ended.then(() => true), deadline.then(() => false)])
      clearInterval(sweep)
      const cut = isOver ? NO_LOAD : connections.load()
      server.closeAllConnections()
      connections.cut()
      tls?.close()
      // Stops the timer that checks the timeouts of connections.
      server.close()
      return cut
    },
  }
}

/** How long the end of a drain waits for TLS handshakes in progress. */
const HANDSHAKE_LINGER_MS = 1000

/** Creates the TLS listener that performs handshakes in front of the HTTP server. Returns null if `listen.tls` is not set. */
function createFront(
  { listen, timeouts }: Config,
  server: Server,
  { onRefused, log }: { readonly onRefused: () => void } & Pick<ListenerOptions, 'log'>,
): TlsListener | null {
  if (listen.tls === null) return null
  return createTlsListener(listen.tls, {
    onConnection: (socket) => server.emit('connection', socket),
    onRefused,
    withinMs: limitsOf(timeouts.request).headersTimeout,
    ...onRenewal('listen.tls', log),
  })
}

/**
 * Returns a function that starts the request timeouts. Node.js starts them at the event `listening`, so the event must be emitted
 * for a server that does not listen itself.
 */
function createStartTimeouts(server: Server): () => void {
  let isStarted = false
  return () => {
    if (!isStarted) server.emit('listening')
    isStarted = true
  }
}

function limitsOf(requestMs: number) {
  return {
    maxHeaderSize: 16 * 1024,
    keepAliveTimeout: 72_000,
    requestTimeout: requestMs,
    // Node.js throws if headersTimeout is longer than requestTimeout.
    headersTimeout: Math.min(10_000, requestMs),
    connectionsCheckingInterval: 2000,
    requireHostHeader: false,
  }
}

interface ActiveHandler {
  readonly handle: RequestListener
  readonly upgrades: Upgrades
  underWay: number
  /** Called after the last response of a handler that was replaced. */
  onOver: (() => void) | null
}

interface Switch extends Pick<PublicListener, 'serve'> {
  readonly handle: RequestListener
  readonly acceptsUpgrade: (request: IncomingMessage) => boolean
  readonly upgrade: (request: IncomingMessage, socket: Duplex, firstBytes: Buffer) => void
}

/** Sends each request to the handler in force when it arrives, and counts the requests of each handler that have not ended. */
function createSwitch(first: Pick<ListenerOptions, 'handle' | 'upgrades'>, connections: Connections): Switch {
  let served = activeHandlerOf(first.handle, first.upgrades)

  function begin(at: ActiveHandler, request: IncomingMessage, response: ServerResponse): void {
    at.underWay += 1
    connections.begun(request, response)
    // Emitted once for every response, including an aborted one.
    response.on('close', () => {
      connections.ended(request, response)
      at.underWay -= 1
      if (at.underWay === 0) at.onOver?.()
    })
  }

  return {
    handle: (request, response) => {
      const at = served
      begin(at, request, response)
      at.handle(request, response)
    },
    // A response to an earlier request of the connection must be written before another response can use the connection.
    acceptsUpgrade: (request) => !connections.isBusy(request.socket) && served.upgrades.accepts(request),
    upgrade: (request, socket, firstBytes) => {
      const response = responseFor(request, socket, firstBytes)
      if (response === null) return
      begin(served, request, response)
      served.upgrades.handle(request, response)
    },
    serve: (handle, upgrades) => {
      const before = served
      served = activeHandlerOf(handle, upgrades)
      if (before.underWay === 0) return Promise.resolve()
      return new Promise((resolve) => (before.onOver = resolve))
    },
  }
}

function activeHandlerOf(handle: RequestListener, upgrades = NO_UPGRADES): ActiveHandler {
  return { handle, upgrades, underWay: 0, onOver: null }
}

/**
 * Creates the response to an upgrade. Node.js has detached its parser and all its listeners from the socket, so the response and the
 * end of the connection are handled here. The response emits `close` when the connection ends. Until then the connection is busy.
 */
function responseFor(request: IncomingMessage, socket: Duplex, firstBytes: Buffer): ServerResponse | null {
  socket.on('error', () => socket.destroy())
  if (!(socket instanceof Socket)) {
    socket.destroy()
    return null
  }
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  socket.on('drain', () => response.emit('drain'))
  // Not emitted for 101, because that response is never ended.
  response.on('finish', () => socket.destroySoon())
  if (firstBytes.length > 0) socket.unshift(firstBytes)
  return response
}

const NO_LOAD: ConnectionLoad = { connections: 0, busy: 0 }

/**
 * Refuses input that is not HTTP. It never becomes a request, so the response is written to the bare socket and the connection is
 * closed.
 */
function refuseUnreadable(
  error: Error & { readonly code?: string },
  socket: Socket,
  onUnreadable: (code: GatewayCode) => void,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isResponding(socket)) {
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
 * Returns whether a response to an earlier request is pending or in progress on this connection. The client would take the
 * gateway's response for that response or for a part of it. `_httpMessage` is Node's own current response, which its own error
 * handler checks too.
 */
function isResponding(socket: Socket & { readonly _httpMessage?: ServerResponse | null }): boolean {
  const response = socket._httpMessage
  return response !== undefined && response !== null && (response.headersSent || response.req.complete)
}

function codeOf(reason: string | undefined): GatewayCode {
  if (reason === 'HPE_HEADER_OVERFLOW') return 'GW_HEADERS_TOO_LARGE'
  if (reason === 'ERR_HTTP_REQUEST_TIMEOUT') return 'GW_REQUEST_TIMEOUT'
  if (reason === 'HPE_INVALID_METHOD') return 'GW_METHOD_UNKNOWN'
  return 'GW_BAD_REQUEST'
}
