import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { acceptWaiting } from './accept-waiting.ts'

/** So long a connection stays open without a request: long enough for one that was on its way when the drain began. */
const LINGER_MS = 1000

export interface ConnectionLoad {
  readonly connections: number
  /** Connections on which an answer is due or on its way. */
  readonly busy: number
}

/** The connections of clients, and how they end in a drain. */
export interface Connections {
  /** A request has come. Its answer is over when `ended` is called. */
  readonly begun: (request: IncomingMessage, response: ServerResponse) => void
  readonly ended: (request: IncomingMessage, response: ServerResponse) => void
  /** The answers that are under way close their connections. */
  readonly endBusy: () => void
  /**
   * Resolves when no connection waits to be accepted, or a second later. Answers to those that come meanwhile do not
   * close them, or their clients would be back at once, and there would be no end.
   */
  readonly calm: () => Promise<void>
  /** From now on each answer closes its connection. Resolves when none is left. */
  readonly endAll: () => Promise<void>
  /** Cuts those that have been idle for long enough since then. To be called again and again. */
  readonly sweep: () => void
  readonly count: () => number
  /** What there is now. */
  readonly load: () => ConnectionLoad
}

interface Connection {
  /** The newest one under way; null: none. */
  answer: ServerResponse | null
  /** When the last answer was over, or the drain began; and what had come until then. */
  idleSinceMs: number
  bytesRead: number
  /** Its newest answer closes it. */
  isEnding: boolean
}

export function watchConnections(server: Server): Connections {
  const open = new Map<Socket, Connection>()
  let areEnding = false
  let accepted = 0
  let onNoneLeft: (() => void) | null = null

  server.on('connection', (socket: Socket) => {
    accepted += 1
    open.set(socket, { answer: null, idleSinceMs: performance.now(), bytesRead: 0, isEnding: areEnding })
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
        // Another one that is still to be answered on this connection must not close it before this one.
        if (connection.answer?.headersSent === false) connection.answer.shouldKeepAlive = true
        response.shouldKeepAlive = false
      }
      connection.answer = response
    },
    ended: ({ socket }, response) => {
      const connection = open.get(socket)
      if (connection?.answer !== response) return
      // An idle connection holds nothing: what listens to its last answer would hold that request and its body.
      connection.answer = null
      if (areEnding) rest(socket, connection)
    },
    endBusy: () => {
      for (const connection of open.values()) if (connection.answer !== null) end(connection)
    },
    calm: () => acceptWaiting(() => accepted),
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
    load: () => ({
      connections: open.size,
      busy: [...open.values()].filter(({ answer }) => answer !== null).length,
    }),
  }
}

function end(connection: Connection): void {
  connection.isEnding = true
  if (connection.answer !== null) connection.answer.shouldKeepAlive = false
}

function rest(socket: Socket, connection: Connection): void {
  connection.idleSinceMs = performance.now()
  connection.bytesRead = socket.bytesRead
}

/** One of which a part of a request has come is not idle. */
function isIdle(socket: Socket, { answer, idleSinceMs, bytesRead }: Connection, untilMs: number): boolean {
  return answer === null && idleSinceMs <= untilMs && socket.bytesRead === bytesRead
}
