import { type buildConnector, type Dispatcher, Pool } from 'undici'
import { CarryingClient } from './node-connection.ts'

export interface ConnectionPoolOptions extends Pool.Options {
  readonly connect: buildConnector.connector
}

/** The connections to one node: those that are kept between requests, and those that are opened for one request each. */
export class ConnectionPool {
  readonly #kept: Pool
  readonly #openSingle: () => Pool
  /** Null: none was needed yet. */
  #single: Pool | null = null

  /** @param options how many there may be of each kind, and their bounds */
  constructor(origin: string, { connect, ...options }: ConnectionPoolOptions) {
    const factory = (url: URL, own: object): Dispatcher => CarryingClient.open(url, own, connect)
    this.#kept = new Pool(origin, { ...options, factory })
    // Undici's way to say that no connection is used twice.
    this.#openSingle = () => new Pool(origin, { ...options, factory, pipelining: 0 })
  }

  get closed(): boolean {
    return this.#kept.closed
  }

  /** @param isSingle whether the request needs a connection of its own */
  dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
    isSingle: boolean,
  ): boolean {
    // A closed one refuses by itself.
    if (!isSingle || this.closed) return this.#kept.dispatch(options, handler)
    this.#single ??= this.#openSingle()
    return this.#single.dispatch(options, handler)
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    await Promise.all([this.#kept.close(), this.#single?.close()])
  }

  /** Cuts what is under way. */
  async destroy(): Promise<void> {
    await Promise.all([this.#kept.destroy(), this.#single?.destroy()])
  }
}
