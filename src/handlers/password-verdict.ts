import type { FastifyReply } from 'fastify'
import { jsonRefusalOf } from '../errors.ts'
import type { Exchange } from '../pipeline/context.ts'
import { sendAnswer } from '../pipeline/replies.ts'
import { assertTakesJson } from '../request/accept.ts'
import { bodyText } from '../request/body.ts'

/**
 * Serves whether a user has a password, in the engine's form. The result is the same as for Basic authentication, and failures are
 * counted in the same way.
 * @throws EngineRefusal 400 if the user or the password is missing; GatewayError as the authenticator
 */
export async function servePasswordVerdict({ match, request, reply }: Exchange): Promise<FastifyReply> {
  const { engine, accessRequest } = match
  assertTakesJson(request.headers.accept)
  const user = bodyText(accessRequest.body, 'username')
  const password = bodyText(accessRequest.body, 'password')
  if (user === null || password === null) throw incomplete()
  match.triedUser = user
  match.stage = 'authenticate'
  const isRight = await engine.authenticator.accepts({ user, password }, match.address)
  match.stage = 'forward'
  match.isWrongPassword = !isRight
  const verdict = { authenticatedUser: user, groups: null, tenants: null, authenticated: isRight }
  return sendAnswer(reply, {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(verdict)),
  })
}

function incomplete() {
  const message = 'Username and password are required'
  return jsonRefusalOf(400, { type: 'InvalidRequestException', message, code: null }, message)
}
