import type { IncomingHttpHeaders } from 'node:http'
import type { Config } from '../config/schema.ts'

export type CorsSettings = NonNullable<Config['cors']>

type Headers = Readonly<Record<string, string>>

/** Headers that tell browsers which pages may read responses. The names of headers are in lower case. */
export interface Cors {
  /** Returns the headers of every response except to a preflight. `origin` is undefined if the request has none. */
  readonly responseHeaders: (origin: string | undefined) => Headers
  /**
   * Returns the headers of the response to a preflight. Null if the request is not a preflight, or comes from an unlisted origin;
   * it is then treated like any other request. `methodsOfPath` returns the methods of the path, as in `Allow`; null if the path does
   * not exist.
   */
  readonly preflightHeaders: (request: PreflightRequest, methodsOfPath: () => string | null) => Headers | null
}

export interface PreflightRequest {
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

/** Every response varies by `Origin`: a request without it may fill the cache of a browser for a request with it. */
const VARY: Headers = { vary: 'Origin' }

/** Headers in addition to the safelisted ones. The gateway adds them to responses, or the engine sends them for files and entities. */
const EXPOSED = [
  'Cache-Status',
  'Content-Disposition',
  'ETag',
  'Idempotency-Replayed',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Gateway-Error',
  'X-Request-Id',
]

/** Headers of a protocol, in addition to those of the API. */
export interface CorsHeaders {
  /** Headers of requests that pages may set. */
  readonly allowed: readonly string[]
  /** Headers of responses that pages may read. */
  readonly exposed: readonly string[]
}

/**
 * Creates the headers for listed origins. Source: Fetch standard, section 3.3 (CORS protocol). Private network access is not
 * answered, so a page of a public site cannot reach a gateway in a private network with a browser that requires this answer.
 *
 * @param settings the section `cors`, with exact origins as browsers write them
 */
export function createCors(
  { origins, credentials, allowedHeaders, maxAge }: CorsSettings,
  { allowed, exposed }: CorsHeaders = { allowed: [], exposed: [] },
): Cors {
  const readable = { 'access-control-expose-headers': [...EXPOSED, ...exposed].join(', ') }
  const responses = new Map(
    origins.map((origin) => [origin, { ...allowHeadersOf(origin, credentials), ...readable }]),
  )
  const preflights = new Map(
    origins.map((origin) => [
      origin,
      {
        ...allowHeadersOf(origin, credentials),
        'access-control-allow-headers': [...allowedHeaders, ...allowed].join(', '),
        'access-control-max-age': String(Math.floor(maxAge / 1000)),
      },
    ]),
  )
  return {
    responseHeaders: (origin) => (origin === undefined ? VARY : (responses.get(origin) ?? VARY)),
    preflightHeaders: ({ method, headers }, methodsOfPath) => {
      if (method !== 'OPTIONS') return null
      const { origin, 'access-control-request-method': wanted } = headers
      if (origin === undefined || wanted === undefined) return null
      const permission = preflights.get(origin)
      if (permission === undefined) return null
      const methods = methodsOfPath()
      if (methods === null || !methods.split(', ').includes(wanted)) return VARY
      return { ...permission, 'access-control-allow-methods': methods }
    },
  }
}

function allowHeadersOf(origin: string, credentials: boolean): Headers {
  return {
    ...VARY,
    'access-control-allow-origin': origin,
    ...(credentials ? { 'access-control-allow-credentials': 'true' } : {}),
  }
}
