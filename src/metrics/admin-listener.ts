import { Server as TlsServer } from 'node:tls'
import { fastify } from 'fastify'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ServerTls } from '../config/tls-types.ts'
import type { Logger } from '../log.ts'
import { urlOf } from '../tls/listener-url.ts'
import { onRenewal } from '../tls/renewal-lines.ts'
import { keepRenewed } from '../tls/tls-listener.ts'
import { GatewayError } from '../errors.ts'
import { type AdminAccess, checkOrigin, checkPost, checkToken, type SlowGuesses } from './admin-access.ts'
import type { Metrics } from './registry.ts'

export interface Readiness {
  readonly ready: boolean
  /** The result of each check by name: `ok`, or the problem. */
  readonly checks: Readonly<Record<string, string>>
}

export interface JsonAnswer {
  readonly status: number
  readonly value: unknown
}

/** A page without external resources. */
export interface AdminPage {
  readonly html: string
  /** Headers that restrict what a browser may do with the page. */
  readonly headers: Readonly<Record<string, string>>
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
  readonly metrics: Pick<Metrics, 'contentType' | 'text'>
  readonly readiness: () => Readiness | Promise<Readiness>
  /** Returns whether a user may do something. A rejection becomes a 500. */
  readonly explain: (question: unknown) => Promise<JsonAnswer>
  /** The current status, and a page for users that requests it repeatedly. */
  readonly status: { readonly page: AdminPage; readonly read: () => Promise<unknown> }
  /** Returns the configuration in force, without its secrets. */
  readonly configuration: () => Promise<unknown>
  /** Reloads the configuration. */
  readonly reload: () => Promise<JsonAnswer>
  readonly log: Pick<Logger, 'error' | 'info'>
}

/** The challenges, each in a header of its own. Browsers read only the first of several challenges in one header. */
const CHALLENGES = ['Bearer', 'Basic'].map((scheme) => `${scheme} realm="engine-gateway admin"`)

/** Headers of every response. It must not be stored, nor read by a page of another origin. */
const ANSWER_HEADERS = {
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

const MAX_QUESTION_BYTES = 64 * 1024

export interface Admin {
  /** The address that it is bound to: `http://127.0.0.1:9090` */
  readonly address: string
  close(): Promise<void>
}

/** Serves probes, scrapes and operators, on a port of its own. */
export async function createAdmin({ host, port, tls, ...handlers }: AdminOptions): Promise<Admin> {
  const app = fastify({
    ...(tls !== null && { https: {} }),
    logger: false,
    exposeHeadRoutes: true,
    // The same limits as on the public listener: pipeline/canonical-app.ts.
    pluginTimeout: 0,
    bodyLimit: 1,
    requestTimeout: 5000,
    // A scraper's keep-alive connection must not delay the exit.
    forceCloseConnections: true,
  })
  addAnswers(app, handlers)
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

function addAnswers(
  app: FastifyInstance,
  {
    access,
    slowGuesses,
    metrics,
    readiness,
    explain,
    status,
    configuration,
    reload,
    log,
  }: Omit<AdminOptions, 'host' | 'port' | 'tls'>,
) {
  app.addHook('onRequest', async (request, reply) => {
    void reply.type('text/plain; charset=utf-8').headers(ANSWER_HEADERS)
    checkOrigin(request.raw, access())
    await checkToken(request.raw, access(), (verify) => slowGuesses(request.ip, verify))
    checkPost(request.raw)
  })
  app.get('/livez', async () => 'ok\n')
  app.get('/readyz', async (request, reply) => {
    const state = await readiness()
    void reply.code(state.ready ? 200 : 503)
    return isVerbose(request.query) ? verboseTextOf(state) : textOf(state)
  })
  app.get('/metrics', async (_request, reply) => {
    void reply.type(metrics.contentType)
    return metrics.text()
  })
  app.get('/status', async (_request, reply) => {
    void reply.type('text/html; charset=utf-8').headers(status.page.headers)
    return status.page.html
  })
  app.get('/status.json', async (_request, reply) => {
    return jsonOf({ status: 200, value: await status.read() }, reply)
  })
  app.get('/config', async (_request, reply) => {
    return jsonOf({ status: 200, value: await configuration() }, reply)
  })
  app.post('/explain', { bodyLimit: MAX_QUESTION_BYTES }, async (request, reply) => {
    return jsonOf(await explain(request.body), reply)
  })
  app.post('/reload', async (_request, reply) => jsonOf(await reload(), reply))
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

function jsonOf({ status, value }: JsonAnswer, reply: FastifyReply): unknown {
  void reply.code(status).type('application/json; charset=utf-8')
  return value
}

function isVerbose(query: unknown): boolean {
  return typeof query === 'object' && query !== null && 'verbose' in query
}

function textOf({ ready }: Readiness): string {
  return ready ? 'ok\n' : 'not ready\n'
}

function verboseTextOf(state: Readiness): string {
  const lines = Object.entries(state.checks).map(
    ([name, word]) => `[${word === 'ok' ? '+' : '-'}] ${oneLine(`${name} ${word}`)}\n`,
  )
  return lines.join('') + textOf(state)
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, ' ')
}
