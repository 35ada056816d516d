import type { FastifyReply } from 'fastify'
import { enforce } from '../pipeline/enforcement-mode.ts'
import { type HandlerContext, NO_BYTES } from '../pipeline/context.ts'
import { ownHeadersOf } from '../pipeline/observe.ts'
import { sendResponse } from '../pipeline/replies.ts'
import { denialOf } from '../policy/authz/checks/decision.ts'
import type { Operation } from '../operations/table.ts'
import type { UpstreamRequest } from '../proxy/wire/upstream-request.ts'
import { type BufferedResponse, KEPT_RESPONSE_BYTES, MAX_READ_BYTES } from '../request/buffered-response.ts'
import { hasHal } from '../request/accept.ts'
import { bodyText } from '../request/body.ts'
import { targetPathOf } from '../request/target.ts'
import { jsonValueOf } from '../request/value.ts'
import { tagsOf } from './cached.ts'
import { changesDefaultRecords, keepDefaultRecords } from './write-default-records.ts'
import { hasOtherLinks, withClientLinks } from './client-links.ts'
import { DEPLOYMENT_TAG } from '../operations/cached-content.ts'

/** 10. Sends the request to the engine. A response that the gateway does not need to read is streamed. */
export function fromEngine(
  operation: Operation,
): (handlerContext: HandlerContext) => Promise<FastifyReply | undefined> {
  if (isAlwaysRead(operation)) return serveRead
  return (handlerContext) =>
    isAnotherForm(handlerContext) ||
    changesDefaultRecords(handlerContext) ||
    hasOtherLinks(handlerContext) ||
    handlerContext.upstreamRequest.isShareable === true
      ? serveRead(handlerContext)
      : serveRelayed(handlerContext)
}

/** Returns whether every response of the operation is read, because it is checked, rewritten or followed by an invalidation. */
function isAlwaysRead({ checks, links, changes }: Operation): boolean {
  const isChecked = checks.some(({ after }) => after === true)
  return isChecked || typeof links === 'object' || changes !== undefined
}

/** Returns whether the request differs from the caller's: a restricted GET is sent as a POST. */
function isAnotherForm({ context, request }: HandlerContext): boolean {
  return context.listDecision.visibility !== 'all' && request.method === 'GET'
}

async function serveRead(handlerContext: HandlerContext): Promise<FastifyReply> {
  return sendResponse(handlerContext.reply, await readResponse(handlerContext))
}

/** Returns the whole response for the caller. Before it returns, everything that a write changes is removed from the caches. */
export async function readResponse(handlerContext: HandlerContext): Promise<BufferedResponse> {
  const response = await fetchResponse(handlerContext).catch((error: unknown) => {
    // The write may have taken effect although its response failed.
    void applyInvalidations(handlerContext)
    throw error
  })
  const isDone = response.status >= 200 && response.status < 300
  const { context, upstreamRequest } = handlerContext
  const isKept =
    isDone && upstreamRequest.keepsResponse === true && response.body.length <= KEPT_RESPONSE_BYTES
  if (response.node !== undefined)
    context.origin = { kind: 'node', node: response.node, body: isKept ? response.body : NO_BYTES }
  if (isDone) {
    if (changesDefaultRecords(handlerContext)) await keepDefaultRecords(handlerContext, response)
    await applyInvalidations(handlerContext)
  }
  if (isDone) checkAfter(handlerContext, response)
  return clientResponse(handlerContext, response)
}

/** Applies the checks that the engine makes after it has executed the request. */
function checkAfter({ dependencies, context }: HandlerContext, response: BufferedResponse): void {
  const { engine, permit, accessRequest } = context
  if (engine.authorization === 'engine') return
  void enforce(dependencies, engine.authorization, context, () => {
    const decision = permit.verifyCreated?.(accessRequest, createdId(response))
    if (decision?.permitted === false) throw denialOf(decision)
  })
}

/** 11. Removes changed data from the caches and from the stored users and records, at every replica, before the caller gets the response. */
async function applyInvalidations({
  dependencies,
  context: { engine, operation, accessRequest },
}: HandlerContext): Promise<void> {
  const { changes = [] } = operation
  const kinds = changes.filter((kind) => kind !== 'deployments')
  if (kinds.length < changes.length)
    await Promise.all([
      dependencies.cache.evict(tagsOf(engine, [DEPLOYMENT_TAG])),
      engine.upstream.deployed(),
    ])
  if (kinds.length === 0) return
  await engine.changed(kinds, accessRequest.params['id'] ?? bodyText(accessRequest.body, 'profile.id') ?? '')
}

/**
 * Returns the response with links to the address that the client used, without links that the caller may not follow, and with the
 * headers of a GET.
 */
async function clientResponse(
  handlerContext: HandlerContext,
  response: BufferedResponse,
): Promise<BufferedResponse> {
  const { context, upstreamRequest, request } = handlerContext
  const { engine, operation, permit, accessRequest } = context
  // The engine adds these headers to every response to a GET, but this request was sent as a POST.
  const headers =
    upstreamRequest.method === request.method
      ? response.headers
      : { 'cache-control': 'no-cache', ...(hasHal(operation) && { vary: 'Accept' }), ...response.headers }
  if (operation.links === undefined) return { ...response, headers }
  const body = withClientLinks(handlerContext, response.body)
  const mayOffer =
    permit.keepAllowedLinks !== null && engine.authorization === 'enforce' && response.status === 200
  return { ...response, headers, body: mayOffer ? await permit.keepAllowedLinks(body, accessRequest) : body }
}

/**
 * Fetches the response. A GET that is sent as a POST returns the same items, but another error for an invalid query, so the GET
 * itself is then sent to get the error. If the GET succeeds, its response is not used, because its items are not restricted.
 */
async function fetchResponse({
  context: { engine, search },
  upstreamRequest,
  request,
}: HandlerContext): Promise<BufferedResponse> {
  const response = await engine.upstream.fetch(upstreamRequest, MAX_READ_BYTES)
  if (response.status !== 400 || upstreamRequest.method === request.method) return response
  const original: UpstreamRequest = {
    ...upstreamRequest,
    method: request.method,
    path: targetPathOf(upstreamRequest.path) + search,
    body: null,
  }
  const said = await engine.upstream.fetch(original, MAX_READ_BYTES)
  return said.status >= 400 ? said : response
}

/**
 * Returns the id of the created entity. If the response has another form, the id is empty, and only a permission on all entities
 * permits the response.
 */
function createdId({ body }: BufferedResponse): string {
  return bodyText(jsonValueOf(body), 'id') ?? ''
}

/** Resolves to undefined: a reply is thenable, and a promise that resolves to it would wait for it. */
async function serveRelayed({ context, upstreamRequest, reply }: HandlerContext): Promise<undefined> {
  const relayed = await context.engine.upstream.relay(upstreamRequest, reply.raw, ownHeadersOf(context))
  // Until this point an error can still be sent. From here on the response is already written.
  reply.hijack()
  context.origin = { kind: 'node', node: relayed.node, body: relayed.body ?? NO_BYTES }
  context.writtenBytes = relayed.bytes
}
