import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { Cors } from '../request/cors.ts'
import type { PathTemplates } from './path-templates.ts'
import type { RequestStage } from './request-stage.ts'

/** Adds headers to every response that say whether a page of another origin may read it. They are also in refusals before routing. */
export function shareResponses({ responseHeaders }: Pick<Cors, 'responseHeaders'>): RequestStage {
  return function shareResponsesStage({ context, headers }) {
    context.addedHeaders = responseHeaders(headers.origin)
  }
}

/**
 * Answers preflights of the API. A browser sends no credentials with them, so the hook runs before authentication. It ignores the
 * engine in the path, so that strangers do not learn which engines exist.
 */
export function respondToPreflights(
  { preflightHeaders }: Pick<Cors, 'preflightHeaders'>,
  { methodsOf }: Pick<PathTemplates, 'methodsOf'>,
) {
  return function preflightHook(
    request: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction,
  ): void {
    const headers = preflightHeaders(request, () => methodsOf(request.url))
    if (headers === null) return done()
    request.context.addedHeaders = headers
    reply.code(204).send()
  }
}
