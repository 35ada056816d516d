import { lookup as askSystem, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'

/** The system's resolver tells no time to live. */
const FRESH_MS = 30_000
/** A resolver that says nothing must not use up the time for the connection itself. */
const PATIENCE_MS = 300

/** All addresses of a host. */
export type Resolve = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void

/** The addresses of one host. Where its name no longer resolves, the last good ones count. */
export interface Addresses {
  /** For `net.connect`. */
  readonly lookup: LookupFunction
  /** No connection was had: the next one asks anew. */
  readonly expire: () => void
}

export interface AddressesOptions {
  readonly now: () => number
  /** Default: the system's. */
  readonly resolve?: Resolve | undefined
}

export function createAddresses({ now, resolve = askSystem }: AddressesOptions): Addresses {
  let good: LookupAddress[] = []
  let freshUntilMs = -Infinity
  const waiting: ((error: Error | null) => void)[] = []
  let impatient: NodeJS.Timeout | undefined
  let isAsking = false

  function settle(error: Error | null): void {
    clearTimeout(impatient)
    for (const tell of waiting.splice(0)) tell(error)
  }
  function ask(hostname: string): void {
    isAsking = true
    resolve(hostname, { all: true }, function resolved(error, addresses) {
      isAsking = false
      if (error === null && addresses.length > 0) {
        good = addresses
        freshUntilMs = now() + FRESH_MS
      }
      settle(error)
    })
  }
  return {
    lookup(hostname, options, callback) {
      const give = (error: Error | null): void => {
        const [first] = good
        if (first === undefined) callback(error ?? new Error(`${hostname} has no address`), '')
        else if (options.all === true) callback(null, good)
        else callback(null, first.address, first.family)
      }
      if (now() < freshUntilMs) return give(null)
      waiting.push(give)
      if (waiting.length === 1 && good.length > 0) impatient = setTimeout(settle, PATIENCE_MS, null)
      // One at a time: a resolver that hangs would be asked once more for each connection that runs out of patience.
      if (!isAsking) ask(hostname)
    },
    expire() {
      freshUntilMs = -Infinity
    },
  }
}
