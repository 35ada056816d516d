import type { HandlerContext } from '../pipeline/context.ts'
import { rewriteLinks } from '../proxy/wire/links.ts'

/** Returns whether the engine's links would differ from the address that the client used: another prefix, another host, or the node itself. */
export function hasOtherLinks(handlerContext: HandlerContext): boolean {
  const { dependencies, context, request } = handlerContext
  const { engine, operation } = context
  if (operation.links === undefined) return false
  if (engine.requestPolicy.host === 'node' || engine.remotePrefix !== prefixOf(handlerContext)) return true
  const address = dependencies.publicAddress(request.raw)
  return address !== null && address !== `http://${request.host}`
}

/** Returns the host and prefix of links for the client, without the scheme. */
export function linkAddressOf(handlerContext: HandlerContext): string {
  return ownAddressOf(handlerContext, 'http:').replace(/^https?:\/\//, '')
}

/** Moves the links of a body from one client's address to the address that the client of this exchange uses. */
export function withMovedLinks(body: Buffer, from: string, handlerContext: HandlerContext): Buffer {
  // Other bodies have no links. They may have values of users with a member `href`.
  if (handlerContext.context.operation.links === undefined) return body
  return ['http:', 'https:'].reduce(
    (moved, scheme) => rewriteLinks(moved, `${scheme}//${from}`, ownAddressOf(handlerContext, scheme)),
    body,
  )
}

/** Returns the body with its links changed to the address that the client uses. */
export function withClientLinks(handlerContext: HandlerContext, body: Buffer): Buffer {
  const own = ownAddressOf(handlerContext, 'http:')
  return originsOf(handlerContext).reduce(
    (rewritten, origin) => rewriteLinks(rewritten, origin + handlerContext.context.engine.remotePrefix, own),
    body,
  )
}

/** @param scheme used if nothing says which scheme the client used */
function ownAddressOf(handlerContext: HandlerContext, scheme: string): string {
  const { dependencies, request } = handlerContext
  return (dependencies.publicAddress(request.raw) ?? `${scheme}//${request.host}`) + prefixOf(handlerContext)
}

/**
 * Returns the addresses that the engine may use for itself: the `Host` of the request, or the client's address in the forwarded
 * headers. The node that served the request is not known here, so the addresses of all nodes are included.
 */
function originsOf({
  dependencies,
  context: { engine },
  upstreamRequest,
  request,
}: HandlerContext): readonly string[] {
  const nodes = (dependencies.config.engines[engine.name]?.nodes ?? []).map(({ url }) => new URL(url))
  const isNodes = engine.requestPolicy.host === 'node'
  const host = upstreamRequest.headers['host'] ?? request.host
  const sent = nodes.map((node) => (isNodes ? node.origin : `${node.protocol}//${host}`))
  if (engine.forwarded === 'none') return [...new Set(sent)]
  // The forwarded headers contain no path of the public address.
  const [told = ''] =
    /^https?:\/\/[^/]*/.exec(dependencies.publicAddress(request.raw) ?? `http://${request.host}`) ?? []
  return [...new Set([...sent, told])]
}

function prefixOf({
  dependencies: { config },
  context: { engineName, isEngineNamed },
}: HandlerContext): string {
  return isEngineNamed ? `${config.basePath}/engine/${engineName}` : config.basePath
}
