import type { IncomingHttpHeaders } from 'node:http'
import { Transform, type Readable } from 'node:stream'
import httpProxy, { type FastifyHttpProxyOptions } from '@fastify/http-proxy'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawServerBase,
  RequestGenericInterface,
} from 'fastify'
import { GatewayError } from '../errors.ts'
import { failureOf, isUnsent } from './wire/failure.ts'
import { clientHeaders, upstreamHeaders, type RequestPolicy } from './wire/headers.ts'
import { poolOptions } from './nodes/node.ts'

/** A request as the plugin hands it out. */
export type ProxiedRequest = FastifyRequest<RequestGenericInterface, RawServerBase>

export interface PassthroughClient {
  readonly address: string
  readonly scheme: 'http' | 'https'
}

export interface PassthroughOptions {
  readonly prefixes: readonly { readonly prefix: string; readonly upstream: string }[]
  /** Runs before the request's body is read, and receives the prefix. Throws to refuse. */
  readonly authenticate: (request: FastifyRequest, reply: FastifyReply, prefix: string) => Promise<void>
  /** Who asks, and by which scheme, for `X-Forwarded-For` and `X-Forwarded-Proto`. */
  readonly clientOf: (request: ProxiedRequest) => PassthroughClient
  /** `traceparent` and `tracestate` in place of the caller's. Default: the caller's are forwarded. */
  readonly traceContextOf?: (request: ProxiedRequest) => Readonly<Record<string, string>>
  /** Forwards the caller's Authorization. Default false. Danger: the application then learns the password. */
  readonly forwardAuthorization?: boolean
  /** Largest request body. */
  readonly bodyBytes: number
  readonly connections: number
  readonly timeouts: { readonly connectMs: number; readonly headersMs: number; readonly bodyMs: number }
}

/** Forwards prefixes outside the engine's API (its web applications) after authentication. The upstream's path takes the place of the prefix. */
export function registerPassthrough(app: FastifyInstance, options: PassthroughOptions): void {
  for (const { prefix, upstream } of options.prefixes) {
    // A scope without parsers: the body is streamed, and a parent's JSON parser would collide.
    app.register(async function passthrough(scope) {
      scope.removeAllContentTypeParsers()
      scope.addHook('onRequest', async (request, reply) => options.authenticate(request, reply, prefix))
      scope.addHook('preParsing', async (request, _reply, payload) =>
        boundBody(request, payload as Readable, options.bodyBytes),
      )
      await scope.register(httpProxy, proxyOptions(prefix, upstream, options))
    })
  }
}

function proxyOptions(
  prefix: string,
  upstream: string,
  options: PassthroughOptions,
): FastifyHttpProxyOptions {
  const basePath = basePathOf(upstream)
  const rewriteLocation = createLocationRewrite(prefix, upstream)
  const policy: RequestPolicy = {
    credentials: options.forwardAuthorization === true ? 'forward' : 'none',
    host: 'node',
    cookies: true,
  }
  return {
    prefix,
    upstream,
    disableRequestLogging: true,
    destroyAgent: true,
    retryMethods: [],
    internalRewriteLocationHeader: false, // it adds the prefix to paths that have it
    undici: {
      ...poolOptions(options.connections),
      connect: { timeout: options.timeouts.connectMs, rejectUnauthorized: true }, // the plugin's default is false
      headersTimeout: options.timeouts.headersMs,
      bodyTimeout: options.timeouts.bodyMs,
    },
    replyOptions: {
      retryDelay: () => null, // maxRetriesOn503: 0 is falsy in the plugin, which then uses 10
      rewriteRequestHeaders: (request, headers) => ({
        ...requestHeaders(request.raw.rawHeaders, headers, policy),
        ...forwardedHeaders(request, options.clientOf(request), basePath === '' ? prefix : null),
        ...options.traceContextOf?.(request),
      }),
      rewriteHeaders: (headers) => withLocation(clientHeaders(headers), rewriteLocation),
      onError: (reply, { error }) => {
        reply.send(pluginFailureOf(error, reply.request.method))
      },
    },
  }
}

/** `headers` are the plugin's: they have the upstream's host and the length of the body to send. */
function requestHeaders(
  raw: readonly string[],
  headers: IncomingHttpHeaders,
  policy: RequestPolicy,
): IncomingHttpHeaders {
  const forwarded: IncomingHttpHeaders = upstreamHeaders(raw, policy)
  if (headers.host !== undefined) forwarded.host = headers.host
  if (headers['content-length'] !== undefined) forwarded['content-length'] = headers['content-length']
  return forwarded
}

/** What the caller itself has sent of them is withheld. `strippedPrefix`: the application does not see it in the path. */
function forwardedHeaders(
  { headers: { host } }: ProxiedRequest,
  { address, scheme }: PassthroughClient,
  strippedPrefix: string | null,
): IncomingHttpHeaders {
  return {
    ...(address === '' ? {} : { 'x-forwarded-for': address }),
    'x-forwarded-proto': scheme,
    ...(host === undefined ? {} : { 'x-forwarded-host': host }),
    ...(strippedPrefix === null ? {} : { 'x-forwarded-prefix': strippedPrefix }),
  }
}

function withLocation(
  headers: IncomingHttpHeaders,
  rewrite: (location: string) => string,
): IncomingHttpHeaders {
  const { location } = headers
  return location === undefined ? headers : { ...headers, location: rewrite(location) }
}

/**
 * Where a redirect of the application leads for a client of the gateway. The upstream's path becomes the prefix again; a path that
 * has the prefix already stays. Relative references and other origins stay, too.
 */
export function createLocationRewrite(prefix: string, upstream: string): (location: string) => string {
  const { origin } = new URL(upstream)
  const basePath = basePathOf(upstream)
  return function rewriteLocation(location) {
    const isPath = location.startsWith('/')
    if ((!isPath && !/^https?:\/\//i.test(location)) || !URL.canParse(location, upstream)) return location
    const target = new URL(location, upstream)
    if (target.origin !== origin) return location
    const path = `${target.pathname}${target.search}${target.hash}`
    if (basePath !== '' && isBelow(target.pathname, basePath)) return prefix + path.slice(basePath.length)
    if (isBelow(target.pathname, prefix)) return path
    return basePath === '' ? prefix + path : isPath ? location : path
  }
}

function basePathOf(upstream: string): string {
  return new URL(upstream).pathname.replace(/\/$/, '')
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

/** The plugin wraps undici's error. Its own 500 for a refused connection would hide that nothing was sent. */
function pluginFailureOf(error: Error, method: string): GatewayError {
  const cause = error.cause ?? error
  const repeatable = method === 'GET' || method === 'HEAD'
  return failureOf(cause, { sent: !isUnsent(cause), status: 0, repeatable })
}

function boundBody(request: FastifyRequest, payload: Readable, limitBytes: number): Readable {
  const contentLength = request.headers['content-length']
  if (contentLength !== undefined && Number(contentLength) > limitBytes)
    throw new GatewayError('GW_BODY_TOO_LARGE')
  if (contentLength !== undefined || request.headers['transfer-encoding'] === undefined) return payload
  let bytes = 0
  const bounded = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > limitBytes) done(new GatewayError('GW_BODY_TOO_LARGE'))
      else done(null, chunk)
    },
  })
  payload.on('error', (error) => bounded.destroy(error))
  return payload.pipe(bounded)
}
