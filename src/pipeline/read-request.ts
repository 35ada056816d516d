import { GatewayError } from '../errors.ts'
import { isPagedList } from '../operations/paged-list.ts'
import type { Operation } from '../operations/table.ts'
import { withSerializedValues } from '../policy/validation/deserialization.ts'
import { bodyForNone } from '../policy/validation/media.ts'
import type { AccessRequest } from '../request/access-request.ts'
import { queryOf } from '../request/canonical.ts'
import { readJson } from '../request/json.ts'
import { targetSearchOf } from '../request/target.ts'
import { type CheckedContext, type LocatedContext, setRequest, type ReceivedRequest } from './context.ts'
import { paramsOf } from './locate-request.ts'
import type { Dependencies } from './dependencies.ts'
import { queryChangesOf } from './query-changes.ts'
import { createDeadlineCheck } from './deadline-check.ts'

/**
 * Reads the parts of a request that a decision depends on, with the bytes of the body. The framework keeps the request, so it can be
 * read again for another decision.
 * @throws GatewayError if the body is not acceptable JSON
 */
export function readRequest(
  { config }: Pick<Dependencies, 'config'>,
  context: LocatedContext,
  request: ReceivedRequest,
): CheckedContext {
  const { operation, principal } = context
  const received = targetSearchOf(request.url)
  const search = searchOf(context, received)
  const query = queryOf(search)
  const bytes = bytesOf(operation, request)
  const isJson = bytes !== null && operation.media === undefined
  const accessRequest: AccessRequest = {
    principal,
    params: paramsOf(request),
    query,
    body: isJson ? readBodyOf(operation, bytes) : undefined,
    checkDeadline: createDeadlineCheck(request, config.timeouts.headers),
  }
  if (search !== received) context.changes = queryChangesOf(operation, queryOf(received), query)
  setRequest(context, { accessRequest, bytes, search })
  return context
}

/** Returns the query string that is checked and sent. */
function searchOf({ engine, operation, principal }: LocatedContext, search: string): string {
  const { maxResults, validation, allowedHazards } = engine
  const limited =
    maxResults === null || !isPagedList(operation) ? search : maxResults.searchOf(principal, search)
  const isAsReceived = validation !== 'enforce' || allowedHazards.has('deserialization')
  return isAsReceived ? limited : withSerializedValues(operation, limited)
}

function bytesOf(operation: Operation, { body, headers }: ReceivedRequest): Buffer | null {
  if (operation.media === 'none') return null
  return Buffer.isBuffer(body) && body.length > 0 ? body : bodyForNone(operation, headers)
}

/** Parses the body. The body of a query must be an object, because its members restrict the items. */
function readBodyOf({ items }: Operation, bytes: Buffer): unknown {
  const body = readJson(bytes)
  if (items !== undefined && (typeof body !== 'object' || Array.isArray(body)))
    throw new GatewayError('GW_INVALID_BODY', { message: 'The request body does not match the operation: $' })
  return body
}
