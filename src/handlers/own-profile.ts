import type { FastifyReply } from 'fastify'
import type { Exchange } from '../pipeline/context.ts'
import { sendAnswer } from '../pipeline/replies.ts'
import type { Answer } from '../request/answer.ts'

/** Whether it is the caller himself who is asked about. */
export function isAboutSelf({ match: { accessRequest } }: Exchange): boolean {
  return accessRequest.params['id'] === accessRequest.principal.userId
}

/**
 * The caller's own profile. Whoever is authenticated here exists; one whom the engine does not know has an id and no names, in
 * the engine's form. Web clients ask for it before anything else. `ask`: the engine.
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
