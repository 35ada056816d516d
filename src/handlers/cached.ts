import type { FastifyReply, FastifyRequest } from 'fastify'
import { isNotModified } from '../cache/conditional.ts'
import type { CacheHit } from '../cache/entry.ts'
import { cacheKeyOf } from '../cache/cache-key.ts'
import { cacheStatusOf } from '../cache/cache-status.ts'
import { type Exchange, type Match, MAX_READ_BYTES } from '../pipeline/exchange.ts'
import { ownHeadersOf } from '../pipeline/observe.ts'
import type { EngineParts, Parts } from '../pipeline/parts.ts'
import type { Answer } from '../request/answer.ts'
import { writeAnswer } from '../pipeline/replies.ts'

/** What this process holds of the answer; null: nothing, or nothing for this request. */
export function peekCached({ cache }: Parts, match: Match, request: FastifyRequest): CacheHit | null {
  return isCacheable(match, request) ? cache.peek(keyOf(match, request)) : null
}

/** Only an answer that is the same for all who were permitted, and that somebody here has permitted. */
export function isCacheable({ operation }: Match, { method, rows, bypassCache }: FastifyRequest): boolean {
  return operation.cache !== undefined && method === 'GET' && rows === null && bypassCache === null
}

function keyOf({ engine, operation, accessRequest }: Match, request: FastifyRequest): string {
  const mark = request.url.indexOf('?')
  return cacheKeyOf({
    engine: engine.name,
    template: operation.template,
    params: accessRequest.params,
    query: mark < 0 ? '' : request.url.slice(mark + 1),
    accept: request.headers.accept,
  })
}

/** From Redis, or filled by one hop however many ask. */
export async function serveCached({
  parts,
  match,
  upstreamRequest,
  request,
  reply,
}: Exchange): Promise<FastifyReply> {
  const { engine, operation } = match
  const { seconds = 0, tags = [] } = operation.cache ?? {}
  const fill = (): Promise<Answer> => engine.upstream.fetch(upstreamRequest, MAX_READ_BYTES)
  const rule = { seconds, tags: tagsOf(engine, tags) }
  return sendCached(await parts.cache.load(keyOf(match, request), rule, fill), request, reply)
}

/** A held answer with its age, or the word that the client's own copy is still good. */
export function sendCached(held: CacheHit, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  request.cacheStatus = cacheStatusOf(held)
  const own = ownHeadersOf(request)
  own['cache-status'] = request.cacheStatus
  if (held.from !== 'upstream') own['age'] = String(held.ageSeconds)
  const { etag } = held.answer.headers
  if (held.stored && typeof etag === 'string' && isNotModified(request.headers['if-none-match'], etag))
    return writeAnswer(reply, own, notModified(held.answer))
  return writeAnswer(reply, own, held.answer)
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
