import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { isNotModified } from './cache/conditional.ts'
import { keyOf } from './cache/key.ts'
import { cacheStatusOf } from './cache/status.ts'
import type { Held } from './cache/entry.ts'
import { type Exchange, MAX_READ_BYTES } from './exchange.ts'
import { engineNameOf, matchOf, type Match } from './matched.ts'
import type { EngineParts, Parts } from './parts.ts'
import { bodyValue } from './policy/asked.ts'
import type { Restriction } from './policy/permit.ts'
import { narrowTaskQuery, taskQueryOf } from './policy/task-query.ts'
import type { Answer, Hop } from './proxy/hop.ts'
import { upstreamHeaders } from './proxy/headers.ts'
import { rewriteLinks } from './proxy/links.ts'
import { ownHeadersOf } from './observe.ts'
import { sendAnswer } from './replies.ts'
import { createPathOf, type PathOf } from './routes.ts'
import { emptyAnswerOf, serveRows } from './serve-rows.ts'

/** Beyond the time an engine may hold a long poll, for its answer to arrive. */
const LONG_POLL_MARGIN_MS = 5000

/** Stages 9 to 11: from memory, or from a node; on the way out what may be kept is kept, and what is stale goes. */
export function createServe(parts: Parts): RouteHandlerMethod {
  const paths = new Map(parts.operations.map(({ template }) => [template, createPathOf(template)]))
  return function serve(request, reply) {
    const match = matchOf(request)
    const pathOf = paths.get(match.operation.template)
    if (match.operation.answer === 'engine-names') return sendAnswer(reply, engineNames(parts))
    const hop = hopOf(match, request, pathOf)
    // 9. Do we hold it? Only what every caller who came this far may see.
    const exchange = { parts, match, hop, request, reply }
    if (request.rows !== null && request.rows.rows !== 'narrowed') return serveSome(exchange, request.rows)
    if (match.operation.cache !== undefined && hop.method === 'GET') return serveHeld(exchange)
    // 10. Ask the engine; what nobody here has to look at streams through.
    return isLookedAt(exchange) ? serveRead(exchange) : serveRelayed(exchange)
  }
}

function hopOf(
  { engine, operation, asked }: Match,
  request: FastifyRequest,
  pathOf: PathOf | undefined,
): Hop {
  const mark = request.url.indexOf('?')
  const query = mark < 0 ? '' : request.url.slice(mark)
  const { longPoll, retry } = operation
  const headers = upstreamHeaders(request.raw.rawHeaders, engine.requestPolicy)
  headers['x-request-id'] = request.id
  const path = pathOf?.(asked.params) ?? ''
  const hop: Hop = { method: request.method, path: path + query, headers, body: request.bytes, retry }
  if (request.rows?.rows === 'narrowed')
    return narrowedHop(hop, { path, visible: request.rows.visible, query: asked.query })
  const holdMs = longPoll === true ? Number(bodyValue(asked.body, 'asyncResponseTimeout')) : 0
  return holdMs > 0 ? { ...hop, headersMs: holdMs + LONG_POLL_MARGIN_MS } : hop
}

/** The caller's query with the part it may see; a GET becomes the POST that asks the same. */
function narrowedHop(
  hop: Hop,
  {
    path,
    visible,
    query,
  }: {
    readonly path: string
    readonly visible: Parameters<typeof narrowTaskQuery>[1]
    readonly query: ReadonlyMap<string, string>
  },
): Hop {
  if (hop.method === 'POST') return { ...hop, body: narrowTaskQuery(hop.body ?? Buffer.alloc(0), visible) }
  const { body, paging } = taskQueryOf(query)
  return {
    ...hop,
    method: 'POST',
    path: path + paging,
    headers: { ...hop.headers, 'content-type': 'application/json' },
    body: narrowTaskQuery(body, visible),
  }
}

/** A query of which the caller sees nothing, or the rows that the records name. */
function serveSome(exchange: Exchange, restriction: Exclude<Restriction, { readonly rows: 'narrowed' }>) {
  const { parts, match, reply } = exchange
  if (restriction.rows === 'none' && restriction.valid)
    return sendAnswer(reply, emptyAnswerOf(match.operation))
  const keep = restriction.rows === 'none' ? null : restriction.keep
  return serveRows(exchange, { keep, maxRows: parts.config.limits.filteredRows })
}

async function serveHeld({ parts, match, hop, request, reply }: Exchange): Promise<FastifyReply> {
  const { engine, operation, asked } = match
  const { seconds = 0, tags = [] } = operation.cache ?? {}
  const mark = request.url.indexOf('?')
  const key = keyOf({
    engine: engine.name,
    template: operation.template,
    params: asked.params,
    query: mark < 0 ? '' : request.url.slice(mark + 1),
    accept: request.headers.accept,
    host: operation.links === true ? request.host : null,
  })
  const fill = (): Promise<Answer> => engine.upstream.fetch(hop, MAX_READ_BYTES)
  const held =
    parts.cache.peek(key) ?? (await parts.cache.load(key, { seconds, tags: tagsOf(engine, tags) }, fill))
  return sendHeld(held, request, reply)
}

function sendHeld(held: Held, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  request.cacheStatus = cacheStatusOf(held)
  reply.header('cache-status', request.cacheStatus)
  if (held.from !== 'upstream') reply.header('age', String(held.ageSeconds))
  const { etag } = held.answer.headers
  if (held.stored && typeof etag === 'string' && isNotModified(request.headers['if-none-match'], etag))
    return sendAnswer(reply, notModified(held.answer))
  return sendAnswer(reply, held.answer)
}

/** RFC 9110 section 15.4.5: the fields that the whole answer would have, as far as they guide a cache. */
function notModified({ headers }: Answer): Answer {
  const kept = ['cache-control', 'date', 'etag', 'expires', 'vary'].flatMap((name) => {
    const value = headers[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { status: 304, headers: Object.fromEntries(kept), body: Buffer.alloc(0) }
}

function tagsOf({ name }: EngineParts, tags: readonly string[]): readonly string[] {
  return tags.map((tag) => `${name}:${tag}`)
}

/** An answer with something to check, to evict or to write anew, or a query that was asked in another form. */
function isLookedAt({ match: { engine, operation, permit }, request }: Exchange): boolean {
  const isAnotherForm = request.rows !== null && request.method === 'GET'
  const hasOtherLinks = operation.links === true && engine.remotePrefix !== prefixOf(request)
  return isAnotherForm || hasOtherLinks || operation.evicts !== undefined || permit.after !== null
}

async function serveRead(exchange: Exchange): Promise<FastifyReply> {
  const { parts, match, hop, request, reply } = exchange
  const { engine, operation, permit, asked } = match
  const answer = await fetchAnswer(exchange)
  const isDone = answer.status >= 200 && answer.status < 300
  // 11. What has changed is no longer held, here or at any replica, before the caller hears of it.
  if (isDone && operation.evicts !== undefined) await parts.cache.evict(tagsOf(engine, operation.evicts))
  if (isDone && permit.after !== null && engine.authorization === 'enforce') {
    const verdict = permit.after(asked, createdId(answer))
    if (!verdict.permitted) throw verdict.refusal
  }
  if (operation.links !== true) return sendAnswer(reply, answer)
  const host = hop.headers['host'] ?? request.host
  const body = rewriteLinks(
    answer.body,
    `http://${host}${engine.remotePrefix}`,
    `http://${request.host}${prefixOf(request)}`,
  )
  return sendAnswer(reply, { ...answer, body })
}

/**
 * A GET asked as a POST gives the same rows, but other words for a bad query: then the GET itself is asked for them.
 * Whatever it says, rows that were not narrowed do not go out.
 */
async function fetchAnswer({ match: { engine }, hop, request }: Exchange): Promise<Answer> {
  const answer = await engine.upstream.fetch(hop, MAX_READ_BYTES)
  if (answer.status !== 400 || hop.method === request.method) return answer
  const path = hop.path.split('?', 1)[0] ?? ''
  const mark = request.url.indexOf('?')
  const original: Hop = {
    ...hop,
    method: request.method,
    path: path + (mark < 0 ? '' : request.url.slice(mark)),
    body: null,
  }
  const said = await engine.upstream.fetch(original, MAX_READ_BYTES)
  return said.status >= 400 ? said : answer
}

function createdId({ body }: Answer): string {
  const id = bodyValue(JSON.parse(body.toString('utf8')), 'id')
  return typeof id === 'string' ? id : ''
}

async function serveRelayed({
  parts,
  match: { engine },
  hop,
  request,
  reply,
}: Exchange): Promise<FastifyReply> {
  const relayed = await engine.upstream.relay(hop, reply.raw, ownHeadersOf(request, parts.isDraining()))
  // Until here an error could still be answered; from here the answer is out.
  reply.hijack()
  request.node = relayed.node
  request.relayedBytes = relayed.bytes
  return reply
}

function prefixOf(request: FastifyRequest): string {
  const { named, operation } = request.routeOptions.config
  const template = request.routeOptions.url ?? ''
  const prefix = template.slice(0, template.length - (operation?.template.length ?? 0))
  return named === true ? prefix.replace(':engineName', engineNameOf(request)) : prefix
}

function engineNames({ engines }: Parts): Answer {
  const body = Buffer.from(JSON.stringify([...engines.keys()].map((name) => ({ name }))))
  return { status: 200, headers: { 'cache-control': 'no-cache', 'content-type': 'application/json' }, body }
}
