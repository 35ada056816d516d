import { basePathOf } from '../../config/base-path.ts'
import type { ParsedHeaders } from '../wire/headers.ts'

/** The addresses of an application: its prefix for clients of the gateway, and the URLs of its nodes. */
export interface ApplicationPlace {
  readonly prefix: string
  /** The URLs of its nodes, which all have the same path. */
  readonly nodes: readonly string[]
  /** `prefix`: cookies are restricted to paths below the prefix. `keep`: cookies keep the path and domain that the application sets. */
  readonly cookies: 'prefix' | 'keep'
}

/** The target of a client's request. */
export interface ClientTarget {
  /** The `Host` that the client sent. */
  readonly host: string
  /** The path without the query. */
  readonly path: string
}

/**
 * Creates a function that returns the headers of an application's response for a client of the gateway. Redirects lead to the
 * address at which the client reaches the application, and its cookies are restricted to its prefix.
 */
export function createResponseHeaders(
  place: ApplicationPlace,
): (headers: ParsedHeaders, asked: ClientTarget) => ParsedHeaders {
  const rewriteLocation = createLocationRewrite(place)
  const rewriteCookie = createCookieRewrite(place)
  return (headers, asked) => {
    const { location, 'set-cookie': cookies } = headers
    if (typeof location !== 'string' && cookies === undefined) return headers
    return {
      ...headers,
      ...(typeof location === 'string' && { location: rewriteLocation(location) }),
      ...(cookies !== undefined && {
        'set-cookie': [cookies].flat().map((cookie) => rewriteCookie(cookie, asked)),
      }),
    }
  }
}

/**
 * Creates a function that rewrites a redirect of the application for a client of the gateway. The application's own base path
 * becomes the prefix again. A path that already has the prefix, a relative reference and another origin are not changed.
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
 * Creates a function that restricts the cookies of an application to paths below its prefix and to the host that the client named.
 * Every other path becomes the prefix, and so does a missing path if the default path is above the prefix. A `Domain` that the
 * client would accept, or that contains the upstream, is removed, because the cookie would be sent to other hosts. RFC 6265
 * sections 5.1.3, 5.1.4, 5.2. A name that begins with `__Host-` needs the path `/` (RFC 6265bis section 4.1.3.2).
 */
function createCookieRewrite({
  prefix,
  nodes,
  cookies,
}: ApplicationPlace): (cookie: string, asked: ClientTarget) => string {
  const [first = ''] = nodes
  const toPrefix = createPathRewrite(prefix, basePathOf(first))
  const hosts = nodes.map((node) => new URL(node).hostname)
  const pathOf = (path: string): string => (path === '/' ? prefix : (toPrefix(path) ?? prefix))
  const isWider = (attribute: string, host: string): boolean =>
    isOfHosts(attribute, [...hosts, hostnameOf(host)])
  return function rewriteCookie(cookie, { host, path }) {
    const [pair = '', ...attributes] = cookie.split(';')
    if (cookies === 'keep') return [pair, ...attributes.filter(isTakenBy(host, hosts))].join(';')
    const isForHost = /^\s*__Host-/i.test(pair)
    const restricted = attributes.flatMap((attribute) => {
      if (isNamed(attribute, 'domain')) return isWider(attribute, host) ? [] : [attribute]
      if (!isNamed(attribute, 'path')) return [attribute]
      const [name = ''] = attribute.split('=', 1)
      return [`${name}=${isForHost ? '/' : pathOf(valueOf(attribute))}`]
    })
    // The default path of `/app` is `/`, and of `/app/x` it is `/app`.
    if (path === prefix && !attributes.some((attribute) => isNamed(attribute, 'path')))
      restricted.push(` Path=${isForHost ? '/' : prefix}`)
    return [pair, ...restricted].join(';')
  }
}

/** Returns true if an attribute is a `Domain` that contains one of these hosts. */
function isOfHosts(attribute: string, hosts: readonly string[]): boolean {
  const domain = valueOf(attribute)
  return isNamed(attribute, 'domain') && hosts.some((host) => isInDomain(host, domain))
}

/** Returns a predicate for attributes that a client accepts. A client refuses a `Domain` of the upstream that does not contain its own host. */
function isTakenBy(host: string, upstreamHosts: readonly string[]): (attribute: string) => boolean {
  return (attribute) =>
    !isOfHosts(attribute, upstreamHosts) || isInDomain(hostnameOf(host), valueOf(attribute))
}

/** Returns the value of a cookie attribute, or an empty string. */
function valueOf(attribute = ''): string {
  const at = attribute.indexOf('=')
  return at === -1 ? '' : attribute.slice(at + 1).trim()
}

/** Returns true if an attribute has this name. `attribute` is the text of the header, with spaces and the value. */
function isNamed(attribute: string, wanted: string): boolean {
  const [name = ''] = attribute.split('=', 1)
  return name.trim().toLowerCase() === wanted
}

function isInDomain(host: string, domain: string): boolean {
  const name = domain.replace(/^\./, '').toLowerCase()
  return host === name || host.endsWith(`.${name}`)
}

function hostnameOf(host: string): string {
  return host.replace(/:\d*$/, '').toLowerCase()
}

/** Creates a function that returns the path below the prefix, or null if the path does not belong to the application. */
function createPathRewrite(prefix: string, basePath: string): (path: string) => string | null {
  return (path) => {
    if (basePath !== '' && isBelow(path, basePath)) return prefix + path.slice(basePath.length)
    if (isBelow(path, prefix)) return path
    return basePath === '' && path.startsWith('/') ? prefix + path : null
  }
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}
