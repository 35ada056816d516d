import type { FastifyReply } from 'fastify'
import { operatorText, jsonRefusalOf } from '../errors.ts'
import type { HandlerContext } from '../pipeline/context.ts'
import { sendResponse } from '../pipeline/replies.ts'
import { assertTakesJson } from '../request/accept.ts'
import { bodyText } from '../request/body.ts'

/**
 * Responds whether a password of a user is correct, in the engine's form. The result is the same as for Basic authentication, and
 * failures are counted in the same way.
 * @throws EngineRefusal 400 if the user or the password is missing; GatewayError as the authenticator
 */
export async function servePasswordCheck({ context, request, reply }: HandlerContext): Promise<FastifyReply> {
  const { engine, accessRequest } = context
  assertTakesJson(request.headers.accept)
  const user = bodyText(accessRequest.body, 'username')
  const password = bodyText(accessRequest.body, 'password')
  if (user === null || password === null) throw incomplete()
  context.passwordCheck = { user, result: 'pending' }
  context.stage = 'authenticate'
  const isRight = await engine.authenticator.accepts({ user, password }, context.address)
  context.stage = 'forward'
  context.passwordCheck = { user, result: isRight ? 'right' : 'wrong' }
  const result = { authenticatedUser: user, groups: null, tenants: null, authenticated: isRight }
  return sendResponse(reply, {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(result)),
  })
}

function incomplete() {
  const message = operatorText`Username and password are required`
  return jsonRefusalOf(400, { type: 'InvalidRequestException', message, code: null }, message)
}
