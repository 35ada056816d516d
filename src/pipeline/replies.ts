import type { ReceivedRequest } from './context.ts'
import { targetPathOf } from '../request/target.ts'
import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { EngineRefusal, GatewayError, type GatewayCode } from '../errors.ts'
import { type Release, withClassNames } from '../operations/published/releases.ts'
import { bodyValue } from '../request/body.ts'
import { isRecord } from '../request/value.ts'
import { assertTakesJson } from '../request/accept.ts'
import { isOfCors, joinedVary, saysWhoReads } from '../proxy/wire/headers.ts'

const JSON_TYPE = 'application/json'

/** Fastify's own errors by their code. Every other error of Fastify below 500 is a request that could not be read. */
const FRAMEWORK_CODES: Readonly<Record<string, GatewayCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'GW_BODY_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'GW_UNSUPPORTED_MEDIA',
  FST_ERR_BAD_URL: 'GW_BAD_TARGET',
}

/** Converts any error to an error with a response. An unexpected error becomes a 500 without details for the caller. */
export function refusalOf(error: unknown): GatewayError | EngineRefusal {
  if (error instanceof GatewayError || error instanceof EngineRefusal) return error
  const { code, statusCode } = fieldsOf(error)
  const known = FRAMEWORK_CODES[code]
  if (known !== undefined) return new GatewayError(known, { cause: error })
  return new GatewayError(statusCode < 500 ? 'GW_BAD_REQUEST' : 'GW_INTERNAL', { cause: error })
}

function fieldsOf(error: unknown): { readonly code: string; readonly statusCode: number } {
  const isCoded = error instanceof Error && 'code' in error && 'statusCode' in error
  if (!isCoded || typeof error.statusCode !== 'number') return { code: '', statusCode: 500 }
  return { code: String(error.code), statusCode: error.statusCode }
}

/** Sends a refusal in the engine's form. The body is sent as bytes, because the framework would add a charset that the engine does not send. */
export function sendRefusal(reply: FastifyReply, refusal: GatewayError | EngineRefusal): FastifyReply {
  const error = acceptableOf(refusal, reply.request.headers.accept)
  reply.code(error.statusCode)
  // A client that waits for a 100 may or may not send its body after this response. The next bytes would be ambiguous, so the connection is closed.
  if (reply.request.headers.expect !== undefined) reply.header('connection', 'close')
  if (isMarked(reply.request)) reply.header('cache-control', 'no-cache')
  if (variesByAccept(reply.request, error)) reply.header('vary', 'Accept')
  if (error instanceof EngineRefusal) {
    reply.headers(error.headers)
    if (error.body === undefined) return reply.send()
    return reply.send(bytesOf(inReleaseWords(error.body, reply.request.context.engine?.release ?? null)))
  }
  reply.headers({ ...error.headers, 'content-type': JSON_TYPE, 'x-gateway-error': error.code })
  if (error.retryAfterSeconds !== null) reply.header('retry-after', String(error.retryAfterSeconds))
  // No other request can follow a body that was not read to its end.
  if (error.statusCode === 413 || error.statusCode === 408) reply.header('connection', 'close')
  return reply.send(bytesOf(error.body))
}

/** Returns the body of an engine's refusal with the names that classes have in the release of the engine. */
function inReleaseWords(body: unknown, release: Release | null): unknown {
  if (release === null || !isRecord(body) || typeof body['message'] !== 'string') return body
  return { ...body, message: withClassNames(body['message'], release) }
}

/** Returns a 406 instead of an empty list if the client does not accept JSON. The engine checks `Accept` before it searches for items. */
function acceptableOf(error: GatewayError | EngineRefusal, accept: string | undefined) {
  if (error.statusCode !== 200) return error
  try {
    assertTakesJson(accept)
    return error
  } catch (unacceptable) {
    return refusalOf(unacceptable)
  }
}

/**
 * Returns whether the response gets `no-cache`, as the engine sets it. It does so for every response to a GET, including errors,
 * unless the path ends in `xml`. Its authentication filter runs earlier and does not set the header for a 401 or for an unknown
 * engine.
 */
function isMarked({ method, url, context: { engine, principal } }: FastifyRequest): boolean {
  if (method !== 'GET' || engine === null || principal === null) return false
  return !targetPathOf(url).endsWith('xml')
}

/**
 * Returns whether an engine would add `Vary: Accept` to this error. It does so for operations with several forms, once it has
 * chosen a form. It chooses no form for a 406, and for a paging parameter that is not a number (Camunda 7.22).
 */
function variesByAccept(
  { context: { engine, principal, operation } }: FastifyRequest,
  { statusCode, body }: GatewayError | EngineRefusal,
): boolean {
  if (engine === null || principal === null || WITHOUT_FORM.has(statusCode)) return false
  return operation?.accept !== undefined && bodyValue(body, 'type') !== 'QueryParamException'
}

/** The status 406, and the statuses of responses that only the gateway sends. */
const WITHOUT_FORM: ReadonlySet<number> = new Set([406, 429, 502, 503, 504])

function bytesOf(body: unknown): Buffer {
  return Buffer.from(JSON.stringify(body))
}

/** Adds the gateway's own headers to a response of the framework. `writeResponse` and the relay do the same for their responses. */
export function signReply(reply: FastifyReply, own: Record<string, string>): void {
  if (saysWhoReads(own)) {
    own['vary'] = joinedVary(reply.getHeader('vary'), own['vary'] ?? '')
    for (const name of Object.keys(reply.getHeaders())) if (isOfCors(name)) reply.removeHeader(name)
  }
  reply.headers(own)
}

/** Returns the length of a body on the wire. A response to HEAD has no body. */
export function bodyBytesOf(method: string, body: unknown): number {
  if (method === 'HEAD') return 0
  return Buffer.isBuffer(body) ? body.length : typeof body === 'string' ? Buffer.byteLength(body) : 0
}

interface WholeResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: Buffer
}

/** Sends a whole response that is in memory, from an engine or from the gateway. */
export function sendResponse(reply: FastifyReply, response: WholeResponse): FastifyReply {
  reply.code(response.status)
  // Headers of the gateway are kept: a stored response would contain the request id of another exchange.
  for (const [name, value] of Object.entries(response.headers))
    if (!reply.hasHeader(name)) reply.header(name, value)
  return response.body.length === 0 ? reply.send() : reply.send(response.body)
}

/**
 * Sends a whole response without the framework, which would take a third of the time of a cached response. `own` headers replace those
 * of the response.
 */
export function writeResponse(
  { method, context }: Pick<ReceivedRequest, 'method' | 'context'>,
  response: ServerResponse,
  own: Record<string, string>,
  { status, headers, body }: WholeResponse,
): void {
  const list: (string | string[])[] = []
  const isShared = saysWhoReads(own)
  if (isShared) own['vary'] = joinedVary(headers['vary'], own['vary'] ?? '')
  for (const name in own) list.push(name, own[name] ?? '')
  for (const name in headers)
    if (!Object.hasOwn(own, name) && !(isShared && isOfCors(name))) list.push(name, headers[name] ?? '')
  if (status !== 204 && status !== 304) list.push('content-length', String(body.length))
  response.writeHead(status, list)
  response.end(body)
  context.writtenBytes = bodyBytesOf(method, body)
}
