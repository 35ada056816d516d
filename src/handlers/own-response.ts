import type { FastifyReply } from 'fastify'
import type { Operation } from '../operations/table.ts'
import type { HandlerContext } from '../pipeline/context.ts'
import type { Dependencies } from '../pipeline/dependencies.ts'
import { sendResponse } from '../pipeline/replies.ts'
import { assertTakesJson } from '../request/accept.ts'
import type { BufferedResponse } from '../request/buffered-response.ts'

/** Returns whether the gateway responds itself, because it knows more engines than the engine. */
export function isNeverForwarded({ handler }: Operation): boolean {
  return handler === 'engine names'
}

export function serveEngineNames({ engines }: Dependencies, reply: FastifyReply): FastifyReply {
  return serveJson(
    reply,
    [...engines.keys()].map((name) => ({ name })),
  )
}

/** Serves the check of a permission with the records of the gateway, which the engine may not have. */
export async function serveAuthorizationCheck({ context, reply }: HandlerContext): Promise<FastifyReply> {
  return serveJson(reply, await context.permit.answerCheck(context.accessRequest))
}

function serveJson(reply: FastifyReply, value: unknown): FastifyReply {
  assertTakesJson(reply.request.headers.accept)
  return sendResponse(reply, jsonResponse(value))
}

/** Returns a response with the headers of the engine's response to a GET. */
export function jsonResponse(value: unknown): BufferedResponse {
  const headers = { 'cache-control': 'no-cache', 'content-type': 'application/json' }
  return { status: 200, headers, body: Buffer.from(JSON.stringify(value)) }
}
