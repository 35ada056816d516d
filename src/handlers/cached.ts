import { targetQueryOf } from '../request/target.ts'
import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { isNotModified } from '../cache/conditional.ts'
import type { CacheHit } from '../cache/entry.ts'
import { hasContent } from '../cache/content.ts'
import { cacheKeyOf } from '../cache/cache-key.ts'
import { cacheStatusOf } from '../cache/cache-status.ts'
import type {
  HandlerContext,
  OperationRequest,
  DecidedContext,
  ReceivedRequest,
} from '../pipeline/context.ts'
import { type BufferedResponse, MAX_READ_BYTES } from '../request/buffered-response.ts'
import { ownHeadersOf } from '../pipeline/observe.ts'
import type { EngineDependencies, Dependencies } from '../pipeline/dependencies.ts'
import { writeResponse } from '../pipeline/replies.ts'

/** Returns the response that this process has cached. Null if nothing is cached, or if the request may not read the cache. */
export function findCached(
  { cache }: Dependencies,
  context: DecidedContext,
  request: ReceivedRequest,
): CacheHit | null {
  return isCacheable(context, request) ? cache.peek(entryKeyOf(context, request)) : null
}

/** The key of the last request for a target. Besides the target, it depends only on `Accept`. */
export interface TargetKey {
  /** Empty if there was no request. */
  key: string
  accept: string | undefined
}

/** The key of a request with a longer `Accept` is not kept, so that clients cannot fill the memory with it. Browsers send about 150 characters. */
const MAX_ACCEPT_CHARS = 512

/** Returns the cached response for a known target. Counts only a hit: without a hit, the framework looks the response up again. */
export function findHit(
  { cache }: Pick<Dependencies, 'cache'>,
  context: DecidedContext,
  request: ReceivedRequest,
  last: TargetKey,
): CacheHit | null {
  if (!isCacheable(context, request)) return null
  const { accept } = request.headers
  if (last.key !== '' && last.accept === accept) return cache.peekHit(last.key)
  const key = entryKeyOf(context, request)
  if (accept === undefined || accept.length <= MAX_ACCEPT_CHARS) {
    last.key = key
    last.accept = accept
  }
  return cache.peekHit(key)
}

/**
 * Returns whether the request may read and fill the cache entries that all callers share. The gateway must have permitted the
 * request itself: if the engine decides, a response to one caller says nothing about another. The response to a request with a
 * header that the configuration adds may depend on that header, which is not part of the key.
 */
export function isCacheable(
  { engine, operation, listDecision, isPermittedHere }: DecidedContext,
  { method, headers }: Pick<ReceivedRequest, 'method' | 'headers'>,
): boolean {
  if (
    operation.cache === undefined ||
    method !== 'GET' ||
    listDecision.visibility !== 'all' ||
    !isPermittedHere
  )
    return false
  return engine.addedRequestHeaders.every((name) => headers[name] === undefined)
}

function entryKeyOf(
  { engine, operation, accessRequest }: OperationRequest,
  request: ReceivedRequest,
): string {
  return cacheKeyOf({
    engine: engine.name,
    template: operation.template,
    params: accessRequest.params,
    query: targetQueryOf(request.url),
    accept: request.headers.accept,
  })
}

/** Serves the response from Redis, or from one request to the engine that all concurrent requests share. */
export async function serveCached({
  dependencies,
  context,
  upstreamRequest,
  request,
  reply,
}: HandlerContext): Promise<FastifyReply> {
  const { engine, operation } = context
  const { seconds = 0, tags = [], content = null, mayBeStale = false } = operation.cache ?? {}
  const { staleWhileRevalidate, staleIfError } = dependencies.config.cache
  const stale = {
    // A response with a short cache time is also served only for a short time after it has expired.
    whileRevalidate: Math.min(staleWhileRevalidate / 1000, seconds),
    ifError: mayBeStale ? staleIfError / 1000 : 0,
  }
  const fill = (): Promise<BufferedResponse> => engine.upstream.fetch(upstreamRequest, MAX_READ_BYTES)
  const accepts = (response: BufferedResponse): boolean => content !== null && hasContent(response, content)
  const rule = { seconds, stale, tags: tagsOf(engine, tags), accepts }
  return sendCached(await dependencies.cache.load(entryKeyOf(context, request), rule, fill), request, reply)
}

/** Sends a cached response in the framework. */
export function sendCached(hit: CacheHit, request: ReceivedRequest, reply: FastifyReply): FastifyReply {
  writeCached(hit, request, reply.raw)
  // This is the last step: an earlier error can still be sent.
  return reply.hijack()
}

/** Writes a cached response with its age, or 304 if the client's own copy is still valid. */
export function writeCached(hit: CacheHit, request: ReceivedRequest, response: ServerResponse): void {
  const { context } = request
  const status = cacheStatusOf(hit)
  context.origin = { kind: 'cache', status }
  const own = ownHeadersOf(context)
  own['cache-status'] = status
  if (hit.from !== 'upstream') own['age'] = String(hit.ageSeconds)
  const { etag } = hit.response.headers
  const isCurrent =
    hit.stored && typeof etag === 'string' && isNotModified(request.headers['if-none-match'], etag)
  writeResponse(request, response, own, isCurrent ? notModified(hit.response) : hit.response)
}

/** Returns a 304 with the header fields of the full response that guide a cache (RFC 9110 section 15.4.5). */
function notModified({ headers }: BufferedResponse): BufferedResponse {
  const kept = ['cache-control', 'date', 'etag', 'expires', 'vary'].flatMap((name) => {
    const value = headers[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { status: 304, headers: Object.fromEntries(kept), body: Buffer.alloc(0) }
}

/** Returns the cache tags of one engine. Engines do not share tags. */
export function tagsOf(
  { name }: Pick<EngineDependencies, 'name'>,
  tags: readonly string[],
): readonly string[] {
  return tags.map((tag) => `${name}:${tag}`)
}
