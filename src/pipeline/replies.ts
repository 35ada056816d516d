import { targetPathOf } from '../request/target.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { EngineRefusal, GatewayError, type GatewayCode } from '../errors.ts'
import { bodyValue } from '../request/body.ts'
import { assertTakesJson } from '../request/accept.ts'
import { isOfCors, joinedVary, saysWhoReads } from '../proxy/wire/headers.ts'

const JSON_TYPE = 'application/json'

/** Fastify's own refusals, by its code; everything else of its making is a request that could not be read. */
const FRAMEWORK_CODES: Readonly<Record<string, GatewayCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'GW_BODY_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'GW_UNSUPPORTED_MEDIA',
  FST_ERR_BAD_URL: 'GW_BAD_TARGET',
}

/** Any error as one of the two that have an answer. What nobody foresaw is a 500 that tells the caller nothing. */
export function answerableOf(error: unknown): GatewayError | EngineRefusal {
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

/** Writes a refusal in the engine's shape. The body is sent as bytes: the framework would add a charset the engine does not. */
export function sendRefusal(reply: FastifyReply, refusal: GatewayError | EngineRefusal): FastifyReply {
  const error = acceptableOf(refusal, reply.request.headers.accept)
  reply.code(error.statusCode)
  // Whoever waits for a 100 and gets this instead may send the body or not: what follows could not be told apart.
  if (reply.request.headers.expect !== undefined) reply.header('connection', 'close')
  if (isMarked(reply.request)) reply.header('cache-control', 'no-cache')
  if (variesByAccept(reply.request, error)) reply.header('vary', 'Accept')
  if (error instanceof EngineRefusal) {
    reply.headers(error.headers)
    return error.body === undefined ? reply.send() : reply.send(bytesOf(error.body))
  }
  reply.headers({ ...error.headers, 'content-type': JSON_TYPE, 'x-gateway-error': error.code })
  if (error.retryAfterSeconds !== null) reply.header('retry-after', String(error.retryAfterSeconds))
  // What was not read to its end cannot be followed by another request.
  if (error.statusCode === 413 || error.statusCode === 408) reply.header('connection', 'close')
  return reply.send(bytesOf(error.body))
}

/** The engine looks at `Accept` before it looks for rows: a client that takes no JSON hears nothing of there being none. */
function acceptableOf(error: GatewayError | EngineRefusal, accept: string | undefined) {
  if (error.statusCode !== 200) return error
  try {
    assertTakesJson(accept)
    return error
  } catch (unacceptable) {
    return answerableOf(unacceptable)
  }
}

/**
 * As the engine marks every answer to a GET, errors included, except where the path ends in `xml`. Its authentication filter,
 * which stands before that, marks nothing: neither a 401 nor that there is no such engine.
 */
function isMarked({ method, url, context: { engine, principal } }: FastifyRequest): boolean {
  if (method !== 'GET' || engine === null || principal === null) return false
  return !targetPathOf(url).endsWith('xml')
}

/**
 * Returns whether an engine would add `Vary: Accept` to this error: it does so for operations with several forms, once it has
 * chosen one of them. It chooses none for a 406 and for a paging parameter that is no number (Camunda 7.22).
 */
function variesByAccept(
  { context: { engine, principal, operation } }: FastifyRequest,
  { statusCode, body }: GatewayError | EngineRefusal,
): boolean {
  if (engine === null || principal === null || WITHOUT_FORM.has(statusCode)) return false
  const hasForms = operation?.hal === true || operation?.csv === true
  return hasForms && bodyValue(body, 'type') !== 'QueryParamException'
}

/** Statuses of a 406, and of responses that only the gateway gives. */
const WITHOUT_FORM: ReadonlySet<number> = new Set([406, 429, 502, 503, 504])

function bytesOf(body: unknown): Buffer {
  return Buffer.from(JSON.stringify(body))
}

/** Gives an answer of the framework's the gateway's own headers, as `writeAnswer` and the relay do with theirs. */
export function signReply(reply: FastifyReply, own: Record<string, string>): void {
  if (saysWhoReads(own)) {
    own['vary'] = joinedVary(reply.getHeader('vary'), own['vary'] ?? '')
    for (const name of Object.keys(reply.getHeaders())) if (isOfCors(name)) reply.removeHeader(name)
  }
  reply.headers(own)
}

/** The length of a body on the wire: a response to HEAD has none. */
export function bodyBytesOf(method: string, body: unknown): number {
  if (method === 'HEAD') return 0
  return Buffer.isBuffer(body) ? body.length : typeof body === 'string' ? Buffer.byteLength(body) : 0
}

interface WholeAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: Buffer
}

/** A whole answer that the gateway holds: read to be looked at, or of its own. */
export function sendAnswer(reply: FastifyReply, answer: WholeAnswer): FastifyReply {
  reply.code(answer.status)
  // What the gateway has said already stands: a kept answer would bring the request id of another exchange.
  for (const [name, value] of Object.entries(answer.headers))
    if (!reply.hasHeader(name)) reply.header(name, value)
  return answer.body.length === 0 ? reply.send() : reply.send(answer.body)
}

/** The same past the framework, whose way to the socket costs a third of a cached answer. `own` goes before what the answer brings. */
export function writeAnswer(
  reply: FastifyReply,
  own: Record<string, string>,
  { status, headers, body }: WholeAnswer,
): FastifyReply {
  const list: (string | string[])[] = []
  const isShared = saysWhoReads(own)
  if (isShared) own['vary'] = joinedVary(headers['vary'], own['vary'] ?? '')
  for (const name in own) list.push(name, own[name] ?? '')
  for (const name in headers)
    if (!Object.hasOwn(own, name) && !(isShared && isOfCors(name))) list.push(name, headers[name] ?? '')
  if (status !== 204 && status !== 304) list.push('content-length', String(body.length))
  reply.raw.writeHead(status, list)
  reply.raw.end(body)
  // Last: an error before this can still be answered.
  reply.hijack()
  reply.request.context.writtenBytes = bodyBytesOf(reply.request.method, body)
  return reply
}
