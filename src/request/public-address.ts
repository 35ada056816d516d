import type { IncomingMessage } from 'node:http'
import type { Config } from '../config/schema.ts'
import { isServedHost } from './canonical.ts'
import { createIsTrustedPeer } from './client-address.ts'

/**
 * Returns the address, with its scheme, under which a client reaches the gateway. It does not contain the base path. Null if the
 * address is `http` with the value of `Host`.
 */
export type PublicAddress = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string | null

/**
 * Creates a function that returns the configured address. Without one, it uses `X-Forwarded-Proto` and `X-Forwarded-Host` of a
 * trusted proxy. Each must have one value, because with several values the client's is unknown. A host that is not accepted is
 * ignored. The headers of other peers are ignored. They have no standard: RFC 7239 (`Forwarded`) is not read here.
 */
export function createPublicAddress({ listen, hosts }: Pick<Config, 'listen' | 'hosts'>): PublicAddress {
  const { publicUrl, trustedProxies, tls } = listen
  if (publicUrl !== null) return () => publicUrl
  const ownScheme = tls === null ? 'http' : 'https'
  const ownAddress: PublicAddress = ({ headers: { host = '' } }) => (tls === null ? null : `https://${host}`)
  if (trustedProxies.length === 0) return ownAddress
  const isTrusted = createIsTrustedPeer(trustedProxies)
  const served = new Set(hosts.map((host) => host.toLowerCase()))
  return (request) => {
    const { 'x-forwarded-proto': proto, 'x-forwarded-host': forwarded, host = '' } = request.headers
    if ((proto === undefined && forwarded === undefined) || !isTrusted(request)) return ownAddress(request)
    const scheme = proto === undefined ? ownScheme : proto === 'https' ? 'https' : 'http'
    const isAccepted = typeof forwarded === 'string' && isServedHost(forwarded, served)
    return `${scheme}://${isAccepted ? forwarded : host}`
  }
}
