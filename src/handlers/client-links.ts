import type { FastifyRequest } from 'fastify'
import type { Exchange } from '../pipeline/context.ts'
import { engineNameOf } from '../pipeline/match.ts'
import { rewriteLinks } from '../proxy/wire/links.ts'

/** Whether the engine's links would lead elsewhere than where the client asked: another prefix, another address, or the node itself. */
export function hasOtherLinks({ parts, match: { engine, operation }, request }: Exchange): boolean {
  if (operation.links !== true) return false
  if (engine.requestPolicy.host === 'node' || engine.remotePrefix !== prefixOf(request)) return true
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
function ownAddressOf({ parts, request }: Exchange, scheme: string): string {
  return (parts.publicAddress(request.raw) ?? `${scheme}//${request.host}`) + prefixOf(request)
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

function prefixOf(request: FastifyRequest): string {
  const { config, url = '' } = request.routeOptions
  const prefix = url.slice(0, url.length - (config.operation?.template.length ?? 0))
  return config.named === true ? prefix.replace(':engineName', engineNameOf(request)) : prefix
}
