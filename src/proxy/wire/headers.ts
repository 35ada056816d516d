import { GatewayError, operatorText } from '../../errors.ts'
import { restrictContent } from './active-content.ts'
import { API_REQUEST_HEADERS, API_RESPONSE_HEADERS } from './allowed-headers.ts'
import { createUserHeaderValue, type UserHeader } from './user-header.ts'

/** The credentials that are sent upstream instead of the caller's. */
export type Credentials =
  | 'none'
  | 'forward'
  | { readonly username: string; readonly password: string }
  | UserHeader

export interface RequestPolicy {
  readonly credentials: Credentials
  /** `client`: the caller's Host, from which the engine builds its links. `node`: the node's own Host. */
  readonly host: 'client' | 'node'
  /** Whether cookies are sent. Passthrough needs them, because web applications keep their session in a cookie. Default: false. */
  readonly cookies?: boolean
  /** Names of the client's headers that are sent, in lower case. The options above decide about their own headers. Default: the API's headers. */
  readonly requestHeaders?: ReadonlySet<string>
}

// RFC 9110 section 7.6.1. These headers and the names listed in Connection are not forwarded in either direction, except END_TO_END.
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * End-to-end headers. A sender must not list them in Connection. If it does and they are removed, the engine receives a different
 * request from the one that was checked, or a cache stores a different response.
 */
const END_TO_END: ReadonlySet<string> = new Set([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'allow',
  'authorization',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-location',
  'content-range',
  'content-type',
  'cookie',
  'date',
  'etag',
  'expires',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-modified',
  'location',
  'pragma',
  'range',
  'retry-after',
  'set-cookie',
  'user-agent',
  'vary',
  'www-authenticate',
  'x-request-id',
])

// If one of these occurs several times, the first value counts, as in Node. Other headers may be lists, and their values are joined.
const SINGLE: ReadonlySet<string> = new Set([
  'authorization',
  'content-type',
  'host',
  'if-modified-since',
  'if-unmodified-since',
  'user-agent',
])

/**
 * Returns the client's headers (`request.rawHeaders`) that an engine may see. Only listed names are sent. With any other header the
 * client could claim an identity, an address, or a different target from the one that was checked.
 */
export function upstreamHeaders(raw: readonly string[], policy: RequestPolicy): Record<string, string> {
  const named = connectionNames(raw)
  const headers: Record<string, string> = {}
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] ?? '').toLowerCase()
    if (!isSent(name, policy) || named?.includes(name)) continue
    const value = raw[i + 1] ?? ''
    if (!Object.hasOwn(headers, name)) headers[name] = value
    else if (!SINGLE.has(name)) headers[name] += `${name === 'cookie' ? ';' : ','} ${value}`
  }
  return headers
}

/** Returns the header that contains the caller's id for the engine. Null if the engine gets no id, or gets the caller's own credentials. */
export function userHeaderOf({ credentials }: Pick<RequestPolicy, 'credentials'>): UserHeader | null {
  return typeof credentials === 'object' && 'header' in credentials ? credentials : null
}

function isSent(name: string, policy: RequestPolicy): boolean {
  if (name === 'authorization') return policy.credentials === 'forward'
  if (name === 'cookie') return policy.cookies === true
  if (name === 'host') return policy.host !== 'node'
  const { requestHeaders = API_REQUEST_HEADERS } = policy
  return requestHeaders.has(name) && name !== userHeaderOf(policy)?.header
}

function connectionNames(raw: readonly string[]): string[] | null {
  let named: string[] | null = null
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] ?? ''
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue
    named = [...(named ?? []), ...listOf(raw[i + 1] ?? '')]
  }
  return named
}

/** The headers of a response that clients receive. */
export interface ResponsePolicy {
  /** Names of the node's headers, in lower case. `all` is for an application, which controls its own responses. */
  readonly names: ReadonlySet<string> | 'all'
  /** Whether content other than JSON gets headers that keep browsers from running it. */
  readonly restrictsContent: boolean
  /** Called for each response that got these headers. */
  readonly onRestricted?: () => void
}

export const API_RESPONSES: ResponsePolicy = { names: API_RESPONSE_HEADERS, restrictsContent: true }

/** Returns the headers of a response that the client may see. `added` replaces headers of the same name, except that `Vary` is joined. */
export function clientHeaders(
  parsed: ParsedHeaders,
  added?: Readonly<Record<string, string>>,
  policy = API_RESPONSES,
): Record<string, string | string[]> {
  const named = namedBy(parsed['connection'])
  const { names } = policy
  const headers: Record<string, string | string[]> = {}
  for (const name in parsed) {
    const value = parsed[name]
    if (value === undefined || name === 'content-length' || named?.includes(name)) continue
    if (names === 'all' ? !isUpstreamOnly(name) : names.has(name)) headers[name] = value
  }
  applyContentRule(headers, parsed, policy)
  if (added !== undefined) addHeaders(headers, added)
  // The length is set last, because Node refuses a Content-Disposition with a byte above 127 once a length is set.
  const length = parsed['content-length']
  if (length !== undefined) headers['content-length'] = length
  return headers
}

function applyContentRule(
  headers: Record<string, string | string[]>,
  parsed: ParsedHeaders,
  { restrictsContent, onRestricted }: ResponsePolicy,
): void {
  if (restrictsContent && restrictContent(headers, parsed)) onRestricted?.()
}

function addHeaders(
  headers: Record<string, string | string[]>,
  added: Readonly<Record<string, string>>,
): void {
  const { vary } = headers
  if (saysWhoReads(added)) for (const name in headers) if (isOfCors(name)) delete headers[name]
  for (const name in added) {
    const value = added[name] ?? ''
    headers[name.toLowerCase()] = name === 'vary' ? joinedVary(vary, value) : value
  }
}

/**
 * Returns true if the gateway's own headers decide which origins may read a response. With `cors` every response has
 * `Vary: Origin`. The engine's CORS headers (`isOfCors`) are then removed, even if the gateway sends none for the request's origin.
 */
export function saysWhoReads(own: Readonly<Record<string, string>>): boolean {
  return own['vary'] !== undefined
}

/** Returns true for a CORS response header. `name` is in lower case. */
export function isOfCors(name: string): boolean {
  return name.startsWith('access-control-')
}

/** Returns the `Vary` header with the engine's names and the gateway's own name (RFC 9110 section 12.5.5). */
export function joinedVary(engines: number | string | string[] | undefined, own: string): string {
  const names = String(engines ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name.toLowerCase() !== own.toLowerCase())
  return [...names, own].join(', ')
}

function isUpstreamOnly(name: string): boolean {
  return HOP_BY_HOP.has(name) || name === 'context-user-id' || name.startsWith('x-authorized-')
}

function namedBy(connection: string | string[] | undefined): string[] | null {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return null
  return listOf(String(connection))
}

function listOf(value: string): string[] {
  const names = value
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
  return names.filter((name) => !END_TO_END.has(name))
}

/**
 * Returns the headers that are sent, as a flat list of names and values. This is the last check: credentials are sent only as
 * configured, regardless of the code that built the request.
 */
export type WireHeaders = (headers: Readonly<Record<string, string>>) => string[]

export function createWireHeaders(policy: RequestPolicy): WireHeaders {
  const { credentials, host } = policy
  const basic =
    typeof credentials === 'string' || 'header' in credentials
      ? null
      : `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`
  const userHeader = userHeaderOf(policy)
  const userValueOf = userHeader === null ? null : createUserHeaderValue(userHeader)
  return function wireHeaders(headers) {
    const list: string[] = []
    for (const name in headers) {
      const value = headers[name]
      if (value === undefined || name === 'content-length') continue
      if (name === userHeader?.header && userValueOf !== null) {
        list.push(name, userValueOf(value))
        continue
      }
      if (name === 'authorization' && credentials !== 'forward') continue
      if (name === 'host' && host === 'node') continue
      list.push(name, value)
    }
    if (basic !== null) list.push('authorization', basic)
    return list
  }
}

/**
 * Returns the list with another `traceparent` and `tracestate` (W3C Trace Context section 3). `list` contains names in lower case,
 * each followed by its value.
 */
export function withTraceContext(
  list: readonly string[],
  context: Readonly<Record<string, string>>,
): string[] {
  const replaced: string[] = []
  for (let i = 0; i + 1 < list.length; i += 2) {
    const name = list[i] ?? ''
    if (name !== 'traceparent' && name !== 'tracestate') replaced.push(name, list[i + 1] ?? '')
  }
  for (const name in context) replaced.push(name, context[name] ?? '')
  return replaced
}

// With one of these headers an engine may omit the body, send a part of it, or send it encoded.
const PARTIAL: ReadonlySet<string> = new Set([
  'accept-encoding',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'range',
])

/** Returns the headers without those that could make the response partial or encoded, for a response that is cached or inspected. */
export function wholeHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const whole: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && !PARTIAL.has(name)) whole[name] = value
  }
  return whole
}

/** Returns the announced length of a response body, or null if none is announced. */
export function lengthOf(parsed: ParsedHeaders): number | null {
  const value = parsed['content-length']
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : null
}

/** Returns false for responses that never have a body (RFC 9110 section 6.4.1). */
export function hasBody(method: string, status: number): boolean {
  return method !== 'HEAD' && status !== 204 && status !== 304
}

/** Response headers as undici parses them: lower-case names, latin1 values. */
export type ParsedHeaders = Readonly<Record<string, string | string[] | undefined>>

/**
 * Refuses a redirect of an engine. The API sends no redirects, so the response comes from a proxy or a login page in front of the
 * node. Its target may be an address that is known only in the gateway's network.
 * @throws GatewayError GW_UPSTREAM_INVALID
 */
export function assertNoRedirect(status: number, { names }: Pick<ResponsePolicy, 'names'>): void {
  if (names === 'all' || status < 300 || status > 399 || status === 304) return
  throw new GatewayError('GW_UPSTREAM_INVALID', {
    message: operatorText`The engine responded with a redirect`,
  })
}
