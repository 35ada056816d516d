import type { IncomingHttpHeaders } from 'node:http'
import type { Config } from '../config/schema.ts'

export type CorsSettings = NonNullable<Config['cors']>

type Headers = Readonly<Record<string, string>>

/** What browsers are told about who may read answers. Headers have lower-case names. */
export interface Cors {
  /** Of every answer but that to a preflight. `origin`: of the request; undefined: it has none. */
  readonly answerHeaders: (origin: string | undefined) => Headers
  /**
   * Of the answer to a preflight. Null: the request is none, or comes from an origin that is not listed, and is treated like any other.
   * `methods`: those that the path has, as `Allow` lists them; undefined: there is no such path.
   */
  readonly preflightHeaders: (request: PreflightRequest, methods: string | undefined) => Headers | null
}

export interface PreflightRequest {
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

/** What a cached answer varies by, for everybody: a request without `Origin` may fill a browser's cache for one with it. */
const VARY: Headers = { vary: 'Origin' }

/** Beside the safelisted ones: what the gateway adds to answers, and what the engine says about files and entities. */
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
].join(', ')

/**
 * Answers for listed origins alone. Source: Fetch standard, section 3.3 (CORS protocol). Private network access is not answered, so
 * a page of a public site reaches no gateway of a private network where a browser asks for that.
 *
 * @param settings the section `cors`: its origins are exact and as browsers write them
 */
export function createCors({ origins, credentials, allowedHeaders, maxAge }: CorsSettings): Cors {
  const answers = new Map(origins.map((origin) => [origin, answerHeadersOf(origin, credentials)]))
  const preflights = new Map(
    origins.map((origin) => [
      origin,
      {
        ...allowHeadersOf(origin, credentials),
        'access-control-allow-headers': allowedHeaders.join(', '),
        'access-control-max-age': String(Math.floor(maxAge / 1000)),
      },
    ]),
  )
  return {
    answerHeaders: (origin) => (origin === undefined ? VARY : (answers.get(origin) ?? VARY)),
    preflightHeaders: ({ method, headers }, methods) => {
      if (method !== 'OPTIONS') return null
      const { origin, 'access-control-request-method': wanted } = headers
      if (origin === undefined || wanted === undefined) return null
      const allowed = preflights.get(origin)
      if (allowed === undefined) return null
      if (methods?.split(', ').includes(wanted) !== true) return VARY
      return { ...allowed, 'access-control-allow-methods': methods }
    },
  }
}

function answerHeadersOf(origin: string, credentials: boolean): Headers {
  return { ...allowHeadersOf(origin, credentials), 'access-control-expose-headers': EXPOSED }
}

function allowHeadersOf(origin: string, credentials: boolean): Headers {
  return {
    ...VARY,
    'access-control-allow-origin': origin,
    ...(credentials ? { 'access-control-allow-credentials': 'true' } : {}),
  }
}
