import type { ServerResponse } from 'node:http'
import { loggedCacheStatusOf, nodeOf, type RequestContext, type ReceivedRequest } from './context.ts'
import type { SpanAttributes, SpanSummary } from '../traces/traces.ts'

/** Facts about the end of a request that its context does not contain. */
export interface RequestEnd {
  readonly status: number
  /** The gateway's code, or the status of the engine's refusal. Null if the request was not refused. */
  readonly reason: string | null
  readonly isCut: boolean
}

/** Methods that the HTTP conventions name. */
const METHODS: ReadonlySet<string> = new Set([
  'CONNECT',
  'DELETE',
  'GET',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'POST',
  'PUT',
  'TRACE',
])

/**
 * Returns the span of a finished request, by the HTTP conventions of OpenTelemetry. It contains no path, query, user or address:
 * paths of the API name users, and queries contain values of processes. The request id leads to the access line, which contains the
 * user.
 */
export function spanSummaryOf(
  request: ReceivedRequest,
  response: ServerResponse,
  end: RequestEnd,
): SpanSummary {
  const { context } = request
  const isError = end.status >= 500 || end.isCut
  return {
    name: context.operation?.id ?? (context.passthrough === 'none' ? 'unmatched' : 'passthrough'),
    attributes: { ...httpAttributesOf(request, response, end), ...gatewayAttributesOf(context, end) },
    isError,
  }
}

function httpAttributesOf(
  request: ReceivedRequest,
  { headersSent }: ServerResponse,
  { status, isCut }: RequestEnd,
): SpanAttributes {
  const { method, context } = request
  const isKnown = METHODS.has(method)
  // A request that is not canonical has no reliable Host.
  const server = context.stage === 'canonical' ? null : serverOf(request.host)
  return {
    'http.request.method': isKnown ? method : '_OTHER',
    'http.request.method_original': isKnown ? undefined : method,
    'http.route': routeOf(request),
    'http.response.status_code': headersSent ? status : undefined,
    'url.scheme': 'http',
    'server.address': server?.address,
    'server.port': server?.port,
    'network.protocol.version': request.raw.httpVersion,
    'error.type': isCut ? 'incomplete_answer' : status >= 500 ? String(status) : undefined,
  }
}

/** An address or an IPv6 address in brackets, and the port. */
const HOST_AND_PORT = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/

/** Returns the parts of the value of `Host`. */
function serverOf(host: string): { readonly address: string; readonly port: number | undefined } {
  const [, address = host, port] = HOST_AND_PORT.exec(host) ?? []
  return { address, port: port === undefined ? undefined : Number(port) }
}

/** Returns the template of the route, never the path. */
function routeOf({
  context: { operation, isEngineNamed, passthrough },
  routeOptions: { url },
}: ReceivedRequest) {
  if (passthrough !== 'none') return `${passthrough.prefix}/*`
  if (operation === null || !isEngineNamed) return operation === null ? undefined : url
  return `${url?.slice(0, -operation.template.length)}/engine/:engineName${operation.template}`
}

function gatewayAttributesOf(context: RequestContext, { reason }: RequestEnd): SpanAttributes {
  const { id, engine, refusal, stage } = context
  return {
    'gateway.request_id': id,
    'gateway.engine': engine?.name,
    'gateway.node': nodeOf(context) ?? undefined,
    'gateway.cache': loggedCacheStatusOf(context) ?? undefined,
    'gateway.error_code': reason ?? undefined,
    'gateway.stage': refusal === null ? undefined : stage,
  }
}
