import type { FastifyReply } from 'fastify'
import type { Operation } from '../operations/table.ts'
import type { Match } from '../pipeline/context.ts'
import type { Parts } from '../pipeline/parts.ts'
import { sendAnswer } from '../pipeline/replies.ts'
import { assertTakesJson } from '../request/accept.ts'
import type { Answer } from '../request/answer.ts'

/** Returns whether the gateway always responds itself. */
export function isNeverForwarded({ handler }: Operation): boolean {
  return handler === 'engine names' || handler === 'authorization check'
}

/** Serves an operation that the gateway answers itself, because it knows more than an engine. */
export async function serveOwn(parts: Parts, match: Match, reply: FastifyReply): Promise<FastifyReply> {
  const { operation, permit, accessRequest } = match
  assertTakesJson(reply.request.headers.accept)
  const isNames = operation.handler === 'engine names'
  return sendAnswer(reply, jsonAnswer(isNames ? namesOf(parts) : await permit.answerCheck(accessRequest)))
}

function namesOf({ engines }: Parts): unknown {
  return [...engines.keys()].map((name) => ({ name }))
}

/** Returns a response with the headers of the engine's response to a GET. */
function jsonAnswer(value: unknown): Answer {
  const headers = { 'cache-control': 'no-cache', 'content-type': 'application/json' }
  return { status: 200, headers, body: Buffer.from(JSON.stringify(value)) }
}
