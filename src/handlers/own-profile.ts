import type { FastifyReply } from 'fastify'
import type { Exchange } from '../pipeline/context.ts'
import { sendAnswer } from '../pipeline/replies.ts'
import type { Answer } from '../request/answer.ts'

/** Returns whether the caller requests their own profile. */
export function isAboutSelf({ match: { accessRequest } }: Exchange): boolean {
  return accessRequest.params['id'] === accessRequest.principal.userId
}

/**
 * Serves the caller's own profile, which web clients request first. An authenticated caller always exists here. For a caller that
 * the engine does not know, the response has the id and no names, in the engine's form.
 * @param ask reads the response of the engine
 */
export async function serveOwnProfile(
  exchange: Exchange,
  ask: (exchange: Exchange) => Promise<Answer>,
): Promise<FastifyReply> {
  const answer = await ask(exchange)
  if (answer.status !== 404) return sendAnswer(exchange.reply, answer)
  const profile = {
    id: exchange.match.accessRequest.principal.userId,
    firstName: null,
    lastName: null,
    email: null,
  }
  return sendAnswer(exchange.reply, {
    status: 200,
    headers: { 'cache-control': 'no-cache', 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(profile)),
  })
}
