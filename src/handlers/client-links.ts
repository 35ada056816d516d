import type { FastifyRequest } from 'fastify'
import type { Exchange } from '../pipeline/context.ts'
import { engineNameOf } from '../pipeline/match.ts'
import { rewriteLinks } from '../proxy/wire/links.ts'

/** Whether the engine's links would lead elsewhere than where the client asked: another prefix, or the node itself. */
export function hasOtherLinks({ match: { engine, operation }, request }: Exchange): boolean {
  if (operation.links !== true) return false
  return engine.requestPolicy.host === 'node' || engine.remotePrefix !== prefixOf(request)
}

/** Host and prefix that the client used, to which its links lead. */
export function linkAddressOf(request: FastifyRequest): string {
  return request.host + prefixOf(request)
}

/** A body whose links lead to one client's address, for a client that uses another. */
export function withMovedLinks(body: Buffer, from: string, to: string): Buffer {
  return ['http://', 'https://'].reduce(
    (moved, scheme) => rewriteLinks(moved, scheme + from, scheme + to),
    body,
  )
}

/** The body with its links at the address that the client used. */
export function withClientLinks(exchange: Exchange, body: Buffer): Buffer {
  const { request } = exchange
  const own = `http://${linkAddressOf(request)}`
  return originsOf(exchange).reduce(
    (rewritten, origin) => rewriteLinks(rewritten, origin + exchange.match.engine.remotePrefix, own),
    body,
  )
}

/** What the engine takes for its own address: the Host it was sent. Which of the nodes it was is not known here. */
function originsOf({ parts, match: { engine }, upstreamRequest, request }: Exchange): readonly string[] {
  const nodes = (parts.config.engines[engine.name]?.nodes ?? []).map(({ url }) => new URL(url))
  const isNodes = engine.requestPolicy.host === 'node'
  const host = upstreamRequest.headers['host'] ?? request.host
  return [...new Set(nodes.map((node) => (isNodes ? node.origin : `${node.protocol}//${host}`)))]
}

function prefixOf(request: FastifyRequest): string {
  const { config, url = '' } = request.routeOptions
  const prefix = url.slice(0, url.length - (config.operation?.template.length ?? 0))
  return config.named === true ? prefix.replace(':engineName', engineNameOf(request)) : prefix
}
