import { setTimeout } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { type Exchange, MAX_READ_BYTES } from './exchange.ts'
import type { Match } from './matched.ts'
import { bodyValue } from './policy/asked.ts'
import type { Upstream } from './proxy/upstream.ts'
import { sendAnswer } from './replies.ts'
import { serveFetched } from './serve-fetched.ts'
import { emptyAnswerOf } from './serve-rows.ts'

/** An engine refuses to hold a poll longer; that it says at once. */
const LONGEST_HOLD_MS = 1_800_000

/** A poll with nothing to wait for is held so long at most: shorter than a drain takes. */
const MAX_HOLD_MS = 10_000

/** How long the engine may hold this request; 0 for one that it answers at once. */
export function holdMsOf({ operation, asked }: Match): number {
  if (operation.longPoll !== true) return 0
  const holdMs = Number(bodyValue(asked.body, 'asyncResponseTimeout'))
  return holdMs > 0 && holdMs <= LONGEST_HOLD_MS ? holdMs : 0
}

/** A request for work, which waits until there is some. `tenants`: those whose tasks the caller may get. */
export async function servePoll(
  exchange: Exchange,
  tenants: ReadonlySet<string> | undefined,
): Promise<FastifyReply> {
  const upstream = pollingUpstream(exchange)
  if (tenants === undefined)
    return sendAnswer(exchange.reply, await upstream.fetch(exchange.hop, MAX_READ_BYTES))
  const { match } = exchange
  return serveFetched({ ...exchange, match: { ...match, engine: { ...match.engine, upstream } } }, tenants)
}

/** The exchange's own hop waits among the polls; whatever else is asked goes its usual way. */
function pollingUpstream({ match, hop: poll, request, reply }: Exchange): Upstream {
  const { upstream } = match.engine
  return {
    ...upstream,
    fetch: async (hop, limitBytes) => {
      if (hop !== poll) return upstream.fetch(hop, limitBytes)
      const { answer, node } = await upstream.polls.ask({
        hop,
        holdMs: holdMsOf(match),
        caller: match.asked.principal.userId,
        sink: reply.raw,
        limitBytes,
      })
      request.node = node
      return answer
    },
  }
}

/** Nothing. A worker that would wait for work does wait, or it would ask again at once, and again. */
export async function serveNothing(match: Match, reply: FastifyReply): Promise<FastifyReply> {
  const holdMs = holdMsOf(match)
  if (holdMs > 0) await setTimeout(Math.min(holdMs, MAX_HOLD_MS), undefined, { ref: false })
  return sendAnswer(reply, emptyAnswerOf(match.operation))
}
