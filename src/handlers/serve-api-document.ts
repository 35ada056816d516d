import type { FastifyReply } from 'fastify'
import type { ApiDocuments, DescribedOperations } from '../api-document/api-documents.ts'
import { PAGE_HEADERS } from '../api-document/api-page-style.ts'
import { isNotModified } from '../cache/conditional.ts'
import type { HandlerContext } from '../pipeline/context.ts'
import { notFound } from '../pipeline/not-found.ts'
import { sendResponse } from '../pipeline/replies.ts'
import { assertTakesJson } from '../request/accept.ts'
import { possibleOperations } from './possible-operations.ts'

/** Serves the OpenAPI document of the operations of which the caller may be permitted some request. */
export async function serveApiDocument(handlerContext: HandlerContext): Promise<FastifyReply> {
  assertTakesJson(handlerContext.request.headers.accept)
  const documents = documentsOf(handlerContext)
  const { body, etag } = await documents.document(await describedFor(handlerContext, documents))
  return sendText(handlerContext, { body, etag, headers: { 'content-type': 'application/json' } })
}

/** Serves the OpenAPI document as an HTML page. */
export async function serveApiPage(handlerContext: HandlerContext): Promise<FastifyReply> {
  const documents = documentsOf(handlerContext)
  const { body, etag } = await documents.page(await describedFor(handlerContext, documents))
  const headers = { 'content-type': 'text/html; charset=utf-8', ...PAGE_HEADERS }
  return sendText(handlerContext, { body, etag, headers })
}

function documentsOf({ dependencies: { apiDocuments } }: HandlerContext): ApiDocuments {
  return apiDocuments ?? notFound()
}

/** Returns the operations to describe. With `full`, which the checks permit only to administrators, it is every operation of the engine. */
async function describedFor(
  { context, dependencies }: HandlerContext,
  documents: ApiDocuments,
): Promise<DescribedOperations> {
  const { engine, isEngineNamed, accessRequest } = context
  const place = { engine: engine.name, isEngineNamed, of: 'caller' } as const
  if (accessRequest.query.has('full')) return { ...place, ...documents.allOf(engine.name) }
  const { operations, key } = await possibleOperations(dependencies, { caller: context })
  return { ...place, ids: operations, key }
}

interface SentText {
  readonly body: Buffer
  readonly etag: string
  readonly headers: Readonly<Record<string, string>>
}

/** Sends a text of the caller, which only the caller may store and must revalidate. */
function sendText({ request, reply }: HandlerContext, { body, etag, headers }: SentText): FastifyReply {
  const validators = { etag, vary: 'Authorization', 'cache-control': 'private, no-cache' }
  return isNotModified(request.headers['if-none-match'], etag)
    ? sendResponse(reply, { status: 304, headers: validators, body: Buffer.alloc(0) })
    : sendResponse(reply, { status: 200, headers: { ...headers, ...validators }, body })
}
