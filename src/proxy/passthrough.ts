import type { IncomingHttpHeaders } from 'node:http'
import { Transform, type Readable } from 'node:stream'
import httpProxy, { type FastifyHttpProxyOptions } from '@fastify/http-proxy'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { GatewayError } from '../errors.ts'
import { failureOf, isUnsent } from './wire/failure.ts'
import { clientHeaders, upstreamHeaders, type RequestPolicy } from './wire/headers.ts'
import { poolOptions } from './nodes/node.ts'

export interface PassthroughOptions {
  readonly prefixes: readonly { readonly prefix: string; readonly upstream: string }[]
  /** Runs before the request's body is read, and receives the prefix. Throws to refuse. */
  readonly authenticate: (request: FastifyRequest, reply: FastifyReply, prefix: string) => Promise<void>
  /** Forwards the caller's Authorization. Default false. Danger: the application then learns the password. */
  readonly forwardAuthorization?: boolean
  /** Largest request body. */
  readonly bodyBytes: number
  readonly connections: number
  readonly timeouts: { readonly connectMs: number; readonly headersMs: number; readonly bodyMs: number }
}

/** Forwards prefixes outside the engine's API (its web applications) unchanged, after authentication. */
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
    undici: {
      ...poolOptions(options.connections),
      connect: { timeout: options.timeouts.connectMs, rejectUnauthorized: true }, // the plugin's default is false
      headersTimeout: options.timeouts.headersMs,
      bodyTimeout: options.timeouts.bodyMs,
    },
    replyOptions: {
      retryDelay: () => null, // maxRetriesOn503: 0 is falsy in the plugin, which then uses 10
      rewriteRequestHeaders: ({ raw }, headers) => requestHeaders(raw.rawHeaders, headers, policy),
      rewriteHeaders: (headers) => clientHeaders(headers),
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
