import { setTimeout } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import type { Exchange, Match, RequestContext } from '../pipeline/context.ts'
import { MAX_READ_BYTES } from '../request/answer.ts'
import { assertTakesJson } from '../request/accept.ts'
import { bodyValue } from '../request/body.ts'
import { jsonIn } from '../request/engine-request.ts'
import { fetchOfNothing } from '../policy/authz/rows/narrow-topics.ts'
import { sendAnswer } from '../pipeline/replies.ts'
import { sendFetched } from './fetch-and-lock.ts'
import { rowsIn } from './rows/read-rows.ts'
import { emptyAnswerOf } from './rows/filtered-list.ts'
import { reportMissingRows } from './rows/reported-rows.ts'

/** An engine refuses to hold a poll longer; that it says at once. */
const LONGEST_HOLD_MS = 1_800_000

/** How long a poll with nothing to wait for is parked at most: shorter than a drain. */
const MAX_HOLD_MS = 10_000

/** How long the engine may hold this request; 0 for one that it answers at once. */
export function holdMsOf({ operation, accessRequest }: Match): number {
  if (operation.longPoll !== true) return 0
  const holdMs = Number(bodyValue(accessRequest.body, 'asyncResponseTimeout'))
  return holdMs > 0 && holdMs <= LONGEST_HOLD_MS ? holdMs : 0
}

/**
 * A request for work, which waits until there is some. `tenants`: those whose tasks the caller may get. Thousands wait at
 * once, so what goes on holds no more than it needs: nothing of the exchange but the reply.
 */
export function servePoll(
  { match, upstreamRequest, reply }: Exchange,
  tenants: ReadonlySet<string> | undefined,
): Promise<FastifyReply> {
  const { upstream } = match.engine
  const { template } = match.operation
  const ended = upstream.polls.ask({
    upstreamRequest,
    holdMs: holdMsOf(match),
    caller: match.accessRequest.principal.userId,
    sink: reply.raw,
    limitBytes: MAX_READ_BYTES,
  })
  release(match)
  return ended.then(async ({ answer, node }) => {
    const { context } = reply.request
    context.node = node
    if (context.missingRows !== null) await reportMissingRows(context, template, answer)
    return tenants === undefined
      ? sendAnswer(reply, answer)
      : sendFetched(answer, { upstream, reply, tenants })
  })
}

/** What has been checked is not looked at again: its bytes are in the request to the engine. */
function release(context: RequestContext): void {
  context.accessRequest = null
  // A new id is a chain of twenty pieces, 500 bytes, until somebody reads it: then it is one.
  context.id.includes('\n')
}

/** A fetch of nothing that the caller may have. The engine judges it first, and is not kept waiting. */
export async function serveFetchOfNothing({
  match,
  upstreamRequest,
  reply,
}: Exchange): Promise<FastifyReply> {
  const body = upstreamRequest.body && fetchOfNothing(upstreamRequest.body, holdMsOf(match) > 0)
  const { upstream } = match.engine
  const answer = await upstream.fetch({ ...upstreamRequest, body }, MAX_READ_BYTES)
  if (answer.status >= 400) return sendAnswer(reply, answer)
  // Empty, unless an engine does not know the member that says so.
  if (rowsIn(jsonIn(answer.body)).length > 0) await upstream.giveBack(answer)
  return serveNothing(match, reply)
}

/** Nothing. A worker that would wait for work does wait, or it would ask again at once, and again. */
export async function serveNothing(match: Match, reply: FastifyReply): Promise<FastifyReply> {
  assertTakesJson(reply.request.headers.accept)
  reply.request.context.isWithheld = true
  const holdMs = holdMsOf(match)
  if (holdMs > 0) await setTimeout(Math.min(holdMs, MAX_HOLD_MS), undefined, { ref: false })
  return sendAnswer(reply, emptyAnswerOf(match.operation, reply.request.method))
}
