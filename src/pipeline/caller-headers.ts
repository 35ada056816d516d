import type { OperationRequest, ReceivedRequest } from './context.ts'
import type { Dependencies } from './dependencies.ts'
import { forwardedHeaders } from '../proxy/wire/forwarded.ts'
import { upstreamHeaders, userHeaderOf } from '../proxy/wire/headers.ts'
import { assertTellable } from '../proxy/wire/user-header.ts'
import { ANONYMOUS } from '../request/principal.ts'

/**
 * Returns the headers of a request for its engine. A header with the caller's id contains the plain id. It is signed when the
 * request is sent, which may be later.
 * @throws GatewayError GW_USER_NOT_TOLD
 */
export function callerHeadersOf(
  { publicAddress }: Pick<Dependencies, 'publicAddress'>,
  { engine, accessRequest: { principal } }: Pick<OperationRequest, 'engine' | 'accessRequest'>,
  request: ReceivedRequest,
): Record<string, string> {
  const { requestPolicy, forwarded } = engine
  const headers = upstreamHeaders(request.raw.rawHeaders, requestPolicy)
  if (forwarded !== 'none') {
    const address = publicAddress(request.raw) ?? `http://${request.host}`
    Object.assign(headers, forwardedHeaders(forwarded, { client: request.context.address, address }))
  }
  const userHeader = userHeaderOf(requestPolicy)
  if (userHeader === null || principal === ANONYMOUS) return headers
  assertTellable(userHeader, principal.userId)
  headers[userHeader.header] = principal.userId
  return headers
}
