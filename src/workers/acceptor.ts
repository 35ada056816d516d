import type { SendHandle } from 'node:child_process'
import { createServer, type Server, type Socket } from 'node:net'
import { acceptWaiting, MOST_WAITING } from '../server/accept-waiting.ts'

/** Accepts connections in a worker, from the listening socket of the primary. */
export interface Acceptor {
  /**
   * Starts to accept. Returns the socket in the form in which it can be sent. Returns null and accepts nothing if this version of
   * Node.js has no such form.
   */
  readonly start: (shared: Server) => SendHandle | null
  /** Closes the socket in this process. Connections that wait are accepted by the other processes that have the socket. */
  readonly stop: () => void
  /** Closes the socket in this process when no connection waits. No other process may accept them any more. */
  readonly drain: () => Promise<void>
}

/** @param drainMs the longest time of a drain */
export function createAcceptor(onConnection: (connection: Socket) => void, drainMs: number): Acceptor {
  let server: Server | null = null
  let accepted = 0

  function stop(): void {
    server?.close()
    server = null
  }

  return {
    start: (shared) => {
      stop()
      const handle = handleOf(shared)
      if (handle === null) {
        shared.close()
        return null
      }
      server = createServer({ allowHalfOpen: true, noDelay: true }, (connection) => {
        accepted += 1
        onConnection(connection)
      })
      // Node.js has made `shared` listen with a queue of 511 connections. This call takes over its socket with the former length.
      server.listen(shared, MOST_WAITING)
      return handle
    },
    stop,
    drain: async () => {
      if (server !== null) await acceptWaiting(() => accepted, drainMs)
      stop()
    },
  }
}

/**
 * Returns the internal object behind a server. The primary receives a copy of it that is not polled, so that the socket stays open
 * in the primary, and the primary accepts nothing. A server that is sent would accept connections where it arrives.
 */
function handleOf(server: Server): SendHandle | null {
  const handle: unknown = Reflect.get(server, '_handle')
  return isHandle(handle) ? handle : null
}

function isHandle(value: unknown): value is SendHandle {
  return typeof value === 'object' && value !== null && 'getsockname' in value
}
