import { Server as TlsServer } from 'node:tls'
import { fastify } from 'fastify'
import type { FastifyInstance } from 'fastify'
import type { ServerTls } from '../config/tls-types.ts'
import type { Logger } from '../log.ts'
import { NO_SCHEMAS } from '../request/no-schemas.ts'
import { urlOf } from '../tls/listener-url.ts'
import { onRenewal } from '../tls/renewal-lines.ts'
import { keepRenewed } from '../tls/tls-listener.ts'
import { GatewayError } from '../errors.ts'
import type { AdminEvent } from './audit-events.ts'
import {
  type AdminAccess,
  type AdminRight,
  type AdminToken,
  administratorIn,
  checkOrigin,
  checkPost,
  checkRight,
  type SlowGuesses,
  verifyToken,
} from './admin-access.ts'

export interface Readiness {
  readonly ready: boolean
  /** The result of each check by name: `ok`, or the problem. */
  readonly checks: Readonly<Record<string, string>>
}

export interface JsonResponse {
  readonly status: number
  readonly value: unknown
}

/** A page without external resources. */
export interface AdminPage {
  readonly html: string
  /** Headers that restrict what a browser may do with the page. */
  readonly headers: Readonly<Record<string, string>>
}

/** A request that has passed the rules of access. */
export interface AdminRequest {
  readonly query: unknown
  /** The parsed JSON. Undefined without a body. */
  readonly body: unknown
  /** The address of the caller. */
  readonly client: string
}

export interface AdminAnswer {
  readonly status: number
  /** The media type. */
  readonly type: string
  readonly headers?: Readonly<Record<string, string>>
  /** Text, or a value that is sent as JSON. */
  readonly body: unknown
}

export interface AdminRoute {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The right that a request needs. `none`: no token is needed, because an orchestrator has no token. Default: `change`. */
  readonly right?: AdminRight | 'none'
  /** Whether the audit stream has a line for each request. Default: true for POST only. */
  readonly isAudited?: boolean
  /** Default: requests with a body are refused. */
  readonly maxBodyBytes?: number
  /** Returns the response. A rejection becomes a 500. */
  readonly answer: (request: AdminRequest) => AdminAnswer | Promise<AdminAnswer>
}

export interface AdminOptions {
  /** The rules of access. They are read for every request because a reload may change them. */
  readonly access: () => AdminAccess
  readonly slowGuesses: SlowGuesses
  readonly host: string
  /** 0 selects any free port. */
  readonly port: number
  /** Null for plain HTTP. */
  readonly tls: ServerTls | null
  readonly routes: readonly AdminRoute[]
  /** Writes a request to the audit stream. Default: requests are not written. */
  readonly audit?: (event: AdminEvent) => void
  readonly log: Pick<Logger, 'error' | 'info'>
}

/** The challenges, each in a header of its own. Browsers read only the first of several challenges in one header. */
const CHALLENGES = ['Bearer', 'Basic'].map((scheme) => `${scheme} realm="engine-gateway admin"`)

/** Headers of every response. It must not be stored, nor read by a page of another origin. */
const RESPONSE_HEADERS = {
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

export interface Admin {
  /** The address that it is bound to: `http://127.0.0.1:9090` */
  readonly address: string
  close(): Promise<void>
}

/** Serves probes, scrapes and operators, on a port of its own. */
export async function createAdmin({ host, port, tls, ...handlers }: AdminOptions): Promise<Admin> {
  const app = fastify({
    ...(tls !== null && { https: {} }),
    ...NO_SCHEMAS,
    logger: false,
    exposeHeadRoutes: true,
    // The same limits as on the public listener: pipeline/canonical-app.ts.
    pluginTimeout: 0,
    bodyLimit: 1,
    requestTimeout: 5000,
    // A scraper's keep-alive connection must not delay the exit.
    forceCloseConnections: true,
  })
  addResponses(app, handlers)
  const { server } = app
  const stopRenewal =
    tls !== null && server instanceof TlsServer
      ? keepRenewed(server, tls, onRenewal('admin.tls', handlers.log))
      : null
  await app.listen({ host, port })
  return {
    // If the host is a wildcard, Fastify returns an address of the machine.
    address: urlOf(server, tls !== null),
    close: () => {
      stopRenewal?.()
      return app.close()
    },
  }
}

function addResponses(
  app: FastifyInstance,
  {
    access,
    slowGuesses,
    routes,
    audit = () => undefined,
    log,
  }: Pick<AdminOptions, 'access' | 'slowGuesses' | 'routes' | 'audit' | 'log'>,
) {
  /** The tokens of requests that are being served. */
  const tokenOf = new WeakMap<object, AdminToken>()
  app.addHook('onRequest', async (request, reply) => {
    void reply.type('text/plain; charset=utf-8').headers(RESPONSE_HEADERS)
    checkOrigin(request.raw, access())
    const right = rightOf.get(request.routeOptions.url ?? '') ?? 'change'
    if (right !== 'none') {
      const token = await verifyToken(request.raw, access(), (verify) => slowGuesses(request.ip, verify))
      if (token !== null) tokenOf.set(request.raw, token)
      checkRight(token, right)
    }
    checkPost(request.raw)
  })
  const rightOf = new Map(routes.map(({ path, right = 'change' }) => [path, right] as const))
  for (const { method, path: url, isAudited = method === 'POST', maxBodyBytes, answer } of routes)
    app.route({
      method,
      url,
      ...(isAudited && {
        onResponse: async ({ ip: client, raw, body: asked }, { statusCode: status }) =>
          audit({
            event: 'admin',
            client,
            token: tokenOf.get(raw)?.name ?? null,
            administrator: administratorIn(raw.headers.authorization),
            method,
            path: url,
            request: asked === undefined || asked === null ? null : JSON.stringify(asked),
            decision: status === 401 || status === 403 ? 'refused' : 'permitted',
            status,
          }),
      }),
      ...(maxBodyBytes === undefined ? {} : { bodyLimit: maxBodyBytes }),
      handler: async ({ query, body: asked, ip: client }, reply) => {
        const { status, type, headers = {}, body } = await answer({ query, body: asked, client })
        void reply.code(status).type(type).headers(headers)
        return body
      },
    })
  app.setNotFoundHandler(async (_request, reply) => {
    void reply.code(404)
    return 'not found\n'
  })
  app.setErrorHandler(async (error: Error & { statusCode?: number }, request, reply) => {
    const code = error.statusCode ?? 500
    if (code >= 500) log.error({ err: error }, `admin: ${request.routeOptions.url ?? 'unknown'} failed`)
    void reply.code(code)
    if (code === 401) void reply.header('www-authenticate', CHALLENGES)
    if (error instanceof GatewayError && error.retryAfterSeconds !== null)
      void reply.header('retry-after', String(error.retryAfterSeconds))
    return code < 500 ? oneLine(error.message) + '\n' : 'error\n'
  })
}

export function jsonAnswerOf({ status, value }: JsonResponse): AdminAnswer {
  return { status, type: 'application/json; charset=utf-8', body: value }
}

/** Returns a text without line breaks. */
export function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, ' ')
}
