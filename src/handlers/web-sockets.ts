import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { EngineRefusal, GatewayError, operatorText } from '../errors.ts'
import { rateKeyOf } from '../pipeline/admit.ts'
import { setPrincipal } from '../pipeline/context.ts'
import { identifyAgain } from '../pipeline/decide-again.ts'
import type { Application, Dependencies } from '../pipeline/dependencies.ts'
import { createPrincipalOf } from '../pipeline/authenticate-caller.ts'
import { fallbackOf } from '../pipeline/locate-request.ts'
import type { NoPlace, OpenWebSockets, SocketPlace } from '../proxy/passthrough/open-web-sockets.ts'
import { spliceSockets } from '../proxy/passthrough/splice-sockets.ts'
import type { ParsedHeaders } from '../proxy/wire/headers.ts'
import type { RelayResult } from '../proxy/wire/upstream-request.ts'
import { ANONYMOUS } from '../request/principal.ts'
import { targetPathOf } from '../request/target.ts'
import { acceptedHandshakeOf, isWebSocketHandshake } from '../request/web-socket-handshake.ts'

/**
 * Returns whether a request is a handshake for an application with WebSockets. The application with the longest prefix counts, as in
 * the router.
 */
export function createUpgradeFilter(
  applications: readonly Pick<Application, 'prefix' | 'webSockets'>[],
): (request: IncomingMessage) => boolean {
  const longestFirst = applications.toSorted((one, other) => other.prefix.length - one.prefix.length)
  if (applications.every(({ webSockets }) => webSockets === null)) return () => false
  return function acceptsUpgrade(request) {
    const path = targetPathOf(request.url ?? '')
    const application = longestFirst.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`))
    return application !== undefined && application.webSockets !== null && isWebSocketHandshake(request)
  }
}

export interface UpgradeExchange {
  readonly request: FastifyRequest
  readonly response: ServerResponse
  /** The gateway's own headers of every response. */
  readonly ownHeaders: Readonly<Record<string, string>>
  /** Sends the handshake to a node. */
  readonly relay: () => Promise<RelayResult>
  /** Returns the headers of the response for the client, with its cookies. */
  readonly shownHeaders: (headers: ParsedHeaders, node: string) => ParsedHeaders
}

/** Sends handshakes to an application, and connects its sockets with those of clients. */
export function createWebSocketRelay(
  { config, engines, metrics, toolEndpoint, ceilingOf }: Dependencies,
  { prefix, auth }: Application,
  webSockets: OpenWebSockets,
): (exchange: UpgradeExchange) => Promise<RelayResult> {
  const identify = createPrincipalOf({ config, toolEndpoint })

  function refuse(reason: NoPlace): never {
    metrics.webSocketRefused({ engine: prefix, reason })
    throw refusalOf(reason)
  }

  /** Returns whether the client of an open socket would be authenticated as the same user now, without a ceiling. */
  async function isPermitted(request: FastifyRequest): Promise<boolean> {
    const { principal } = request.context
    if (auth === 'none') return true
    if (principal === null) return false
    try {
      const { authenticator } = fallbackOf(engines)
      const current = await identifyAgain({ authenticator, identify }, principal, request)
      if (current.userId !== principal.userId || ceilingOf(current) !== 'all') return false
      setPrincipal(request.context, current)
      return true
    } catch (error) {
      if (isRefusalOfCaller(error)) return false
      throw error
    }
  }

  function connect(exchange: UpgradeExchange, relayed: RelayResult, place: SocketPlace): void {
    const { request, response, ownHeaders, shownHeaders } = exchange
    const { upgraded, node } = relayed
    const { socket } = response
    if (upgraded === undefined || socket === null) throw new GatewayError('GW_UPSTREAM_FAILED')
    const accepted = acceptedHandshakeOf(request.headers, upgraded.headers)
    if (accepted === null) {
      metrics.webSocketRefused({ engine: prefix, reason: 'invalid' })
      throw new GatewayError('GW_UPSTREAM_INVALID', {
        message: operatorText`The application did not accept the WebSocket handshake as RFC 6455 requires`,
      })
    }
    if (webSockets.isDraining) refuse('draining')
    const { 'set-cookie': cookies } = shownHeaders(upgraded.headers, node)
    response.writeHead(101, {
      ...ownHeaders,
      ...(cookies !== undefined && { 'set-cookie': cookies }),
      ...accepted,
    })
    response.flushHeaders()
    const close = spliceSockets({
      client: socket,
      node: upgraded.socket,
      idleMs: webSockets.limits.idleMs,
      onBytes: (length) => (request.context.writtenBytes += length),
      onEnd: (reason) => {
        metrics.webSocketEnded({ engine: prefix, reason })
        place.release()
      },
    })
    place.watch({ close, isPermitted: () => isPermitted(request) })
  }

  return async function relayHandshake(exchange) {
    const { context } = exchange.request
    const place = webSockets.take(rateKeyOf(context.principal ?? ANONYMOUS, context))
    if (typeof place === 'string') refuse(place)
    let relayed: RelayResult | null = null
    try {
      relayed = await exchange.relay()
      if (relayed.upgraded === undefined) {
        metrics.webSocketRefused({ engine: prefix, reason: 'not-upgraded' })
        place.release()
      } else connect(exchange, relayed, place)
      return relayed
    } catch (error) {
      if (relayed === null) metrics.webSocketRefused({ engine: prefix, reason: 'failed' })
      relayed?.upgraded?.socket.destroy()
      place.release()
      throw error
    }
  }
}

/** Returns whether the credentials of a client were refused, unlike a failure to check them. */
function isRefusalOfCaller(error: unknown): boolean {
  return error instanceof EngineRefusal || (error instanceof GatewayError && error.statusCode === 401)
}

function refusalOf(reason: NoPlace): GatewayError {
  if (reason === 'draining') return new GatewayError('GW_DRAINING', { retryAfterSeconds: 1 })
  if (reason === 'user')
    return new GatewayError('GW_RATE_LIMITED', {
      message: operatorText`Too many open WebSockets of this user`,
      retryAfterSeconds: 5,
    })
  return new GatewayError('GW_OVERLOADED', {
    message: operatorText`The gateway is overloaded: the application has too many open WebSockets`,
    retryAfterSeconds: 5,
  })
}
