import type { Exchange } from '../pipeline/context.ts'
import { rewriteLinks } from '../proxy/wire/links.ts'

/** Whether the engine's links would lead elsewhere than where the client asked: another prefix, another address, or the node itself. */
export function hasOtherLinks(exchange: Exchange): boolean {
  const { parts, match, request } = exchange
  const { engine, operation } = match
  if (operation.links !== true) return false
  if (engine.requestPolicy.host === 'node' || engine.remotePrefix !== prefixOf(exchange)) return true
  const address = parts.publicAddress(request.raw)
  return address !== null && address !== `http://${request.host}`
}

/** Host and prefix to which the client's links lead, without the scheme. */
export function linkAddressOf(exchange: Exchange): string {
  return ownAddressOf(exchange, 'http:').replace(/^https?:\/\//, '')
}

/** A body whose links lead to one client's address, for the client of this exchange, who may use another. */
export function withMovedLinks(body: Buffer, from: string, exchange: Exchange): Buffer {
  return ['http:', 'https:'].reduce(
    (moved, scheme) => rewriteLinks(moved, `${scheme}//${from}`, ownAddressOf(exchange, scheme)),
    body,
  )
}

/** The body with its links at the address that the client uses. */
export function withClientLinks(exchange: Exchange, body: Buffer): Buffer {
  const own = ownAddressOf(exchange, 'http:')
  return originsOf(exchange).reduce(
    (rewritten, origin) => rewriteLinks(rewritten, origin + exchange.match.engine.remotePrefix, own),
    body,
  )
}

/** @param scheme where nothing says which one the client used */
function ownAddressOf(exchange: Exchange, scheme: string): string {
  const { parts, request } = exchange
  return (parts.publicAddress(request.raw) ?? `${scheme}//${request.host}`) + prefixOf(exchange)
}

/** What the engine takes for its own address: the Host it was sent, or what it was told of the client's. Which of the nodes it was is not known here. */
function originsOf({ parts, match: { engine }, upstreamRequest, request }: Exchange): readonly string[] {
  const nodes = (parts.config.engines[engine.name]?.nodes ?? []).map(({ url }) => new URL(url))
  const isNodes = engine.requestPolicy.host === 'node'
  const host = upstreamRequest.headers['host'] ?? request.host
  const sent = nodes.map((node) => (isNodes ? node.origin : `${node.protocol}//${host}`))
  if (engine.forwarded === 'none') return [...new Set(sent)]
  // Of a public address the engine is told no path.
  const [told = ''] =
    /^https?:\/\/[^/]*/.exec(parts.publicAddress(request.raw) ?? `http://${request.host}`) ?? []
  return [...new Set([...sent, told])]
}

function prefixOf({ parts: { config }, match: { engineName } }: Exchange): string {
  return engineName === null ? config.basePath : `${config.basePath}/engine/${engineName}`
}
