import type { IncomingMessage } from 'node:http'

/** TRACE is not included, because no page can send it. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Returns whether a page of another origin makes a browser send this request. A browser that knows the Basic credential adds it to
 * such a request as well, so the credential proves nothing. Clients other than browsers send neither of the two headers. Sources:
 * W3C Fetch Metadata (`Sec-Fetch-Site`), Fetch standard section 3.2 (`Origin`).
 *
 * @param host the value of `Host`, which must be valid
 * @param allowedOrigins origins whose pages may send every method, as browsers write them: `https://app.example`
 */
export function isCrossOriginRequest(
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  host: string,
  allowedOrigins: ReadonlySet<string>,
): boolean {
  return !SAFE_METHODS.has(method ?? '') && isFromOtherOrigin(headers, host, allowedOrigins)
}

/**
 * Returns the same for a request of any method. A WebSocket handshake is a GET that a page of any origin can send, and whose
 * connection it can then read and write.
 */
export function isFromOtherOrigin(
  headers: IncomingMessage['headers'],
  host: string,
  allowedOrigins: ReadonlySet<string>,
): boolean {
  const { origin, 'sec-fetch-site': site } = headers
  if (origin !== undefined && allowedOrigins.has(origin)) return false
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true
  if (origin === undefined) return false
  // A page with `Referrer-Policy: no-referrer` hides its origin from its own server too. An opaque origin is never `same-origin`.
  if (origin === 'null') return site !== 'same-origin'
  return !isOfHost(origin, host)
}

/** Compares host and port, but not the scheme: behind a proxy that terminates TLS, the gateway does not know the scheme of the browser. */
function isOfHost(origin: string, host: string): boolean {
  const scheme = /^https?:\/\//.exec(origin)?.[0]
  if (scheme === undefined) return false
  // Host may contain the default port of the scheme. A browser never writes it in Origin.
  return origin === scheme + host || hostOf(origin) === hostOf(scheme + host)
}

/** Returns null if the text is not a URL. */
function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).host : null
}
