import { GatewayError, operatorText } from '../errors.ts'
import { isPagedList } from '../operations/paged-list.ts'
import type { Operation } from '../operations/table.ts'
import { checkBodyItems, checkQueryItems } from '../policy/limits/body-items.ts'
import { withSerializedValues } from '../policy/validation/deserialization.ts'
import { bodyForNone } from '../policy/validation/media.ts'
import type { AccessRequest } from '../request/access-request.ts'
import { queryOf } from '../request/canonical.ts'
import { readJson } from '../request/json.ts'
import { targetSearchOf } from '../request/target.ts'
import { type CheckedContext, type LocatedContext, setRequest, type ReceivedRequest } from './context.ts'
import { paramsOf } from './locate-request.ts'
import type { Dependencies } from './dependencies.ts'
import { BODY_CHANGE, queryChangesOf } from './query-changes.ts'
import { readsSerialized, withoutAddedVariables, withSerializedBody } from './serialized-request.ts'
import { createDeadlineCheck } from './deadline-check.ts'

/**
 * Reads the parts of a request that a decision depends on, with the bytes of the body. The framework keeps the request, so it can be
 * read again for another decision.
 * @throws GatewayError if the body is not acceptable JSON, or if a list is longer than `limits.items` permits
 */
export function readRequest(
  { config }: Pick<Dependencies, 'config'>,
  context: LocatedContext,
  request: ReceivedRequest,
): CheckedContext {
  const { operation, principal } = context
  const isSerialized = readsSerialized(context)
  const received = targetSearchOf(request.url)
  const checked = searchOf(context, received)
  const query = queryOf(checked)
  checkQueryItems(query, config.limits.items)
  const bytes = bytesOf(operation, request)
  const isJson = bytes !== null && operation.media === undefined
  const body = isJson ? readBodyOf(operation, bytes) : undefined
  checkBodyItems(body, config.limits.items)
  // Variables that the query adds to tasks stay in the parsed copy, because they are checked. The gateway reads them with requests of
  // its own (handlers/lists/added-variables.ts).
  const search = isSerialized ? withoutAddedVariables(operation, checked, query) : checked
  const sent = isSerialized && isJson ? withSerializedBody(operation, bytes, body) : bytes
  const accessRequest: AccessRequest = {
    principal,
    params: paramsOf(request),
    query,
    body,
    checkDeadline: createDeadlineCheck(request, config.timeouts.headers),
  }
  if (search !== received || sent !== bytes)
    context.changes = [
      ...queryChangesOf(operation, queryOf(received), queryOf(search)),
      ...(sent === bytes ? [] : [BODY_CHANGE]),
    ]
  setRequest(context, { accessRequest, bytes: sent, search })
  return context
}

/** Returns the query string that is checked. */
function searchOf(context: LocatedContext, search: string): string {
  const { engine, operation, principal } = context
  const { maxResults } = engine
  const limited =
    maxResults === null || !isPagedList(operation) ? search : maxResults.searchOf(principal, search)
  return readsSerialized(context) ? withSerializedValues(operation, limited) : limited
}

function bytesOf(operation: Operation, { body, headers }: ReceivedRequest): Buffer | null {
  if (operation.media === 'none') return null
  return Buffer.isBuffer(body) && body.length > 0 ? body : bodyForNone(operation, headers)
}

/** Parses the body. The body of a query must be an object, because its members restrict the items. */
function readBodyOf({ items }: Operation, bytes: Buffer): unknown {
  const body = readJson(bytes)
  if (items !== undefined && (typeof body !== 'object' || Array.isArray(body)))
    throw new GatewayError('GW_INVALID_BODY', {
      message: operatorText`The request body does not match the operation: $`,
    })
  return body
}
