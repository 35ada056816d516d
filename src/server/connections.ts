import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { acceptWaiting } from './accept-waiting.ts'

/**
 * How long a connection stays open without a request during a drain. This is enough for a request that was sent before the drain
 * began.
 */
const LINGER_MS = 1000

export interface ConnectionLoad {
  readonly connections: number
  /** Connections whose response is pending or in progress. */
  readonly busy: number
}

/** The connections of clients, and how they are closed in a drain. */
export interface Connections {
  /** Registers a request. Its response is in progress until `ended` is called. */
  readonly begun: (request: IncomingMessage, response: ServerResponse) => void
  readonly ended: (request: IncomingMessage, response: ServerResponse) => void
  /** Makes the responses in progress close their connections. */
  readonly endBusy: () => void
  /**
   * Resolves when no connection waits to be accepted, or after half of the drain. Responses on connections that arrive in this time do
   * not close them. Otherwise their clients would reconnect at once, and this would never end.
   */
  readonly calm: (drainMs: number) => Promise<void>
  /** Makes every response close its connection from now on. Resolves when no connection is left. */
  readonly endAll: () => Promise<void>
  /** Closes the connections that have been idle for long enough since `endAll`. Must be called repeatedly. */
  readonly sweep: () => void
  readonly count: () => number
  /** Returns whether a response is pending or in progress on a connection, or the connection is unknown. */
  readonly isBusy: (socket: Socket) => boolean
  /** Closes all connections at once, including upgraded ones, which the HTTP server no longer knows. */
  readonly cut: () => void
  readonly load: () => ConnectionLoad
}

interface ClientConnection {
  /** The newest response in progress. Null if no response is in progress. */
  response: ServerResponse | null
  /** When the last response ended or the drain began, and the number of bytes received until then. */
  idleSinceMs: number
  bytesRead: number
  /** Whether the newest response closes the connection. */
  isEnding: boolean
}

export function watchConnections(server: Server): Connections {
  const open = new Map<Socket, ClientConnection>()
  let areEnding = false
  let accepted = 0
  let onNoneLeft: (() => void) | null = null

  server.on('connection', (socket: Socket) => {
    accepted += 1
    open.set(socket, { response: null, idleSinceMs: performance.now(), bytesRead: 0, isEnding: areEnding })
    socket.once('close', () => {
      open.delete(socket)
      if (open.size === 0) onNoneLeft?.()
    })
  })
  return {
    begun: ({ socket }, response) => {
      const connection = open.get(socket)
      if (connection === undefined) return
      if (connection.isEnding) {
        // An earlier response on this connection that has not started must not close it before this response.
        if (connection.response?.headersSent === false) connection.response.shouldKeepAlive = true
        response.shouldKeepAlive = false
      }
      connection.response = response
    },
    ended: ({ socket }, response) => {
      const connection = open.get(socket)
      if (connection?.response !== response) return
      // An idle connection keeps no response. The listeners of its last response would keep that request and its body in memory.
      connection.response = null
      if (areEnding) rest(socket, connection)
    },
    endBusy: () => {
      for (const connection of open.values()) if (connection.response !== null) end(connection)
    },
    calm: (drainMs) => acceptWaiting(() => accepted, drainMs),
    endAll: () => {
      areEnding = true
      for (const [socket, connection] of open) {
        end(connection)
        rest(socket, connection)
      }
      return open.size === 0 ? Promise.resolve() : new Promise((resolve) => (onNoneLeft = resolve))
    },
    sweep: () => {
      const untilMs = performance.now() - LINGER_MS
      for (const [socket, connection] of open) if (isIdle(socket, connection, untilMs)) socket.destroy()
    },
    count: () => open.size,
    isBusy: (socket) => open.get(socket)?.response !== null,
    cut: () => {
      for (const socket of open.keys()) socket.destroy()
    },
    load: () => ({
      connections: open.size,
      busy: [...open.values()].filter(({ response }) => response !== null).length,
    }),
  }
}

function end(connection: ClientConnection): void {
  connection.isEnding = true
  if (connection.response !== null) connection.response.shouldKeepAlive = false
}

function rest(socket: Socket, connection: ClientConnection): void {
  connection.idleSinceMs = performance.now()
  connection.bytesRead = socket.bytesRead
}

/** Returns whether a connection is idle. A connection that has received a part of a request is not idle. */
function isIdle(
  socket: Socket,
  { response, idleSinceMs, bytesRead }: ClientConnection,
  untilMs: number,
): boolean {
  return response === null && idleSinceMs <= untilMs && socket.bytesRead === bytesRead
}
