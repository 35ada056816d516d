import type { Exchange } from '../pipeline/context.ts'
import { rewriteLinks } from '../proxy/wire/links.ts'

/** Returns whether the engine's links would differ from the address that the client used: another prefix, another host, or the node itself. */
export function hasOtherLinks(exchange: Exchange): boolean {
  const { parts, match, request } = exchange
  const { engine, operation } = match
  if (operation.links !== true) return false
  if (engine.requestPolicy.host === 'node' || engine.remotePrefix !== prefixOf(exchange)) return true
  const address = parts.publicAddress(request.raw)
  return address !== null && address !== `http://${request.host}`
}

/** Returns the host and prefix of links for the client, without the scheme. */
export function linkAddressOf(exchange: Exchange): string {
  return ownAddressOf(exchange, 'http:').replace(/^https?:\/\//, '')
}

/** Moves the links of a body from one client's address to the address that the client of this exchange uses. */
export function withMovedLinks(body: Buffer, from: string, exchange: Exchange): Buffer {
  // Other bodies have no links. They may have values of users with a member `href`.
  if (exchange.match.operation.links !== true) return body
  return ['http:', 'https:'].reduce(
    (moved, scheme) => rewriteLinks(moved, `${scheme}//${from}`, ownAddressOf(exchange, scheme)),
    body,
  )
}

/** Returns the body with its links changed to the address that the client uses. */
export function withClientLinks(exchange: Exchange, body: Buffer): Buffer {
  const own = ownAddressOf(exchange, 'http:')
  return originsOf(exchange).reduce(
    (rewritten, origin) => rewriteLinks(rewritten, origin + exchange.match.engine.remotePrefix, own),
    body,
  )
}

/** @param scheme used if nothing says which scheme the client used */
function ownAddressOf(exchange: Exchange, scheme: string): string {
  const { parts, request } = exchange
  return (parts.publicAddress(request.raw) ?? `${scheme}//${request.host}`) + prefixOf(exchange)
}

/**
 * Returns the addresses that the engine may use for itself: the `Host` of the request, or the client's address in the forwarded
 * headers. The node that served the request is not known here, so the addresses of all nodes are included.
 */
function originsOf({ parts, match: { engine }, upstreamRequest, request }: Exchange): readonly string[] {
  const nodes = (parts.config.engines[engine.name]?.nodes ?? []).map(({ url }) => new URL(url))
  const isNodes = engine.requestPolicy.host === 'node'
  const host = upstreamRequest.headers['host'] ?? request.host
  const sent = nodes.map((node) => (isNodes ? node.origin : `${node.protocol}//${host}`))
  if (engine.forwarded === 'none') return [...new Set(sent)]
  // The forwarded headers contain no path of the public address.
  const [told = ''] =
    /^https?:\/\/[^/]*/.exec(parts.publicAddress(request.raw) ?? `http://${request.host}`) ?? []
  return [...new Set([...sent, told])]
}

function prefixOf({ parts: { config }, match: { engineName } }: Exchange): string {
  return engineName === null ? config.basePath : `${config.basePath}/engine/${engineName}`
}
