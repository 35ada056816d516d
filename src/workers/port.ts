import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics/registry.ts'
import { acceptWaiting, MOST_WAITING } from '../server/accept-waiting.ts'
import { maxConnectionsFor } from '../server/file-descriptors.ts'
import { urlOf } from '../tls/listener-url.ts'
import { ProcessExitedError } from './calls.ts'
import { createSharing, type SharingWorker, type SocketCopy } from './sharing.ts'
import type { WorkerProcess } from './worker-process.ts'

/**
 * The public port. The primary accepts each connection, reads no data from it, and hands it over to a worker. While many connections
 * begin and end, the workers accept them from the same socket instead, because each handover needs messages.
 */
export interface Port {
  /** Starts to listen. Resolves to the URL, for example `http://127.0.0.1:8080`. */
  readonly listen: (at: Pick<Config['listen'], 'host' | 'port'>) => Promise<string>
  /** Hands connections over to this worker, too, until it drains or ends. */
  readonly add: (worker: ConnectionReceiver) => void
  /** Closes the port when no connection waits to be accepted, or at the deadline. Notifies each worker after its last connection. */
  readonly close: (deadline: Promise<unknown>) => Promise<void>
}

export type ConnectionReceiver = Pick<WorkerProcess, 'handOver' | 'endConnections' | 'draining'> &
  SharingWorker

interface PortOptions {
  readonly metrics: Pick<Metrics, 'refusal'>
  readonly log: Pick<Logger, 'error' | 'debug'>
  /** Default: the number that the limit of open files allows. */
  readonly maxConnections?: number
}

/** How long a connection waits for a free worker. The start of a worker takes a second, and up to 20 seconds on a busy processor. */
const WAIT_MS = 30_000
/** A signal to the process group also reaches this process, but possibly a little later than the worker that drains because of it. */
const LEAVE_MS = 50

/** Creates the public port. It hands one connection at a time to each worker, so that a busy worker gets fewer connections. */
export function createPort(config: Config, { metrics, log, ...options }: PortOptions): Port {
  // This process has no connections to nodes, so none are reserved.
  const { maxConnections = maxConnectionsFor({ ...config, engines: {}, passthrough: [] }) } = options
  const waiting = new Set<Socket>()
  const workers = new Set<ConnectionReceiver>()
  const free = new Set<ConnectionReceiver>()
  let accepted = 0
  /** The connections that this process has open. A server counts only its own, and the sharing replaces the server. */
  let open = 0
  let state: 'open' | 'closing' | 'closed' = 'open'
  let server = openServer()
  const sharing = createSharing({ workers, server: () => server, resume, log })

  function openServer(): Server {
    const opened = createServer({ pauseOnConnect: true, noDelay: true })
    opened.on('connection', (connection) => {
      accepted += 1
      if (open >= maxConnections) {
        metrics.refusal({ engine: '', operation: '', stage: 'canonical', reason: 'too-many-connections' })
        connection.destroy()
        return
      }
      open += 1
      connection.once('close', () => (open -= 1))
      connection.on('timeout', () => {
        if (waiting.delete(connection)) connection.destroy()
      })
      enqueue(connection)
    })
    return opened
  }

  function resume(copy: SocketCopy): void {
    server = openServer()
    server.on('error', onError)
    server.listen(copy, MOST_WAITING)
  }

  function onError(err: Error): void {
    log.error({ err }, 'cannot accept a connection')
  }

  function enqueue(connection: Socket): void {
    connection.setTimeout(WAIT_MS)
    waiting.add(connection)
    distribute()
  }

  function distribute(): void {
    for (const connection of waiting) {
      const [worker] = free
      if (worker === undefined) return
      waiting.delete(connection)
      free.delete(worker)
      void handOver(connection, worker)
    }
  }

  async function handOver(connection: Socket, worker: ConnectionReceiver): Promise<void> {
    try {
      const counts = await worker.handOver(connection)
      if (state === 'open') sharing.note(worker, counts)
    } catch (error) {
      if (error instanceof ProcessExitedError) {
        workers.delete(worker)
        enqueue(connection)
        return
      }
    }
    // Closes the connection in this process only. The worker keeps its own copy.
    connection.destroy()
    if (workers.has(worker)) free.add(worker)
    distribute()
    if (state === 'closed') free.forEach(release)
  }

  /** Notifies a worker that no more connections follow. It receives this message after all connections that were sent to it. */
  function release(worker: ConnectionReceiver): void {
    free.delete(worker)
    if (workers.delete(worker)) worker.endConnections()
  }

  return {
    listen: async ({ host, port }) => {
      server.listen({ host, port, backlog: MOST_WAITING })
      await once(server, 'listening')
      server.on('error', onError)
      return urlOf(server, config.listen.tls !== null)
    },
    add: (worker) => {
      sharing.end()
      workers.add(worker)
      free.add(worker)
      distribute()
      const onLeft = () => {
        if (state === 'open') release(worker)
      }
      const onDraining = () => {
        sharing.end()
        return wait(LEAVE_MS)
      }
      void worker.draining.then(onDraining).then(onLeft)
    },
    close: async (deadline) => {
      state = 'closing'
      sharing.end()
      await Promise.race([acceptWaiting(() => accepted, config.timeouts.drain), deadline])
      server.close()
      state = 'closed'
      free.forEach(release)
    },
  }
}
