import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { basePathOf } from '../config/base-path.ts'
import { GatewayError, ownText } from '../errors.ts'
import { admit } from '../pipeline/admit.ts'
import { NO_BYTES } from '../pipeline/context.ts'
import { authenticatePassthrough } from '../pipeline/authenticate-caller.ts'
import { notFound } from '../pipeline/not-found.ts'
import { ownHeadersOf } from '../pipeline/observe.ts'
import type { Application, Dependencies } from '../pipeline/dependencies.ts'
import { hookOf } from '../pipeline/request-stage.ts'
import { createAffinity } from '../proxy/passthrough/affinity.ts'
import { createResponseHeaders } from '../proxy/passthrough/response-headers.ts'
import { forwardedHeaders } from '../proxy/wire/forwarded.ts'
import { type ParsedHeaders, upstreamHeaders } from '../proxy/wire/headers.ts'
import { targetPathOf } from '../request/target.ts'
import { handshakeHeadersOf } from '../request/web-socket-handshake.ts'
import { createWebSocketRelay } from './web-sockets.ts'
import type { UpstreamRequest } from '../proxy/wire/upstream-request.ts'

/** Returns whether the connection of a request can be upgraded. */
type IsUpgrade = (request: Pick<FastifyRequest, 'raw'>) => boolean

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * Forwards every path under a prefix to the nodes of an application that is not part of the engine's API. Bodies and responses pass
 * unchanged. The path of the nodes replaces the prefix.
 */
export function registerPassthrough(
  app: FastifyInstance,
  dependencies: Dependencies,
  isUpgrade: IsUpgrade,
): void {
  for (const application of dependencies.applications)
    app.register(async function passthrough(scope) {
      scope.addHook('onRequest', authenticatePassthrough(dependencies, application, isUpgrade))
      scope.addHook('onRequest', refuseGuarded(application))
      scope.addHook('onRequest', hookOf(admit(dependencies)))
      const handler = passOn(dependencies, application, isUpgrade)
      const bodyLimit = dependencies.config.limits.deploymentBody
      for (const url of [application.prefix, `${application.prefix}/*`])
        scope.route({ method: METHODS, url, bodyLimit, handler })
    })
}

/** Refuses paths that the application must not get, before a byte of the body is read. Handshakes of WebSockets are requests, too. */
function refuseGuarded({ prefix, guard }: Application) {
  return async function refuseGuardedPath({ context, method, originalUrl }: FastifyRequest): Promise<void> {
    // The router also accepts a prefix that is spelt with `%`, but then the path for the application would be cut in the wrong place.
    if (!originalUrl.startsWith(prefix)) notFound()
    const rule = guard(method, targetPathOf(originalUrl))
    if (rule === null) return
    // The refusal does not depend on the authorization records, so it is one of the limits.
    context.stage = 'admit'
    throw new GatewayError('GW_NOT_SERVED', { rule: ownText(rule) })
  }
}

function passOn(dependencies: Dependencies, application: Application, isUpgrade: IsUpgrade) {
  const { publicAddress } = dependencies
  const { prefix, upstream, webSockets } = application
  const relayHandshake =
    webSockets === null ? null : createWebSocketRelay(dependencies, application, webSockets)
  const names = upstream.nodes().map(({ node }) => node)
  const affinity = names.length > 1 ? createAffinity(prefix, names) : null
  const requestOf = createRequestOf(application)
  const responseHeaders = createResponseHeaders(application)

  return async function serve(request: FastifyRequest, reply: FastifyReply): Promise<undefined> {
    const { context, headers, raw, originalUrl } = request
    context.stage = 'forward'
    const { host = '' } = headers
    const address = publicAddress(raw) ?? `http://${host}`
    const wanted = affinity?.nodeOf(headers.cookie) ?? null
    const isSecure = address.startsWith('https:')
    const shownHeaders = (answered: ParsedHeaders, node: string): ParsedHeaders => {
      const shown = responseHeaders(answered, { host, path: targetPathOf(originalUrl) })
      return affinity?.remember(shown, { node, wanted, isSecure }) ?? shown
    }
    const upstreamRequest = { ...requestOf(request, address), preferredNode: wanted, shownHeaders }
    const ownHeaders = ownHeadersOf(context)
    const relay = (sent: UpstreamRequest) => upstream.relay(sent, reply.raw, ownHeaders)
    const relayed =
      relayHandshake !== null && isUpgrade(request)
        ? await relayHandshake({
            request,
            response: reply.raw,
            ownHeaders,
            relay: () => relay(handshakeOf(upstreamRequest, headers)),
            shownHeaders,
          })
        : await relay(upstreamRequest)
    // Until this point an error can still be sent. From here on the response is already written.
    reply.hijack()
    context.origin = { kind: 'node', node: relayed.node, body: NO_BYTES }
    // The bytes of a WebSocket are counted while they pass.
    if (relayed.upgraded === undefined) context.writtenBytes = relayed.bytes
  }
}

/** Returns the handshake for a WebSocket: the request with the headers of the handshake added. */
function handshakeOf(upstreamRequest: UpstreamRequest, headers: IncomingHttpHeaders): UpstreamRequest {
  return {
    ...upstreamRequest,
    headers: { ...upstreamRequest.headers, ...handshakeHeadersOf(headers) },
    upgrade: 'websocket',
  }
}

/** Returns the request for the application. Its path is as the client sent it, because a slash at the end may have a meaning there. */
function createRequestOf({ prefix, nodes, requestPolicy, forwarded }: Application) {
  const [first = ''] = nodes
  const isRemoved = basePathOf(first) === ''
  const removed: Readonly<Record<string, string>> =
    isRemoved && forwarded !== 'none' ? { 'x-forwarded-prefix': prefix } : {}
  return ({ id, context, method, raw, originalUrl, body }: FastifyRequest, address: string) => {
    const path = originalUrl.slice(prefix.length)
    return {
      user: context.principal?.userId,
      method,
      path: isRemoved && !path.startsWith('/') ? `/${path}` : path,
      headers: {
        ...upstreamHeaders(raw.rawHeaders, requestPolicy),
        ...forwardedHeaders(forwarded, { client: context.address, address }),
        ...removed,
        'x-request-id': id,
      },
      body: Buffer.isBuffer(body) && body.length > 0 ? body : null,
      retry: method === 'GET' || method === 'HEAD' ? 'always' : 'unsent',
    } as const
  }
}
