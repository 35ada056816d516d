import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { Cors } from '../request/cors.ts'

/** Says of every answer, also of a refusal before routing, whether a page of another origin may read it. */
export function shareAnswers(app: FastifyInstance, { answerHeaders }: Pick<Cors, 'answerHeaders'>): void {
  app.addHook('onRequest', function shareHook(request, _reply, done) {
    request.context.addedHeaders = answerHeaders(request.headers.origin)
    done()
  })
}

/**
 * Answers preflights of the API. A browser sends no credentials with them, so it stands before authentication; and so that
 * strangers do not learn which engines there are, the engine of the path is not looked at.
 */
export function answerPreflights({ preflightHeaders }: Pick<Cors, 'preflightHeaders'>) {
  return function preflightHook(
    request: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction,
  ): void {
    const headers = preflightHeaders(request, request.routeOptions.config.methods)
    if (headers === null) return done()
    request.context.addedHeaders = headers
    reply.code(204).send()
  }
}
