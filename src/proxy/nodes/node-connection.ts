import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { type buildConnector, Client, type Dispatcher } from 'undici'

/** What one client of a pool writes to: at most one connection at a time, replaced when it ends. */
export class Connection {
  #socket: Socket | null = null
  #isFresh = false

  /** A connection stands, or has ended since and has not been replaced. */
  get stood(): boolean {
    return this.#socket !== null
  }

  /** It has this moment come to stand: undici writes the request that waited for it before anything else happens. */
  get isFresh(): boolean {
    return this.#isFresh
  }

  /**
   * To be asked right after a request was written: whether the system took no byte of it, because the connection had
   * ended. The one system call that Node makes at once fails as a whole; what fails later may have sent a part. Of a
   * connection with TLS nothing is claimed.
   */
  tookNothing(): boolean {
    return this.#socket !== null && !(this.#socket instanceof TLSSocket) && this.#socket.errored !== null
  }

  /** A connector that keeps this up to date. */
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

/** A handler that is told which connection its request is written to. */
export interface Carried {
  carriedBy(connection: Connection): void
}

/** A client of a pool's that tells requests which connection they are given. */
export class CarryingClient extends Client {
  readonly #connection: Connection

  private constructor(origin: URL, options: Client.Options, connection: Connection) {
    super(origin, options)
    this.#connection = connection
  }

  static open(origin: URL, options: Client.Options, connect: buildConnector.connector): CarryingClient {
    const connection = new Connection()
    return new CarryingClient(origin, { ...options, connect: connection.watch(connect) }, connection)
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (isCarried(handler)) handler.carriedBy(this.#connection)
    return super.dispatch(options, handler)
  }
}

function isCarried(handler: object): handler is Carried {
  return 'carriedBy' in handler
}
