import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { type buildConnector, Client, type Dispatcher } from 'undici'

/** The connection of one client of a pool. A client has at most one connection at a time, which is replaced when it ends. */
export class NodeConnection {
  #socket: Socket | null = null
  #isFresh = false

  /** True if a connection is open, or was closed and not yet replaced. */
  get hasSocket(): boolean {
    return this.#socket !== null
  }

  /**
   * True while the connector's callback runs for a new connection. In this callback undici writes the waiting request, before any
   * other event. Undici 8.12.4: `connect` in lib/dispatcher/client.js calls its resume function in the connector's callback.
   */
  get isFresh(): boolean {
    return this.#isFresh
  }

  /**
   * Returns true if the system accepted no byte of the request, because the connection was closed. Call it directly after a
   * request is written. Node immediately makes one system call (`uv_try_write`), which fails as a whole and sets
   * `socket.errored` before `write` returns. If a later call fails, a part may have been sent. Source: Node 24.21 (lib/net.js,
   * src/stream_base.cc); see github.com/libuv/libuv/pull/2321. Always false for TLS, because the encrypted bytes are written
   * later.
   */
  wroteNothing(): boolean {
    return this.#socket !== null && !(this.#socket instanceof TLSSocket) && this.#socket.errored !== null
  }

  /** Wraps a connector so that this object always has the current socket. */
  watch(connect: buildConnector.connector): buildConnector.connector {
    return (options, callback) => {
      this.#socket = null
      connect(options, (...outcome) => {
        const [error, socket] = outcome
        if (error === null) this.#socket = socket
        this.#isFresh = error === null
        callback(...outcome)
        this.#isFresh = false
      })
    }
  }
}

/** A handler that receives the connection of its request. */
export interface ConnectionAware {
  onConnection(connection: NodeConnection): void
}

/** A client of a pool that passes its connection to the handler of each request. */
export class ConnectionReportingClient extends Client {
  readonly #connection: NodeConnection

  private constructor(origin: URL, options: Client.Options, connection: NodeConnection) {
    super(origin, options)
    this.#connection = connection
  }

  static open(
    origin: URL,
    options: Client.Options,
    connect: buildConnector.connector,
  ): ConnectionReportingClient {
    const connection = new NodeConnection()
    return new ConnectionReportingClient(
      origin,
      { ...options, connect: connection.watch(connect) },
      connection,
    )
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (isConnectionAware(handler)) handler.onConnection(this.#connection)
    return super.dispatch(options, handler)
  }
}

function isConnectionAware(handler: object): handler is ConnectionAware {
  return 'onConnection' in handler
}
