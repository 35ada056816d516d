import { type buildConnector, type Dispatcher, Pool } from 'undici'
import { ConnectionReportingClient } from './node-connection.ts'

export interface ConnectionPoolOptions extends Pool.Options {
  readonly connect: buildConnector.connector
}

/** The connections to one node: persistent connections, and dedicated connections that are used for a single request. */
export class ConnectionPool {
  readonly #persistent: Pool
  readonly #openDedicated: () => Pool
  /** Null until a dedicated connection is needed. */
  #dedicated: Pool | null = null

  /** @param options the maximum number of connections of each kind, and their limits */
  constructor(origin: string, { connect, ...options }: ConnectionPoolOptions) {
    const factory = (url: URL, own: object): Dispatcher => ConnectionReportingClient.open(url, own, connect)
    this.#persistent = new Pool(origin, { ...options, factory })
    // `pipelining: 0` disables keep-alive, so no connection is used twice: undici docs, docs/api/Client.md.
    this.#openDedicated = () => new Pool(origin, { ...options, factory, pipelining: 0 })
  }

  get closed(): boolean {
    return this.#persistent.closed
  }

  /** @param isDedicated whether the request needs a new connection */
  dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
    isDedicated: boolean,
  ): boolean {
    // A closed pool rejects the request itself.
    if (!isDedicated || this.closed) return this.#persistent.dispatch(options, handler)
    this.#dedicated ??= this.#openDedicated()
    return this.#dedicated.dispatch(options, handler)
  }

  /** Closes the connections after the requests in flight have ended. */
  async close(): Promise<void> {
    await Promise.all([this.#persistent.close(), this.#dedicated?.close()])
  }

  /** Closes the connections and aborts the requests in flight. */
  async destroy(): Promise<void> {
    await Promise.all([this.#persistent.destroy(), this.#dedicated?.destroy()])
  }
}
