import type { Operation } from '../operations/table.ts'
import { callerHeadersOf } from '../pipeline/caller-headers.ts'
import type { DecidedContext, ReceivedRequest } from '../pipeline/context.ts'
import { isStillDecided } from '../pipeline/decide-again.ts'
import type { Dependencies } from '../pipeline/dependencies.ts'
import { createPathOf } from '../pipeline/routes.ts'
import { EMPTY_OBJECT } from '../policy/validation/media.ts'
import type { UpstreamRequest } from '../proxy/wire/upstream-request.ts'
import { decidedAcceptOf, hasHal } from '../request/accept.ts'

/** Returns the request to the engine for a request that is permitted. It is not restricted yet: see `narrowedRequest`. */
export type OutgoingRequest = (
  context: DecidedContext,
  request: ReceivedRequest,
) => UpstreamRequest & { readonly headers: Record<string, string> }

export function createOutgoingRequest(dependencies: Dependencies, operation: Operation): OutgoingRequest {
  const pathOf = createPathOf(operation.template)
  // The response names the created entities, and the audit log records them.
  const keepsResponse =
    operation.creates?.startsWith('answer:') === true && dependencies.config.log.audit !== 'off'
  const { id, effect, conflict, newTasks, template } = operation
  const isShareable = dependencies.config.cache.counts && template.endsWith('/count')
  return function outgoingRequest(context, request) {
    const { engine, principal, accessRequest, bytes, search, listDecision } = context
    const headers = callerHeadersOf(dependencies, context, request)
    headers['x-request-id'] = context.id
    // The decision covers one form of the response, and the forms embed different data. The engine must not choose the form again.
    if (hasHal(operation) && engine.authorization === 'enforce')
      headers['accept'] = decidedAcceptOf(request.headers.accept)
    if (bytes === EMPTY_OBJECT) describeEmptyObject(headers)
    if (operation.media === 'none') undescribeBody(headers)
    if (listDecision.strategy === 'rewrite') headers['content-type'] = JSON_TYPE
    return {
      isStillPermitted: () => isStillDecided(context),
      operation: id,
      user: principal.userId,
      method: request.method,
      path: pathOf(accessRequest.params) + search,
      headers,
      body: bytes,
      // A write must not be executed twice.
      retry: effect === 'read' ? 'always' : 'unsent',
      conflict,
      newTasks,
      keepsResponse,
      isShareable,
    }
  }
}

const JSON_TYPE = 'application/json'

/** Replaces the headers of the caller, which describe a body without bytes. */
function describeEmptyObject(headers: Record<string, string>): void {
  headers['content-type'] = JSON_TYPE
  delete headers['content-encoding']
}

/** Removes the headers of the caller that describe a body that is not forwarded. */
function undescribeBody(headers: Record<string, string>): void {
  delete headers['content-type']
  delete headers['content-encoding']
}

/** Restricts the request to the items that the caller sees. Returns null if the caller sees no item. */
export function narrowedRequest(
  { listDecision, accessRequest }: DecidedContext,
  upstreamRequest: UpstreamRequest,
): UpstreamRequest | null {
  if (listDecision.strategy !== 'rewrite') return upstreamRequest
  const query = listDecision.narrow(upstreamRequest, accessRequest.query)
  if (query === null) return null
  const { method, path, body } = query
  const { headers, retry, conflict, newTasks, isStillPermitted, operation, user, isShareable } =
    upstreamRequest
  return {
    method,
    path,
    headers,
    body,
    retry,
    conflict,
    newTasks,
    isStillPermitted,
    operation,
    user,
    isShareable,
  }
}
