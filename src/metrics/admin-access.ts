import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/** The rules of access to the admin listener. */
export interface AdminAccess {
  /** The address on which it listens. */
  readonly host: string
  /** Host names that it accepts, in addition to `host`, `localhost` and every IP address. */
  readonly hosts: readonly string[]
  /** A token with all rights, or null. Without any token, every client that can connect may use the listener. */
  readonly token: string | null
  /** Further tokens, each with a name for the audit stream and the right that it gives. */
  readonly tokens: readonly AdminToken[]
}

/** The right that a route requires and a token gives. `change` includes `read`. */
export type AdminRight = 'read' | 'change'

export interface AdminToken {
  readonly name: string
  readonly token: string
  readonly right: AdminRight
}

/** The name of `admin.token` in the audit stream. */
const SINGLE_TOKEN = 'admin.token'

/** Returns all tokens, with their names and rights. */
export function adminTokensOf({
  token,
  tokens,
}: Pick<AdminAccess, 'token' | 'tokens'>): readonly AdminToken[] {
  return token === null ? tokens : [{ name: SINGLE_TOKEN, token, right: 'change' }, ...tokens]
}

/**
 * Runs `verify`, with a delay after many failures from an address. Resolves with null if the token is wrong.
 *
 * @throws GatewayError if too many calls wait
 */
export type SlowGuesses = <T>(address: string, verify: () => Promise<T | null>) => Promise<T | null>

type AdminRequestHead = Pick<IncomingMessage, 'method' | 'url' | 'headers'>

/** A refusal with a one-line response. The status is 401 or 403. */
export class AdminRefusal extends Error {
  readonly statusCode: 401 | 403

  constructor(statusCode: 401 | 403, message: string) {
    super(message)
    this.name = 'AdminRefusal'
    this.statusCode = statusCode
  }
}

/** Paths to which the status page sends POST requests. They change nothing. */
const PAGE_PATHS: ReadonlySet<string> = new Set(['/explain'])

/**
 * A header that every POST needs, with any value. A page of another origin cannot send it: a browser sends a preflight request
 * before it sends such a header across origins, and this listener allows no origin.
 */
const POST_HEADER = 'x-requested-by'

/**
 * Blocks requests of web pages: pages of another origin in a browser that can reach this listener, and pages of a name that
 * resolves to it (DNS rebinding). To prevent DNS rebinding, a name in Host must be known; an IP address is not a name.
 *
 * @throws AdminRefusal
 */
export function checkOrigin({ method, url, headers }: AdminRequestHead, access: AdminAccess): void {
  if (!isKnownHost(headers.host, access))
    throw new AdminRefusal(403, 'the name in the Host header is not permitted: add it to admin.hosts')
  if (isFromPage({ method, url, headers }, access))
    throw new AdminRefusal(403, 'requests from web pages are not permitted')
}

/** Returns the token of a request, or null if the listener has no token. @throws AdminRefusal, or an error of `slowGuesses` */
export async function verifyToken(
  { headers, headersDistinct }: Pick<IncomingMessage, 'headers' | 'headersDistinct'>,
  access: AdminAccess,
  slowGuesses: (verify: () => Promise<AdminToken | null>) => Promise<AdminToken | null>,
): Promise<AdminToken | null> {
  const tokens = adminTokensOf(access)
  if (tokens.length === 0) return null
  // Of two headers, a proxy in front may have checked the other one.
  const isSingle = headersDistinct['authorization']?.length === 1
  const given = isSingle ? tokenIn(headers.authorization) : null
  if (given === null) throw new AdminRefusal(401, TOKEN_NEEDED)
  const found = await slowGuesses(async () => findToken(tokens, given))
  if (found === null) throw new AdminRefusal(401, TOKEN_NEEDED)
  return found
}

const TOKEN_NEEDED =
  'a token of admin.token or admin.tokens is required: as the Bearer token, or as the password of Basic authentication'

/** Compares with every token, so that the time does not depend on which one is right. */
function findToken(tokens: readonly AdminToken[], given: string): AdminToken | null {
  const [found = null] = tokens.filter(({ token }) => isSame(given, token))
  return found
}

/** Checks that a token gives the right that a route needs. @throws AdminRefusal */
export function checkRight(token: AdminToken | null, needed: AdminRight): void {
  if (token !== null && token.right !== 'change' && needed === 'change')
    throw new AdminRefusal(403, 'the token has only the right to read')
}

/**
 * Checks that a write has the POST header. A browser adds the credentials that it knows to the requests of any page, but never
 * this header. @throws AdminRefusal
 */
export function checkPost({ method, headers }: AdminRequestHead): void {
  if (!isRead(method) && headers[POST_HEADER] === undefined)
    throw new AdminRefusal(403, 'the header X-Requested-By is required, with any value')
}

function pathOf(url: string | undefined): string {
  return url?.split('?', 1)[0] ?? ''
}

function isRead(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Returns whether the Host is known. A request without Host is HTTP/1.0, which no browser uses. */
function isKnownHost(host: string | undefined, { host: own, hosts }: AdminAccess): boolean {
  if (host === undefined) return true
  const name = nameOf(host)
  if (isIP(name) !== 0 || name === 'localhost' || name === own.toLowerCase()) return true
  return hosts.some((known) => known.toLowerCase() === name)
}

/** Returns the name in Host without port, brackets and the trailing dot. */
function nameOf(host: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(host)?.[1]
  return (bracketed ?? host.replace(/:\d+$/, '')).toLowerCase().replace(/\.$/, '')
}

/**
 * Returns whether a request comes from a web page that must not send it. The listener's own page may read. It may also ask
 * questions if they need the token. Behind a proxy with TLS, its origin has another scheme, and `Sec-Fetch-Site` identifies it.
 */
function isFromPage({ method, url, headers }: AdminRequestHead, access: AdminAccess): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers
  const isOwn = origin === `http://${host}` || site === 'same-origin'
  if (isRead(method)) return origin !== undefined && !isOwn
  if (isOwn && adminTokensOf(access).length > 0 && PAGE_PATHS.has(pathOf(url))) return false
  return origin !== undefined || (site !== undefined && site !== 'same-origin' && site !== 'none')
}

/**
 * Returns the token in a header, or null if it has no token. Basic is for browsers, which support nothing else: its password is
 * the token, with any user name.
 */
function tokenIn(header: string | undefined): string | null {
  const [, scheme = '', value = ''] = /^(bearer|basic) +([!-~]+)$/i.exec(header ?? '') ?? []
  if (scheme === '') return null
  if (scheme.toLowerCase() === 'bearer') return value
  return /^[^:]*:(.*)$/s.exec(Buffer.from(value, 'base64').toString())?.[1] ?? ''
}

/** Returns the user name of Basic authentication in visible characters, or null if the header names no user. */
export function administratorIn(header: string | undefined): string | null {
  const encoded = /^basic +([!-~]+)$/i.exec(header ?? '')?.[1] ?? ''
  const name = /^([^:]*):/.exec(Buffer.from(encoded, 'base64').toString())?.[1] ?? ''
  return name === '' ? null : name.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD')
}

/** Compares in constant time, independent of how much of a wrong token is right. */
function isSame(given: string, token: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', token, 'buffer'))
}
