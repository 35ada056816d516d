import type { IncomingMessage, RequestListener } from 'node:http'

/** The requests whose connection may be upgraded to another protocol. */
export interface Upgrades {
  /** Returns false for a request that is handled like one without `Upgrade`. */
  readonly accepts: (request: IncomingMessage) => boolean
  /** Handles a request that `accepts` accepted. Unless the response has the status 101, the connection is closed after it. */
  readonly handle: RequestListener
}

export const NO_UPGRADES: Upgrades = {
  accepts: () => false,
  handle: () => {
    throw new Error('No upgrade was accepted')
  },
}
