import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/** Who may use the admin listener. */
export interface AdminAccess {
  /** The address where it listens. */
  readonly host: string
  /** Host names that it accepts, beside `host`, `localhost` and every IP address. */
  readonly hosts: readonly string[]
  /** Null: everyone who can connect may use it. */
  readonly token: string | null
}

/** A one-line answer; 401 and 403 only. */
export class AdminRefusal extends Error {
  readonly statusCode: 401 | 403

  constructor(statusCode: 401 | 403, message: string) {
    super(message)
    this.name = 'AdminRefusal'
    this.statusCode = statusCode
  }
}

/** Paths for probes: an orchestrator has no token. */
const OPEN_PATHS: ReadonlySet<string> = new Set(['/livez', '/readyz'])

/**
 * Blocks requests of web pages: of another origin open in a browser near this listener, and of a name that resolves to it
 * (DNS rebinding). Against the latter, a name in Host must be known; an IP address is not a name. Then checks the token.
 *
 * @throws AdminRefusal
 */
export function checkAccess(
  { method, url, headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  access: AdminAccess,
): void {
  if (!isKnownHost(headers.host, access))
    throw new AdminRefusal(403, 'this Host is not known here: admin.hosts lists names')
  if (isFromPage(method, headers)) throw new AdminRefusal(403, 'web pages may not ask here')
  const [path = ''] = (url ?? '').split('?', 1)
  if (access.token !== null && !OPEN_PATHS.has(path) && !hasToken(headers.authorization, access.token))
    throw new AdminRefusal(401, 'Authorization: Bearer with admin.token is needed')
}

/** A request without Host is HTTP/1.0, which no browser uses. */
function isKnownHost(host: string | undefined, { host: own, hosts }: AdminAccess): boolean {
  if (host === undefined) return true
  const name = nameOf(host)
  if (isIP(name) !== 0 || name === 'localhost' || name === own.toLowerCase()) return true
  return hosts.some((known) => known.toLowerCase() === name)
}

/** Without port, brackets and the trailing dot. */
function nameOf(host: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(host)?.[1]
  return (bracketed ?? host.replace(/:\d+$/, '')).toLowerCase().replace(/\.$/, '')
}

/** Reads from the listener's own pages are allowed: somebody opens `/metrics` in a browser. */
function isFromPage(method: string | undefined, headers: IncomingMessage['headers']): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers
  if (method === 'GET' || method === 'HEAD') return origin !== undefined && origin !== `http://${host}`
  return origin !== undefined || (site !== undefined && site !== 'same-origin' && site !== 'none')
}

/** Constant time, however much of a wrong token is right. */
function hasToken(header: string | undefined, token: string): boolean {
  const given = /^bearer +([!-~]+)$/i.exec(header ?? '')?.[1] ?? ''
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', token, 'buffer'))
}
