import type { FastifyReply } from 'fastify'
import type { HandlerContext } from '../pipeline/context.ts'
import { sendResponse } from '../pipeline/replies.ts'
import type { BufferedResponse } from '../request/buffered-response.ts'
import { jsonResponse } from './own-response.ts'

/** Returns whether the caller requests their own profile. */
export function isAboutSelf({ context: { accessRequest } }: HandlerContext): boolean {
  return accessRequest.params['id'] === accessRequest.principal.userId
}

/**
 * Serves the caller's own profile, which web clients request first. An authenticated caller always exists here. For a caller that
 * the engine does not know, the response has the id and no names, in the engine's form.
 * @param ask reads the response of the engine
 */
export async function serveOwnProfile(
  handlerContext: HandlerContext,
  ask: (handlerContext: HandlerContext) => Promise<BufferedResponse>,
): Promise<FastifyReply> {
  const response = await ask(handlerContext)
  if (response.status !== 404) return sendResponse(handlerContext.reply, response)
  const profile = {
    id: handlerContext.context.accessRequest.principal.userId,
    firstName: null,
    lastName: null,
    email: null,
  }
  return sendResponse(handlerContext.reply, jsonResponse(profile))
}
