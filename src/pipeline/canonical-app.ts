import { randomUUID } from 'node:crypto'
import { fastify, type FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'
import { GatewayError, type GatewayCode } from '../errors.ts'
import { notFound } from './not-found.ts'
import { canonicalOf, type HostPolicy } from '../request/canonical.ts'
import { NO_SCHEMAS } from '../request/no-schemas.ts'
import { namedTargetOf } from '../request/target.ts'

/** Path to which requests that are not canonical are routed. A client that requests this path itself gets the same 400. */
const REFUSED = '/-refused'

/**
 * Creates the framework with the first stage around it. A request that the gateway and the engine could read differently is routed
 * to a refusal before any other code reads it. (Throwing in `rewriteUrl` would leave the request hanging.) The paths below the name
 * of an engine are the same as without it, and are routed without the name. The app does not listen: src/server/listener.ts passes
 * the requests to it.
 */
export function createCanonicalApp(config: Config): FastifyInstance {
  const served = hostPolicyOf(config)
  const faults = new WeakMap<object, GatewayCode>()
  const app = fastify({
    ...NO_SCHEMAS,
    logger: false,
    exposeHeadRoutes: false,
    // Plugins need only processor time. A slow processor is no reason to abort the start.
    pluginTimeout: 0,
    // While draining, a request on a keep-alive connection is served like any other, and then the connection is closed.
    return503OnClosing: false,
    bodyLimit: config.limits.body,
    // The longest head that the listener accepts (src/server/listener.ts). The router would respond with 414 to a longer parameter itself,
    // without authentication and without a line in the log.
    routerOptions: { maxParamLength: 16 * 1024 },
    genReqId: ({ headers }) => requestIdOf(headers['x-request-id']),
    rewriteUrl: (request) => {
      const { url, fault } = canonicalOf(request, served)
      if (fault === null) return namedTargetOf(url, config.basePath)?.target ?? url
      faults.set(request, fault)
      return REFUSED
    },
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  const refuse = (request: { readonly raw: object }): never => {
    throw new GatewayError(faults.get(request.raw) ?? 'GW_BAD_TARGET')
  }
  // A method that the router does not know has no route, not even the route for refusals.
  const refuseStray = (request: { readonly raw: object }): never =>
    faults.has(request.raw) ? refuse(request) : notFound()
  app.all(REFUSED, { onRequest: refuse }, refuse)
  app.setNotFoundHandler(refuseStray)
  app.addHook('preParsing', function letBodyIn(request, reply, _payload, done) {
    if (request.is404) refuseStray(request)
    if (request.headers.expect !== undefined && request.raw.httpVersion === '1.1') reply.raw.writeContinue()
    done()
  })
  return app
}

export function hostPolicyOf({ hosts, listen, cors }: Config): HostPolicy {
  return {
    hosts: new Set(hosts.map((host) => host.toLowerCase())),
    allowedOrigins: new Set([...listen.allowedOrigins, ...(cors?.origins ?? [])]),
  }
}

const REQUEST_ID = /^[\w.:/+=@-]{1,128}$/

/** Returns the caller's id if it is harmless in a log and in a header, or else a new id. */
export function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}
