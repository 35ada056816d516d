import type { Engine } from './data.ts'
import { RestError, html, json, membersOf } from './http.ts'
import type { SandboxResponse, IncomingRequest } from './http.ts'
import { find, negotiate } from './router.ts'
import { routes } from './routes.ts'

const ROOT = '/engine-rest'

/** Returns the response to a request. Checks the path first, then the engine, then the route. */
export function answer(engines: ReadonlyMap<string, Engine>, request: IncomingRequest): SandboxResponse {
  const { path, query } = partsOf(request.url)
  // The servlet container refuses encoded separators before the API receives the path.
  if (/%2f|%5c|%00/i.test(path) || !isDecodable(path)) return html(400)
  if (path !== ROOT && !path.startsWith(`${ROOT}/`)) return html(404)
  try {
    return route(engines, request, { segments: segmentsOf(path), query })
  } catch (error) {
    if (error instanceof RestError) return error.reply
    return new RestError(500, 'RestException', error instanceof Error ? error.message : 'unknown').reply
  }
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

function partsOf(url: string): { path: string; query: URLSearchParams } {
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  return { path, query: new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)) }
}

/** Returns the segments below the root, without one trailing slash and without path parameters (`;x=1`). */
function segmentsOf(path: string): string[] {
  const below = path.slice(ROOT.length + 1).replace(/\/$/, '')
  return below.split('/').map((segment) => segment.split(';')[0] ?? '')
}

interface RequestTarget {
  readonly segments: readonly string[]
  readonly query: URLSearchParams
}

function route(
  engines: ReadonlyMap<string, Engine>,
  request: IncomingRequest,
  { segments, query }: RequestTarget,
): SandboxResponse {
  const { method, headers, body } = request
  if (segments.length === 1 && segments[0] === 'engine') {
    if (method === 'GET' || method === 'HEAD') return json([...engines.keys()].map((name) => ({ name })))
    throw new RestError(405, 'NotAllowedException', 'HTTP 405 Method Not Allowed')
  }
  const isNamed = segments[0] === 'engine'
  const name = isNamed ? decodeURIComponent(segments[1] ?? '') : 'default'
  const { route: found, params } = find(routes, method, isNamed ? segments.slice(2) : segments)
  const engine = engines.get(name)
  if (engine === undefined) throw new RestError(400, 'InvalidRequestException', 'No process engine available')
  negotiate(found, headers['content-type'], headers.accept)
  return found.handle({
    engine,
    base: `http://${headers.host ?? ''}${ROOT}${isNamed ? `/engine/${name}` : ''}`,
    query,
    params,
    body: found.takesBody ? membersOf(body) : {},
  })
}
