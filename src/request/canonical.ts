import { decodedPart, targetSearchOf } from './target.ts'
import { HOST } from '../config/host-pattern.ts'
import type { IncomingMessage } from 'node:http'
import type { GatewayCode } from '../errors.ts'
import { isCrossOriginRequest } from './origin.ts'

// Characters of RFC 3986 that are unambiguous in a segment. `;` begins a matrix parameter at the engine.
const PATH = /^(?:\/[A-Za-z0-9._~!$&'()*+,=:@%-]+)+$/
const QUERY = /^[A-Za-z0-9._~!$&'()*+,;=:@%/?[\]-]*$/
// The engine decodes ids of users, groups and tenants a second time (`%25`). It refuses or ignores the other escapes of this list.
const FORBIDDEN_IN_PATH = /%(?:2[Ff]|5[Cc]|3[Bb]|[01][0-9A-Fa-f]|7[Ff]|25[0-9A-Fa-f]{2})/
// Node's own limit does not refuse the request: it hides the further headers in only one of its two views of the headers.
const MAX_HEADERS = 128
const MALFORMED_ESCAPES = /%(?![0-9A-Fa-f]{2})/g
/** Methods that are routed. */
export const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'OPTIONS',
  'PATCH',
  'TRACE',
])

export interface CanonicalRequest {
  /**
   * Path and query as the client sent them, without one trailing slash, which the engine ignores. A `%` in the query that begins no
   * escape is encoded: the engine reads it literally (`nameLike=%Rev%`), but other readers could refuse it.
   */
  readonly url: string
  /** The reason for a refusal. Null if the request may be routed. */
  readonly fault: GatewayCode | null
}

export interface HostPolicy {
  /** Accepted values of Host, in lower case. If empty, every value is accepted. */
  readonly hosts: ReadonlySet<string>
  /** Origins whose pages may send more than reads, in addition to the gateway's own origin. */
  readonly allowedOrigins: ReadonlySet<string>
}

/**
 * Checks a request before routing and authentication, because those already read it. Refuses every request that the gateway and an
 * engine could read differently, and every request that a page of another origin makes a browser send.
 */
export function canonicalOf(request: IncomingMessage, served: HostPolicy): CanonicalRequest {
  const target = request.url ?? ''
  const mark = target.indexOf('?')
  const whole = mark < 0 ? target : target.slice(0, mark)
  const path = whole.length > 1 && whole.endsWith('/') ? whole.slice(0, -1) : whole
  const query = mark < 0 ? '' : target.slice(mark + 1).replace(MALFORMED_ESCAPES, '%25')
  const fault = headFaultOf(request, served) ?? targetFault(path, query)
  return { url: mark < 0 ? path : `${path}?${query}`, fault }
}

function targetFault(path: string, query: string): GatewayCode | null {
  const isPath = path === '/' || PATH.test(path)
  if (!isPath || !QUERY.test(query) || hasOtherReading(path)) return 'GW_BAD_TARGET'
  return query.includes('%') && decodedPart(query) === null ? 'GW_BAD_TARGET' : null
}

function hasOtherReading(path: string): boolean {
  if (!path.includes('%') && !path.includes('/.')) return false
  const text = FORBIDDEN_IN_PATH.test(path) ? null : decodedPart(path)
  return text === null || text.split('/').some((segment) => segment === '.' || segment === '..')
}

/**
 * Returns the reason for a refusal of everything but the target. Requires exactly one valid Host (RFC 9112 section 3.2), and at most
 * one Authorization, because two readers could each use another one.
 */
export function headFaultOf(
  request: IncomingMessage,
  { hosts, allowedOrigins }: HostPolicy,
): GatewayCode | null {
  const { method, httpVersion, rawHeaders, headers } = request
  if (method === undefined || !METHODS.has(method)) return 'GW_METHOD_UNKNOWN'
  if (rawHeaders.length > 2 * MAX_HEADERS) return 'GW_HEADERS_TOO_LARGE'
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') return 'GW_EXPECTATION'
  const place = placeOf('host', rawHeaders)
  if (place === TWICE) return 'GW_BAD_HOST'
  if (placeOf('authorization', rawHeaders) === TWICE) return 'GW_BAD_HEADER'
  if (headers['transfer-encoding'] !== undefined && httpVersion !== '1.1') return 'GW_BAD_REQUEST'
  const host = rawHeaders[place]
  if (!isServedHost(host, hosts)) return 'GW_BAD_HOST'
  return isCrossOriginRequest(request, host, allowedOrigins) ? 'GW_FOREIGN_ORIGIN' : null
}

const NOWHERE = -1
const TWICE = -2

/** Returns the index of the value of a field. */
function placeOf(field: string, rawHeaders: readonly string[]): number {
  let place = NOWHERE
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    // Most names have another length, and need no conversion to lower case.
    if (name.length !== field.length || name.toLowerCase() !== field) continue
    if (place !== NOWHERE) return TWICE
    place = index + 1
  }
  return place
}

/** Returns whether a value of Host is valid, and accepted by the configuration. */
export function isServedHost(host: string | undefined, hosts: ReadonlySet<string>): host is string {
  return host !== undefined && HOST.test(host) && (hosts.size === 0 || hosts.has(host.toLowerCase()))
}

/**
 * Returns the decoded parameters of the query string. The first value of a repeated parameter counts, as for the engine.
 * `URLSearchParams` drops one question mark, so it gets the query with its mark: the second mark of `??a=b` is part of a name, as
 * the engine reads it.
 */
export function queryOf(url: string): ReadonlyMap<string, string> {
  const search = targetSearchOf(url)
  if (search === '') return EMPTY
  const query = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(search)) if (!query.has(name)) query.set(name, value)
  return query
}

const EMPTY: ReadonlyMap<string, string> = new Map()
