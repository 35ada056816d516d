import { targetQueryOf } from '../request/target.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isNotModified } from '../cache/conditional.ts'
import type { CacheHit } from '../cache/entry.ts'
import { hasContent } from '../cache/content.ts'
import { cacheKeyOf } from '../cache/cache-key.ts'
import { cacheStatusOf } from '../cache/cache-status.ts'
import type { Exchange, Match, MatchedContext } from '../pipeline/context.ts'
import { type Answer, MAX_READ_BYTES } from '../request/answer.ts'
import { ownHeadersOf } from '../pipeline/observe.ts'
import type { EngineParts, Parts } from '../pipeline/parts.ts'
import { writeAnswer } from '../pipeline/replies.ts'

/** What this process has cached of the answer; null: nothing, or nothing for this request. */
export function peekCached(
  { cache }: Parts,
  match: MatchedContext,
  request: FastifyRequest,
): CacheHit | null {
  return isCacheable(match, request) ? cache.peek(entryKeyOf(match, request)) : null
}

/**
 * Returns whether the request may read and fill the entries that all callers share. The gateway must have permitted the request
 * itself: where the engine decides, a response to one caller says nothing about another.
 * The response to a request with a header that the configuration adds may depend on that header, which is no part of the key.
 */
export function isCacheable(
  { engine, operation, rows, isPermittedHere }: MatchedContext,
  { method, headers }: Pick<FastifyRequest, 'method' | 'headers'>,
): boolean {
  if (operation.cache === undefined || method !== 'GET' || rows !== null || !isPermittedHere) return false
  return engine.addedRequestHeaders.every((name) => headers[name] === undefined)
}

function entryKeyOf({ engine, operation, accessRequest }: Match, request: FastifyRequest): string {
  return cacheKeyOf({
    engine: engine.name,
    template: operation.template,
    params: accessRequest.params,
    query: targetQueryOf(request.url),
    accept: request.headers.accept,
  })
}

/** From Redis, or filled by one request to the engine however many ask. */
export async function serveCached({
  parts,
  match,
  upstreamRequest,
  request,
  reply,
}: Exchange): Promise<FastifyReply> {
  const { engine, operation } = match
  const { seconds = 0, tags = [], content = null } = operation.cache ?? {}
  const fill = (): Promise<Answer> => engine.upstream.fetch(upstreamRequest, MAX_READ_BYTES)
  const accepts = (answer: Answer): boolean => content !== null && hasContent(answer, content)
  const rule = { seconds, tags: tagsOf(engine, tags), accepts }
  return sendCached(await parts.cache.load(entryKeyOf(match, request), rule, fill), request, reply)
}

/** A cached answer with its age, or 304 where the client's own copy is still good. */
export function sendCached(hit: CacheHit, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { context } = request
  context.cacheStatus = cacheStatusOf(hit)
  const own = ownHeadersOf(context)
  own['cache-status'] = context.cacheStatus
  if (hit.from !== 'upstream') own['age'] = String(hit.ageSeconds)
  const { etag } = hit.answer.headers
  if (hit.stored && typeof etag === 'string' && isNotModified(request.headers['if-none-match'], etag))
    return writeAnswer(reply, own, notModified(hit.answer))
  return writeAnswer(reply, own, hit.answer)
}

/** RFC 9110 section 15.4.5: the fields that the whole answer would have, as far as they guide a cache. */
function notModified({ headers }: Answer): Answer {
  const kept = ['cache-control', 'date', 'etag', 'expires', 'vary'].flatMap((name) => {
    const value = headers[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { status: 304, headers: Object.fromEntries(kept), body: Buffer.alloc(0) }
}

/** Tags are an engine's own. */
export function tagsOf({ name }: EngineParts, tags: readonly string[]): readonly string[] {
  return tags.map((tag) => `${name}:${tag}`)
}
