import type { ParsedHeaders } from '../wire/headers.ts'

/** Where an application stands for clients of the gateway, and where it stands by itself. */
export interface ApplicationPlace {
  readonly prefix: string
  /** URLs of its nodes, of one path. */
  readonly nodes: readonly string[]
  /** `keep`: cookies hold where the application says, and not below the prefix alone. */
  readonly cookies: 'prefix' | 'keep'
}

/**
 * The headers of an application's answer for a client of the gateway: redirects lead to where the client reaches it, and its
 * cookies hold below its prefix. `host`: as the client wrote it.
 */
export function createAnswerHeaders(
  place: ApplicationPlace,
): (headers: ParsedHeaders, host: string) => ParsedHeaders {
  const rewriteLocation = createLocationRewrite(place)
  const rewriteCookie = createCookieRewrite(place)
  return (headers, host) => {
    const { location, 'set-cookie': cookies } = headers
    if (typeof location !== 'string' && cookies === undefined) return headers
    return {
      ...headers,
      ...(typeof location === 'string' && { location: rewriteLocation(location) }),
      ...(cookies !== undefined && {
        'set-cookie': [cookies].flat().map((cookie) => rewriteCookie(cookie, host)),
      }),
    }
  }
}

/**
 * Where a redirect of the application leads for a client of the gateway. Its own path becomes the prefix again; a path that has
 * the prefix already stays. Relative references and other origins stay, too.
 */
export function createLocationRewrite({
  prefix,
  nodes,
}: Pick<ApplicationPlace, 'prefix' | 'nodes'>): (location: string) => string {
  const origins = new Set(nodes.map((node) => new URL(node).origin))
  const [first = ''] = nodes
  const toPrefix = createPathRewrite(prefix, basePathOf(first))
  return function rewriteLocation(location) {
    const isPath = location.startsWith('/')
    if ((!isPath && !/^https?:\/\//i.test(location)) || !URL.canParse(location, first)) return location
    const target = new URL(location, first)
    if (!origins.has(target.origin)) return location
    const behind = target.search + target.hash
    const path = toPrefix(target.pathname)
    if (path !== null) return path + behind
    return isPath ? location : target.pathname + behind
  }
}

/**
 * A cookie for the path of the application, or for all of its host, is one for the prefix: two applications have cookies of
 * one name otherwise. A domain that the client would not take falls away. RFC 6265 sections 5.1.3, 5.1.4, 5.2; RFC 6265bis
 * section 4.1.3.2: what begins with `__Host-` must be for all of the host.
 */
function createCookieRewrite({
  prefix,
  nodes,
  cookies,
}: ApplicationPlace): (cookie: string, host: string) => string {
  const [first = ''] = nodes
  const toPrefix = createPathRewrite(prefix, basePathOf(first))
  const hosts = nodes.map((node) => new URL(node).hostname)
  const pathOf = (path: string): string => (path === '/' ? prefix : (toPrefix(path) ?? path))
  return function rewriteCookie(cookie, host) {
    const [pair = '', ...attributes] = cookie.split(';')
    const isForHost = cookies === 'keep' || /^\s*__Host-/i.test(pair)
    const rewritten = attributes.flatMap((attribute) => {
      const [name = '', ...value] = attribute.split('=')
      const text = value.join('=').trim()
      if (isNamed(name, 'path') && !isForHost) return [`${name}=${pathOf(text)}`]
      const isOfUpstream = isNamed(name, 'domain') && hosts.some((one) => isInDomain(one, text))
      return isOfUpstream && !isInDomain(hostnameOf(host), text) ? [] : [attribute]
    })
    return [pair, ...rewritten].join(';')
  }
}

/** `name`: as it stands in a header, with blanks. */
function isNamed(name: string, wanted: string): boolean {
  return name.trim().toLowerCase() === wanted
}

function isInDomain(host: string, domain: string): boolean {
  const name = domain.replace(/^\./, '').toLowerCase()
  return host === name || host.endsWith(`.${name}`)
}

function hostnameOf(host: string): string {
  return host.replace(/:\d*$/, '').toLowerCase()
}

/** The path below the prefix; null: it is none of the application's. */
function createPathRewrite(prefix: string, basePath: string): (path: string) => string | null {
  return (path) => {
    if (basePath !== '' && isBelow(path, basePath)) return prefix + path.slice(basePath.length)
    if (isBelow(path, prefix)) return path
    return basePath === '' && path.startsWith('/') ? prefix + path : null
  }
}

/** `/app` of `http://web:8080/app/`; empty where there is none. */
export function basePathOf(url: string): string {
  return new URL(url).pathname.replace(/\/$/, '')
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}
