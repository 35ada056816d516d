import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DecisionMaker } from '../pipeline/context.ts'
import { decideAgain, isOutdated } from '../pipeline/decide-again.ts'
import { locatedOf } from '../pipeline/context.ts'

interface ServeAgainOptions {
  readonly decisionMaker: DecisionMaker
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly serveDecided: (
    request: FastifyRequest,
    reply: FastifyReply,
  ) => FastifyReply | Promise<FastifyReply | undefined>
}

/** Limit of decisions about one request, because records may change all the time. */
const MAX_DECISIONS = 4

/** Decides and serves a request again if it was not sent because its decision no longer applied. */
export async function serveAgain(
  error: unknown,
  { decisionMaker, request, reply, serveDecided }: ServeAgainOptions,
): Promise<FastifyReply | undefined> {
  let cause = error
  for (let decisions = 1; decisions < MAX_DECISIONS && isOutdated(cause); decisions += 1) {
    await decideAgain(decisionMaker, locatedOf(request), request)
    try {
      return await serveDecided(request, reply)
    } catch (again) {
      cause = again
    }
  }
  throw cause
}
