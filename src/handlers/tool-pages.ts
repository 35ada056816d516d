import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'
import { GatewayError, operatorText } from '../errors.ts'
import { hookOf, type RequestStage } from '../pipeline/request-stage.ts'
import { respondToPreflights, shareResponses } from '../pipeline/share-responses.ts'
import { type CorsHeaders, createCors } from '../request/cors.ts'

/** The headers that clients of tools in pages set and read. Source: the specification of the transport, and RFC 9728 for the challenge. */
const PROTOCOL_HEADERS: CorsHeaders = {
  allowed: [
    'Authorization',
    'Content-Type',
    'Last-Event-ID',
    'Mcp-Method',
    'Mcp-Name',
    'Mcp-Protocol-Version',
    'Mcp-Session-Id',
  ],
  exposed: ['Mcp-Session-Id', 'WWW-Authenticate'],
}

/**
 * Lets pages of the origins in `cors.origins` use the routes of a scope, if the section is configured. Their preflights are answered
 * before authentication, because browsers send no credentials with them.
 */
export function shareWithPages(scope: FastifyInstance, { cors: settings }: Config, methods: string): void {
  if (settings === null) return
  const cors = createCors(settings, PROTOCOL_HEADERS)
  scope.addHook('onRequest', hookOf(shareResponses(cors)))
  scope.addHook('onRequest', respondToPreflights(cors, { methodsOf: () => methods }))
}

/**
 * Refuses requests from web pages, also reads: a page whose name an attacker has pointed to this address has the same origin as the
 * endpoint (DNS rebinding). Only pages of listed origins, and of the public address, may use the endpoint.
 */
export function refusePages({ listen, cors }: Config): RequestStage {
  const allowed = new Set([
    ...listen.allowedOrigins,
    ...(cors?.origins ?? []),
    ...(listen.publicUrl === null ? [] : [new URL(listen.publicUrl).origin]),
  ])
  return function refusePagesStage({ context, headers }) {
    context.stage = 'canonical'
    if (!isFromPage(headers) || originsOf(headers).some((origin) => allowed.has(origin))) return
    throw new GatewayError('GW_FOREIGN_ORIGIN', {
      message: operatorText`Pages of this origin may not use tools`,
    })
  }
}

/**
 * Returns whether a page makes a browser send this request. Browsers add no `Origin` to a GET of a page to its own host, but they add
 * `Sec-Fetch-Site` (at an address with TLS, and at localhost) or `Referer`. The site is `none` if the user has entered the address.
 */
function isFromPage({ origin, referer, 'sec-fetch-site': site = 'none' }: IncomingHttpHeaders): boolean {
  return origin !== undefined || referer !== undefined || site !== 'none'
}

/**
 * Returns the possible origins of the page. Without `Origin`, a page of the same origin has the host of the request. Its scheme is
 * unknown behind a proxy that terminates TLS.
 */
function originsOf({
  origin,
  referer = '',
  host = '',
  'sec-fetch-site': site,
}: IncomingHttpHeaders): readonly string[] {
  if (origin !== undefined) return [origin]
  if (site === 'same-origin') return [`https://${host}`, `http://${host}`]
  return site === undefined && URL.canParse(referer) ? [new URL(referer).origin] : []
}
