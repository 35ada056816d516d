import type { FastifyReply } from 'fastify'
import type { Operation } from '../operations/table.ts'
import type { OperationRequest } from '../pipeline/context.ts'
import type { Dependencies } from '../pipeline/dependencies.ts'
import { sendResponse } from '../pipeline/replies.ts'
import { assertTakesJson } from '../request/accept.ts'
import type { BufferedResponse } from '../request/buffered-response.ts'

/** Returns whether the gateway always responds itself. */
export function isNeverForwarded({ handler }: Operation): boolean {
  return handler === 'engine names' || handler === 'authorization check'
}

/** Serves an operation to which the gateway responds itself, because it knows more than an engine. */
export async function serveOwn(
  dependencies: Dependencies,
  context: OperationRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { operation, permit, accessRequest } = context
  assertTakesJson(reply.request.headers.accept)
  const isNames = operation.handler === 'engine names'
  return sendResponse(
    reply,
    jsonResponse(isNames ? namesOf(dependencies) : await permit.answerCheck(accessRequest)),
  )
}

function namesOf({ engines }: Dependencies): unknown {
  return [...engines.keys()].map((name) => ({ name }))
}

/** Returns a response with the headers of the engine's response to a GET. */
function jsonResponse(value: unknown): BufferedResponse {
  const headers = { 'cache-control': 'no-cache', 'content-type': 'application/json' }
  return { status: 200, headers, body: Buffer.from(JSON.stringify(value)) }
}
