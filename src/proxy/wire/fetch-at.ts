import type { LookupAddress } from 'node:dns'
import { Agent, fetch, type RequestInit, type Response } from 'undici'

/** Sends a request to one of the addresses of a name. The name stays in `Host` and in TLS. Null: any address of the name. */
export function fetchAt(ip: LookupAddress | null, url: string, init: RequestInit): Promise<Response> {
  // Without pipelining, the connection is closed after the response.
  const dispatcher = new Agent({
    pipelining: 0,
    ...(ip !== null && {
      connect: {
        lookup: (_name, { all }, callback) =>
          all === true ? callback(null, [ip]) : callback(null, ip.address, ip.family),
      },
    }),
  })
  return fetch(url, { ...init, dispatcher })
}
