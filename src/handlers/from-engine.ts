import type { FastifyReply } from 'fastify'
import { enforce } from '../pipeline/enforcement-mode.ts'
import type { Exchange } from '../pipeline/context.ts'
import { ownHeadersOf } from '../pipeline/observe.ts'
import { sendAnswer } from '../pipeline/replies.ts'
import type { Operation } from '../operations/table.ts'
import type { UpstreamRequest } from '../proxy/wire/upstream-request.ts'
import { type Answer, KEPT_ANSWER_BYTES, MAX_READ_BYTES } from '../request/answer.ts'
import { bodyText } from '../request/body.ts'
import { targetPathOf, targetSearchOf } from '../request/target.ts'
import { tagsOf } from './cached.ts'
import { hasOtherLinks, withClientLinks } from './client-links.ts'

/** 10. Asks the engine; what nobody here has to look at streams through. */
export function fromEngine(operation: Operation): (exchange: Exchange) => Promise<FastifyReply | undefined> {
  if (isAlwaysRead(operation)) return serveRead
  return (exchange) =>
    isAnotherForm(exchange) || hasOtherLinks(exchange) ? serveRead(exchange) : serveRelayed(exchange)
}

/** After which something is checked, written anew or invalidated. */
function isAlwaysRead({ checks, allowedLinks, evicts, invalidates }: Operation): boolean {
  const isChecked = checks.some(({ after }) => after === true)
  return isChecked || [allowedLinks, evicts, invalidates].some((column) => column !== undefined)
}

/** A restricted GET is asked as a POST. */
function isAnotherForm({ match, request }: Exchange): boolean {
  return match.rows !== null && request.method === 'GET'
}

async function serveRead(exchange: Exchange): Promise<FastifyReply> {
  return sendAnswer(exchange.reply, await readAnswer(exchange))
}

/** The whole answer as the caller gets it. What a write changes is gone from caches first. */
export async function readAnswer(exchange: Exchange): Promise<Answer> {
  const answer = await fetchAnswer(exchange).catch((error: unknown) => {
    // It may have taken effect all the same.
    void applyInvalidations(exchange)
    throw error
  })
  const isDone = answer.status >= 200 && answer.status < 300
  const { match, upstreamRequest } = exchange
  match.node = answer.node ?? null
  if (isDone && upstreamRequest.keepsAnswer === true && answer.body.length <= KEPT_ANSWER_BYTES)
    match.answerBody = answer.body
  if (isDone) await applyInvalidations(exchange)
  if (isDone) checkAfter(exchange, answer)
  return shownAnswer(exchange, answer)
}

/** What the engine asks for once it has done its work. */
function checkAfter({ parts, match }: Exchange, answer: Answer): void {
  const { engine, permit, accessRequest } = match
  if (engine.authorization === 'engine') return
  void enforce(parts, engine.authorization, match, () => {
    const decision = permit.after?.(accessRequest, createdId(answer))
    if (decision === undefined || decision.permitted) return
    match.denialReason = decision.denialReason ?? null
    throw decision.refusal
  })
}

/** 11. Removes what has changed from caches and memories, here and at every replica, before the caller gets the answer. */
async function applyInvalidations({
  parts,
  match: { engine, operation, accessRequest },
}: Exchange): Promise<void> {
  const { evicts, invalidates } = operation
  if (evicts !== undefined)
    await Promise.all([parts.cache.evict(tagsOf(engine, evicts)), engine.upstream.deployed()])
  if (invalidates === undefined) return
  await engine.changed(
    invalidates,
    accessRequest.params['id'] ?? bodyText(accessRequest.body, 'profile.id') ?? '',
  )
}

/** The answer with the address that the client used, without links to what it may not do, and with a GET's own headers. */
function shownAnswer(exchange: Exchange, answer: Answer): Answer {
  const { match, upstreamRequest, request } = exchange
  const { engine, operation, permit, accessRequest } = match
  // The engine says so on every GET; this one was asked as a POST.
  const headers =
    upstreamRequest.method === request.method
      ? answer.headers
      : { 'cache-control': 'no-cache', ...answer.headers }
  if (operation.links !== true) return { ...answer, headers }
  const body = withClientLinks(exchange, answer.body)
  const mayOffer =
    permit.keepAllowedLinks !== null && engine.authorization === 'enforce' && answer.status === 200
  return { ...answer, headers, body: mayOffer ? permit.keepAllowedLinks(body, accessRequest) : body }
}

/**
 * A GET asked as a POST gives the same rows, but other words for a bad query: then the GET itself is asked for them.
 * Whatever it says, rows that were not narrowed do not go out.
 */
async function fetchAnswer({ match: { engine }, upstreamRequest, request }: Exchange): Promise<Answer> {
  const answer = await engine.upstream.fetch(upstreamRequest, MAX_READ_BYTES)
  if (answer.status !== 400 || upstreamRequest.method === request.method) return answer
  const original: UpstreamRequest = {
    ...upstreamRequest,
    method: request.method,
    path: targetPathOf(upstreamRequest.path) + targetSearchOf(request.url),
    body: null,
  }
  const said = await engine.upstream.fetch(original, MAX_READ_BYTES)
  return said.status >= 400 ? said : answer
}

/** Empty for an answer that is not what it should be: then nobody may read it. */
function createdId({ body }: Answer): string {
  try {
    return bodyText(JSON.parse(body.toString('utf8')), 'id') ?? ''
  } catch {
    return ''
  }
}

/** Gives nothing: the reply is thenable itself, and a promise would wait for it once more. */
async function serveRelayed({ match, upstreamRequest, reply }: Exchange): Promise<undefined> {
  const relayed = await match.engine.upstream.relay(upstreamRequest, reply.raw, ownHeadersOf(match))
  // Until here an error could still be answered; from here the answer is out.
  reply.hijack()
  match.node = relayed.node
  match.writtenBytes = relayed.bytes
  match.answerBody = relayed.body ?? null
}
