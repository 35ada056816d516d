import type { IncomingMessage } from 'node:http'
import type { Config } from '../config/schema.ts'
import { HOST } from '../config/host-pattern.ts'
import { createIsTrustedPeer } from './client-address.ts'

/** The address before the base path under which a client reaches the gateway, with its scheme; null: `Host` says it, by HTTP. */
export type PublicAddress = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string | null

/**
 * The configured address, else what a trusted proxy says in `X-Forwarded-Proto` and `X-Forwarded-Host`: one value each, for which of
 * several is the client's cannot be told. A host that is not served is no host. From other peers the headers count for nothing.
 * The headers have no standard: RFC 7239 (`Forwarded`) is not read here.
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
    return `${scheme}://${typeof forwarded === 'string' && isServed(forwarded, served) ? forwarded : host}`
  }
}

function isServed(host: string, served: ReadonlySet<string>): boolean {
  return HOST.test(host) && (served.size === 0 || served.has(host.toLowerCase()))
}
