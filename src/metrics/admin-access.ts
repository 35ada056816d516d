import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/** Who may ask the admin listener. */
export interface AdminAccess {
  /** Where it listens. */
  readonly host: string
  /** Names by which it is asked, beside `host`, `localhost` and every address. */
  readonly hosts: readonly string[]
  /** Null: whoever reaches it may ask. */
  readonly token: string | null
}

/** An answer in one line; 401 and 403 only. */
export class AdminRefusal extends Error {
  readonly statusCode: 401 | 403

  constructor(statusCode: 401 | 403, message: string) {
    super(message)
    this.name = 'AdminRefusal'
    this.statusCode = statusCode
  }
}

/** What probes ask: an orchestrator has no token to give. */
const OPEN_PATHS: ReadonlySet<string> = new Set(['/livez', '/readyz'])

/**
 * Keeps web pages out: one of another origin that a browser shows near this listener, and one whose name was pointed at
 * it (DNS rebinding). For the latter a name in Host must be known; an address is no name. Then asks for the token.
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

/** Without Host it is HTTP/1.0, which no browser speaks. */
function isKnownHost(host: string | undefined, { host: own, hosts }: AdminAccess): boolean {
  if (host === undefined) return true
  const name = nameOf(host)
  if (isIP(name) !== 0 || name === 'localhost' || name === own.toLowerCase()) return true
  return hosts.some((known) => known.toLowerCase() === name)
}

/** Without port, brackets and the dot of a full name. */
function nameOf(host: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(host)?.[1]
  return (bracketed ?? host.replace(/:\d+$/, '')).toLowerCase().replace(/\.$/, '')
}

/** Reads of a page of its own go on: somebody opens `/metrics` in a browser. */
function isFromPage(method: string | undefined, headers: IncomingMessage['headers']): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers
  if (method === 'GET' || method === 'HEAD') return origin !== undefined && origin !== `http://${host}`
  return origin !== undefined || (site !== undefined && site !== 'same-origin' && site !== 'none')
}

/** Takes the same time however much of a wrong token is right. */
function hasToken(header: string | undefined, token: string): boolean {
  const given = /^bearer +([!-~]+)$/i.exec(header ?? '')?.[1] ?? ''
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', token, 'buffer'))
}
