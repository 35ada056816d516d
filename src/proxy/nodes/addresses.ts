import { lookup as askSystem, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'

/** How long resolved addresses are used. The system's resolver returns no time to live. */
const FRESH_MS = 30_000
/** How long a connection waits for the resolver if earlier addresses exist. A slow resolver must not use up the time for the connection. */
const PATIENCE_MS = 300

/** Resolves a host name to all its addresses. */
export type ResolveHost = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void

/** The addresses of one host. If its name no longer resolves, the last resolved addresses stay in use. */
export interface Addresses {
  /** The lookup function for `net.connect`. */
  readonly lookup: LookupFunction
  /** Makes the next connection resolve the name again. Call it after a connection failed. */
  readonly expire: () => void
}

export interface AddressesOptions {
  readonly now: () => number
  /** Default: the system's resolver. */
  readonly resolve?: ResolveHost | undefined
}

export function createAddresses({ now, resolve = askSystem }: AddressesOptions): Addresses {
  let good: LookupAddress[] = []
  let freshUntilMs = -Infinity
  const waiting: ((error: Error | null) => void)[] = []
  let patienceTimer: NodeJS.Timeout | undefined
  let isAsking = false

  function settle(error: Error | null): void {
    clearTimeout(patienceTimer)
    for (const respond of waiting.splice(0)) respond(error)
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
      const respond = (error: Error | null): void => {
        const [first] = good
        if (first === undefined) callback(error ?? new Error(`${hostname} has no address`), '')
        else if (options.all === true) callback(null, good)
        else callback(null, first.address, first.family)
      }
      if (now() < freshUntilMs) return respond(null)
      waiting.push(respond)
      if (waiting.length === 1 && good.length > 0) patienceTimer = setTimeout(settle, PATIENCE_MS, null)
      // Only one query runs at a time. Otherwise a resolver that hangs gets another query for each connection that times out on it.
      if (!isAsking) ask(hostname)
    },
    expire() {
      freshUntilMs = -Infinity
    },
  }
}
