/** What is sent upstream instead of the caller's credentials. */
export type Credentials = 'none' | 'forward' | { readonly username: string; readonly password: string }

export interface RequestPolicy {
  readonly credentials: Credentials
  /** `client`: the caller's Host, from which the engine writes its links. `node`: the node's own. */
  readonly host: 'client' | 'node'
  /** Default false. A pass-through needs them: the web applications keep their session in one. */
  readonly cookies?: boolean
}

// RFC 9110 section 7.6.1. Not passed on in either direction, nor are the names that Connection lists, except END_TO_END.
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
 * Meant for whoever reads the message at its end: a sender must not list them in Connection, and one that does would have
 * the engine read another request than the one that was checked, or a cache hold another answer.
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

// With these a caller would name himself, his address, or another target than the one that was checked.
const WITHHELD: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'content-length', // set anew from the body
  'context-user-id',
  'expect', // answered by our own listener
  'forwarded',
  'http2-settings',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-forwarded',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-real-ip',
])
const WITHHELD_PREFIXES = ['x-authorized-', 'x-forwarded-', 'x-original-', 'x-rewrite-', 'proxy-']

// Of these the first counts, as it does for Node; the others may be lists and are joined.
const SINGLE: ReadonlySet<string> = new Set([
  'authorization',
  'content-type',
  'host',
  'if-modified-since',
  'if-unmodified-since',
  'user-agent',
])

/** The caller's headers (`request.rawHeaders`) as far as an engine may see them. */
export function upstreamHeaders(raw: readonly string[], policy: RequestPolicy): Record<string, string> {
  const named = connectionNames(raw)
  const headers: Record<string, string> = {}
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] ?? '').toLowerCase()
    if (isWithheld(name, policy) || named?.includes(name)) continue
    const value = raw[i + 1] ?? ''
    if (!Object.hasOwn(headers, name)) headers[name] = value
    else if (!SINGLE.has(name)) headers[name] += `${name === 'cookie' ? ';' : ','} ${value}`
  }
  return headers
}

function isWithheld(name: string, policy: RequestPolicy): boolean {
  if (WITHHELD.has(name) || name.includes('_')) return true // an underscore reads as a hyphen behind CGI and WSGI
  if (name === 'authorization') return policy.credentials !== 'forward'
  if (name === 'cookie') return policy.cookies !== true
  if (name === 'host') return policy.host === 'node'
  if (!name.startsWith('x-') && !name.startsWith('p')) return false
  return WITHHELD_PREFIXES.some((prefix) => name.startsWith(prefix))
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

/** An answer's headers as far as the client may see them, with `added` in the place of its own of the same name. */
export function clientHeaders(
  parsed: ParsedHeaders,
  added?: Readonly<Record<string, string>>,
): Record<string, string | string[]> {
  const named = namedBy(parsed['connection'])
  const headers: Record<string, string | string[]> = {}
  for (const name in parsed) {
    const value = parsed[name]
    if (value === undefined || name === 'content-length' || isUpstreamOnly(name) || named?.includes(name))
      continue
    headers[name] = value
  }
  for (const name in added) {
    const value = added[name]
    if (value !== undefined) headers[name.toLowerCase()] = value
  }
  // Last: Node refuses a Content-Disposition with a byte above 127 once it has seen a length.
  const length = parsed['content-length']
  if (length !== undefined) headers['content-length'] = length
  return headers
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

/** What goes onto the wire, as a flat list of names and values. The last gate: whoever made the hop, credentials leave only as configured. */
export type WireHeaders = (headers: Readonly<Record<string, string>>) => string[]

export function createWireHeaders(policy: RequestPolicy): WireHeaders {
  const { credentials, host } = policy
  const basic =
    typeof credentials === 'string'
      ? null
      : `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`
  return function wireHeaders(headers) {
    const list: string[] = []
    for (const name in headers) {
      const value = headers[name]
      if (value === undefined || name === 'content-length') continue
      if (name === 'authorization' && credentials !== 'forward') continue
      if (name === 'host' && host === 'node') continue
      list.push(name, value)
    }
    if (basic !== null) list.push('authorization', basic)
    return list
  }
}

// With one of these an engine may leave the body out, send a part of it, or send it encoded.
const PARTIAL: ReadonlySet<string> = new Set([
  'accept-encoding',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'range',
])

/** The same request for a whole, readable answer: one that is kept for others or looked into. */
export function wholeHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const whole: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && !PARTIAL.has(name)) whole[name] = value
  }
  return whole
}

/** The announced length of an answer's body, null if the answer does not say. */
export function lengthOf(parsed: ParsedHeaders): number | null {
  const value = parsed['content-length']
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : null
}

/** False for the answers that never carry a body (RFC 9110 section 6.4.1). */
export function hasBody(method: string, status: number): boolean {
  return method !== 'HEAD' && status !== 204 && status !== 304
}
/** Response headers as undici parses them: lower-case names, latin1 values. */

export type ParsedHeaders = Readonly<Record<string, string | string[] | undefined>>
