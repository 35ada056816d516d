import { targetQueryOf } from '../request/target.ts'
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type {
  Claim,
  Claiming,
  PreviousOutcome,
  KeyedRequest,
  IdempotencyStore,
} from '../idempotency/idempotency-store.ts'
import { type GatewayCode, GatewayError } from '../errors.ts'
import type { Exchange, Match, MatchedContext } from '../pipeline/context.ts'
import { IDEMPOTENCY_KEY, idempotencyKeyOf } from '../idempotency/idempotency-key.ts'
import type { Parts } from '../pipeline/parts.ts'
import { isConflict } from '../proxy/attempts/conflict.ts'
import type { Answer } from '../request/answer.ts'
import { sendAnswer } from '../pipeline/replies.ts'
import { linkAddressOf, withMovedLinks } from './client-links.ts'

/** How a request is done. What `prepare` throws is thrown before anything of it is sent. */
export interface Work {
  readonly prepare: (exchange: Exchange) => Promise<Exchange>
  readonly ask: (exchange: Exchange) => Promise<Answer>
}

export function hasIdempotencyKey({ operation }: Match, { headers }: FastifyRequest): boolean {
  return operation.idempotencyKey === true && headers[IDEMPOTENCY_KEY] !== undefined
}

/** Done by the first request that has the key, of all gateways that share a Redis; the others hear what has become of it. */
export async function serveIdempotent(exchange: Exchange, work: Work): Promise<FastifyReply> {
  const { parts, match, request } = exchange
  if (match.previous !== null) return sendFound(exchange, match.previous)
  const { connect, headers, body } = parts.config.timeouts
  const underWayMs = connect + headers + body + MARGIN_MS
  const claiming = await idempotencyStoreOf(parts).claim({ ...onceOf(match, request), underWayMs })
  if (claiming.state !== 'first') return sendFound(exchange, claiming)
  count(exchange, 'first')
  return sendAnswer(exchange.reply, await runKeyed(withoutKey(exchange), claiming.claim, work))
}

/**
 * What has become of the same request of the same caller, which may have ended what it asks about: a signalled execution is
 * gone. Null: nothing has been asked under such a key, or it is not to be looked for.
 */
export function findPrevious(
  { idempotencyStore }: Parts,
  match: MatchedContext,
  request: FastifyRequest,
): Promise<PreviousOutcome | null> | null {
  if (
    idempotencyStore === null ||
    match.engine.authorization !== 'enforce' ||
    !hasIdempotencyKey(match, request)
  )
    return null
  return idempotencyStore
    .find(onceOf(match, request))
    .then((found) => (found?.state === 'reused' ? null : found))
}

/** Beyond the time that an engine is given: for look-ups before it, and queues. */
const MARGIN_MS = 10_000

const RESULTS: Readonly<Record<Found['state'], string>> = {
  done: 'replayed',
  'not kept': 'not_kept',
  'in progress': 'in_progress',
  unknown: 'unknown',
  unreadable: 'unreadable',
  reused: 'reused',
  unavailable: 'unavailable',
}

function count({ parts, match }: Exchange, result: string): void {
  parts.metrics.idempotent({ engine: match.engine.name, result })
}

function idempotencyStoreOf({ idempotencyStore }: Parts): IdempotencyStore {
  if (idempotencyStore === null) throw new GatewayError('GW_IDEMPOTENCY_UNSUPPORTED')
  return idempotencyStore
}

/** Whose request it is and how it is called; and all that decides what it does, of which its path is made anew. */
function onceOf(match: MatchedContext, request: FastifyRequest): Omit<KeyedRequest, 'underWayMs'> {
  const { engine, operation, accessRequest, bytes } = match
  const key = idempotencyKeyOf(request.raw.rawHeaders)
  const query = targetQueryOf(request.url)
  const head = [operation.template, accessRequest.params, query, request.headers['content-type'] ?? null]
  const fingerprint = createHash('sha256').update(`${JSON.stringify(head)}\n`)
  return {
    key: JSON.stringify([engine.name, accessRequest.principal.userId, operation.id, key]),
    fingerprint: fingerprint.update(bytes ?? '').digest('base64url'),
  }
}

function withoutKey({ upstreamRequest, ...exchange }: Exchange): Exchange {
  const { [IDEMPOTENCY_KEY]: _, ...headers } = upstreamRequest.headers
  return { ...exchange, upstreamRequest: { ...upstreamRequest, headers } }
}

/** The claim is settled before the client hears anything, and whether or not it still listens. */
async function runKeyed(exchange: Exchange, claim: Claim, { prepare, ask }: Work): Promise<Answer> {
  let isSent = false
  try {
    const prepared = await prepare(exchange)
    isSent = true
    const answer = await ask(prepared)
    await settle(exchange, claim, { outcome: outcomeOf(answer), answer })
    return answer
  } catch (error) {
    const outcome = isSent && !isNothingSent(error) ? 'unknown' : 'released'
    await settle(exchange, claim, { outcome, answer: null })
    throw error
  }
}

/** Errors that stand only where no byte was sent, or where the engine has taken back what was. */
const NOTHING_SENT: ReadonlySet<GatewayCode> = new Set([
  'GW_NO_NODE',
  'GW_OVERLOADED',
  'GW_DECISION_OUTDATED',
])

function isNothingSent(error: unknown): boolean {
  return error instanceof GatewayError && NOTHING_SENT.has(error.code)
}

type Outcome = 'kept' | 'unknown' | 'released'

/** By something before the engine, which may have heard of the request: proxies say 503 also when a node breaks off. So are all redirects. */
const UNKNOWN: ReadonlySet<number> = new Set([502, 503, 504])

/** Whoever says so has done nothing. */
const REFUSED: ReadonlySet<number> = new Set([401, 429])

function outcomeOf({ status, body }: Answer): Outcome {
  if (UNKNOWN.has(status) || (status >= 300 && status <= 399)) return 'unknown'
  return REFUSED.has(status) || (status === 500 && isConflict(body)) ? 'released' : 'kept'
}

interface Settled {
  readonly outcome: Outcome
  readonly answer: Answer | null
}

async function settle(exchange: Exchange, claim: Claim, { outcome, answer }: Settled): Promise<void> {
  const { parts, request } = exchange
  const isTold =
    outcome === 'released'
      ? await claim.release()
      : outcome === 'kept' && answer !== null
        ? await claim.keep({ answer, address: linkAddressOf(exchange) })
        : await claim.leaveUnknown()
  if (outcome === 'released') count(exchange, 'released')
  if (isTold) return
  count(exchange, 'unstored')
  parts.log.warn(
    { requestId: request.id, outcome },
    'Redis could not be told what has become of a request with an Idempotency-Key: until it is, a repetition hears that it is under way or unknown',
  )
}

type Found = Exclude<Claiming, { readonly state: 'first' }>

/** As the engine said it then, or why not. */
function sendFound(exchange: Exchange, found: Found): FastifyReply {
  count(exchange, RESULTS[found.state])
  if (found.state !== 'done') throw refusalOf(found)
  const { reply } = exchange
  const { answer, address } = found
  reply.header('idempotency-replayed', 'true')
  return sendAnswer(reply, { ...answer, body: withMovedLinks(answer.body, address, exchange) })
}

function refusalOf(found: Exclude<Found, { readonly state: 'done' }>): GatewayError {
  if (found.state === 'not kept')
    return new GatewayError('GW_IDEMPOTENCY_NOT_KEPT', {
      message: `The request was done and answered with status ${found.status}; the answer was too large to be kept`,
    })
  if (found.state === 'in progress')
    return new GatewayError('GW_IDEMPOTENCY_IN_PROGRESS', { retryAfterSeconds: 1 })
  if (found.state === 'reused') return new GatewayError('GW_IDEMPOTENCY_KEY_REUSED')
  if (found.state === 'unavailable')
    return new GatewayError('GW_IDEMPOTENCY_UNAVAILABLE', { retryAfterSeconds: 1 })
  return new GatewayError('GW_OUTCOME_UNKNOWN', {
    message: 'Whether the first request with this Idempotency-Key took effect is unknown',
  })
}
