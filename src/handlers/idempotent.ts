import { targetQueryOf } from '../request/target.ts'
import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import type {
  Claim,
  ClaimResult,
  ReplayOutcome,
  KeyedRequest,
  IdempotencyStore,
} from '../idempotency/idempotency-store.ts'
import { type GatewayCode, GatewayError, operatorText } from '../errors.ts'
import type {
  HandlerContext,
  OperationRequest,
  CheckedContext,
  ReceivedRequest,
} from '../pipeline/context.ts'
import { IDEMPOTENCY_KEY, idempotencyKeyOf } from '../idempotency/idempotency-key.ts'
import type { Dependencies } from '../pipeline/dependencies.ts'
import { isConflict } from '../proxy/attempts/conflict.ts'
import type { BufferedResponse } from '../request/buffered-response.ts'
import { sendResponse } from '../pipeline/replies.ts'
import { linkAddressOf, withMovedLinks } from './client-links.ts'

/** The two steps of a request. If `prepare` throws, nothing of the request has been sent. */
export interface Work {
  readonly prepare: (handlerContext: HandlerContext) => Promise<HandlerContext>
  readonly ask: (handlerContext: HandlerContext) => Promise<BufferedResponse>
}

export function hasIdempotencyKey({ operation }: OperationRequest, { headers }: ReceivedRequest): boolean {
  return operation.idempotencyKey === true && headers[IDEMPOTENCY_KEY] !== undefined
}

/** Executes the request with a new key once, among all gateways that share a Redis. Repetitions get the stored outcome. */
export async function serveIdempotent(handlerContext: HandlerContext, work: Work): Promise<FastifyReply> {
  const { dependencies, context, request } = handlerContext
  if (context.replay.state !== 'unknown key') return sendFound(handlerContext, context.replay)
  const { connect, headers, body } = dependencies.config.timeouts
  const underWayMs = connect + headers + body + MARGIN_MS
  const claiming = await idempotencyStoreOf(dependencies).claim({ ...onceOf(context, request), underWayMs })
  if (claiming.state !== 'first') return sendFound(handlerContext, claiming)
  count(handlerContext, 'first')
  return sendResponse(handlerContext.reply, await runKeyed(withoutKey(handlerContext), claiming.claim, work))
}

/**
 * Returns the outcome of the same request of the same caller. That request may have removed its own subject: a signalled execution
 * no longer exists. Null if no request with this key is known, or if the lookup does not apply.
 */
export function findReplay(
  { idempotencyStore }: Dependencies,
  context: CheckedContext,
  request: ReceivedRequest,
): Promise<ReplayOutcome | null> | null {
  if (
    idempotencyStore === null ||
    context.engine.authorization !== 'enforce' ||
    !hasIdempotencyKey(context, request)
  )
    return null
  return idempotencyStore
    .find(onceOf(context, request))
    .then((found) => (found?.state === 'reused' ? null : found))
}

/** Added to the timeouts of the engine: time for lookups before the request, and for queues. */
const MARGIN_MS = 10_000

const RESULTS: Readonly<Record<ClaimFailure['state'], string>> = {
  done: 'replayed',
  'not kept': 'not_kept',
  'in progress': 'in_progress',
  unknown: 'unknown',
  unreadable: 'unreadable',
  reused: 'reused',
  unavailable: 'unavailable',
}

function count({ dependencies, context }: HandlerContext, result: string): void {
  dependencies.metrics.idempotent({ engine: context.engine.name, result })
}

function idempotencyStoreOf({ idempotencyStore }: Dependencies): IdempotencyStore {
  if (idempotencyStore === null) throw new GatewayError('GW_IDEMPOTENCY_UNSUPPORTED')
  return idempotencyStore
}

/**
 * Returns the key of the request (engine, caller, operation and the client's key) and a fingerprint of everything that decides what
 * it does. The fingerprint contains the template and its parameters, because the path is built from them.
 */
function onceOf(context: CheckedContext, request: ReceivedRequest): Omit<KeyedRequest, 'underWayMs'> {
  const { engine, operation, accessRequest, bytes } = context
  const key = idempotencyKeyOf(request.raw.rawHeaders)
  const query = targetQueryOf(request.url)
  const head = [operation.template, accessRequest.params, query, request.headers['content-type'] ?? null]
  const fingerprint = createHash('sha256').update(`${JSON.stringify(head)}\n`)
  return {
    key: JSON.stringify([engine.name, accessRequest.principal.userId, operation.id, key]),
    fingerprint: fingerprint.update(bytes ?? '').digest('base64url'),
  }
}

function withoutKey({ upstreamRequest, ...handlerContext }: HandlerContext): HandlerContext {
  const { [IDEMPOTENCY_KEY]: _, ...headers } = upstreamRequest.headers
  return { ...handlerContext, upstreamRequest: { ...upstreamRequest, headers } }
}

/** Executes the request. The claim is settled before the client gets a response, even if the client has disconnected. */
async function runKeyed(
  handlerContext: HandlerContext,
  claim: Claim,
  { prepare, ask }: Work,
): Promise<BufferedResponse> {
  let isSent = false
  try {
    const prepared = await prepare(handlerContext)
    isSent = true
    const response = await ask(prepared)
    await settle(handlerContext, claim, { outcome: outcomeOf(response), response })
    return response
  } catch (error) {
    const outcome = isSent && !isNothingSent(error) ? 'unknown' : 'released'
    await settle(handlerContext, claim, { outcome, response: null })
    throw error
  }
}

/** Errors that are thrown only if no byte was sent, or if the engine has rolled back the request. */
const NOTHING_SENT: ReadonlySet<GatewayCode> = new Set([
  'GW_NO_NODE',
  'GW_OVERLOADED',
  'GW_DECISION_OUTDATED',
])

function isNothingSent(error: unknown): boolean {
  return error instanceof GatewayError && NOTHING_SENT.has(error.code)
}

type ClaimOutcome = 'kept' | 'unknown' | 'released'

/**
 * Statuses of a proxy in front of the engine, which may have forwarded the request: proxies also send 503 if a node closes the
 * connection. Redirects are treated in the same way.
 */
const UNKNOWN: ReadonlySet<number> = new Set([502, 503, 504])

/** Statuses of a server that has not executed the request. */
const REFUSED: ReadonlySet<number> = new Set([401, 429])

function outcomeOf({ status, body }: BufferedResponse): ClaimOutcome {
  if (UNKNOWN.has(status) || (status >= 300 && status <= 399)) return 'unknown'
  return REFUSED.has(status) || (status === 500 && isConflict(body)) ? 'released' : 'kept'
}

interface ClaimResolution {
  readonly outcome: ClaimOutcome
  readonly response: BufferedResponse | null
}

async function settle(
  handlerContext: HandlerContext,
  claim: Claim,
  { outcome, response }: ClaimResolution,
): Promise<void> {
  const { dependencies, context } = handlerContext
  const isTold =
    outcome === 'released'
      ? await claim.release()
      : outcome === 'kept' && response !== null
        ? await claim.keep({ answer: response, address: linkAddressOf(handlerContext) })
        : await claim.leaveUnknown()
  if (outcome === 'released') count(handlerContext, 'released')
  if (isTold) return
  count(handlerContext, 'unstored')
  dependencies.log.warn(
    { requestId: context.id, outcome },
    'cannot store the outcome of a request with an Idempotency-Key in Redis; until it is stored, repeated requests get GW_IDEMPOTENCY_IN_PROGRESS or GW_OUTCOME_UNKNOWN',
  )
}

type ClaimFailure = Exclude<ClaimResult, { readonly state: 'first' }>

/** Sends the stored response of the engine, or throws the reason for its absence. */
function sendFound(handlerContext: HandlerContext, found: ClaimFailure): FastifyReply {
  count(handlerContext, RESULTS[found.state])
  if (found.state !== 'done') throw refusalOf(found)
  const { reply } = handlerContext
  const { answer, address } = found
  reply.header('idempotency-replayed', 'true')
  return sendResponse(reply, { ...answer, body: withMovedLinks(answer.body, address, handlerContext) })
}

function refusalOf(found: Exclude<ClaimFailure, { readonly state: 'done' }>): GatewayError {
  if (found.state === 'not kept')
    return new GatewayError('GW_IDEMPOTENCY_NOT_KEPT', {
      message: operatorText`The request was executed; its response, with status ${found.status}, was too large to be stored`,
    })
  if (found.state === 'in progress')
    return new GatewayError('GW_IDEMPOTENCY_IN_PROGRESS', { retryAfterSeconds: 1 })
  if (found.state === 'reused') return new GatewayError('GW_IDEMPOTENCY_KEY_REUSED')
  if (found.state === 'unavailable')
    return new GatewayError('GW_IDEMPOTENCY_UNAVAILABLE', { retryAfterSeconds: 1 })
  return new GatewayError('GW_OUTCOME_UNKNOWN', {
    message: operatorText`It is unknown whether the first request with this Idempotency-Key took effect`,
  })
}
