import { RestError } from './http.ts'
import type { SandboxRequest, SandboxResponse } from './http.ts'

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT'
  /** The path, with literal segments and `:parameters`. */
  readonly template: string
  /** The media type of the response. A request that does not accept it is refused. */
  readonly gives: string
  readonly takesBody: boolean
  handle(ask: SandboxRequest): SandboxResponse
}

export interface RouteMatch {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

type Handle = Route['handle']

export function get(template: string, handle: Handle, gives = 'application/json'): Route {
  return { method: 'GET', template, gives, takesBody: false, handle }
}

export function post(template: string, handle: Handle): Route {
  return { method: 'POST', template, gives: 'application/json', takesBody: true, handle }
}

export function put(template: string, handle: Handle): Route {
  return { method: 'PUT', template, gives: 'application/json', takesBody: true, handle }
}

/** Returns the route of a path below an engine. Segments are compared as sent, so a literal in percent-encoding does not match. */
export function find(routes: readonly Route[], method: string, segments: readonly string[]): RouteMatch {
  const template = routes.find((route) => paramsOf(route.template, segments) !== null)?.template
  if (template === undefined) throw new RestError(404, 'NotFoundException', 'HTTP 404 Not Found')
  const wanted = method === 'HEAD' ? 'GET' : method
  const route = routes.find((one) => one.template === template && one.method === wanted)
  if (route === undefined) throw new RestError(405, 'NotAllowedException', 'HTTP 405 Method Not Allowed')
  return { route, params: paramsOf(template, segments) ?? {} }
}

function paramsOf(template: string, segments: readonly string[]): Record<string, string> | null {
  const parts = template.slice(1).split('/')
  if (parts.length !== segments.length) return null
  const params: Record<string, string> = {}
  for (const [index, part] of parts.entries()) {
    const segment = segments[index] ?? ''
    if (part.startsWith(':') && segment !== '') params[part.slice(1)] = decodeURIComponent(segment)
    else if (part !== segment) return null
  }
  return params
}

/** Refuses a request body that the route cannot read, and a client that does not accept the route's media type. */
export function negotiate(route: Route, contentType: string | undefined, accept: string | undefined): void {
  const type = contentType?.split(';')[0]?.trim().toLowerCase()
  if (route.takesBody && type !== 'application/json') {
    throw new RestError(415, 'NotSupportedException', 'HTTP 415 Unsupported Media Type')
  }
  const [family = ''] = route.gives.split('/')
  const wanted = (accept ?? '*/*').split(',').map((range) => range.split(';')[0]?.trim().toLowerCase())
  if (!wanted.some((range) => range === '*/*' || range === route.gives || range === `${family}/*`)) {
    throw new RestError(406, 'NotAcceptableException', 'HTTP 406 Not Acceptable')
  }
}
