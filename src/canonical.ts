import { randomFillSync } from 'node:crypto'
import { fastify, type FastifyInstance } from 'fastify'
import type { Config } from './config.ts'
import { GatewayError, type GatewayCode } from './errors.ts'
import { notFound } from './matched.ts'
import { canonicalOf } from './policy/canonical.ts'

/** Where requests that are not canonical are routed to. Whoever asks for it by name gets the same 400. */
const REFUSED = '/-refused'

/**
 * The framework, and the first stage around it: what the gateway and the engine could read differently is routed to a
 * refusal before anything else reads it. (Throwing in `rewriteUrl` would leave the request hanging.)
 * It does not listen: src/listener.ts hands it the requests.
 */
export function createCanonicalApp(config: Config): FastifyInstance {
  const hosts = new Set(config.hosts.map((host) => host.toLowerCase()))
  const faults = new WeakMap<object, GatewayCode>()
  const newId = createIds()
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    // While draining, a request on a connection that was kept is served like any other, and the connection then closed.
    return503OnClosing: false,
    bodyLimit: config.limits.body,
    // A variable's name has up to 255 characters, and each may be encoded with nine; the router's default is 100.
    routerOptions: { maxParamLength: 4096 },
    genReqId: ({ headers }) => givenIdOf(headers['x-request-id']) ?? newId(),
    rewriteUrl: (request) => {
      const { url, fault } = canonicalOf(request, hosts)
      if (fault === null) return url
      faults.set(request, fault)
      return REFUSED
    },
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  const refuse = (request: { readonly raw: object }): never => {
    throw new GatewayError(faults.get(request.raw) ?? 'GW_BAD_TARGET')
  }
  // A method that the router does not know has no route, not even that one.
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

const REQUEST_ID = /^[\w.:/+=@-]{1,128}$/

/** The caller's id where it is harmless in a log and a header. */
function givenIdOf(given: string | string[] | undefined): string | null {
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : null
}

const ID_BYTES = 16

/** Random ones, in hexadecimal as nginx's `$request_id`. Many are drawn at once: a UUID for each costs a fiftieth of a held answer. */
function createIds(): () => string {
  const drawn = Buffer.alloc(256 * ID_BYTES)
  let at = drawn.length
  return function newId() {
    if (at === drawn.length) {
      randomFillSync(drawn)
      at = 0
    }
    at += ID_BYTES
    return drawn.toString('hex', at - ID_BYTES, at)
  }
}
