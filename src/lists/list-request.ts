import type { Operation } from '../operations/table.ts'
import type { UpstreamRequest } from '../proxy/wire/upstream-request.ts'
import type { AccessRequest } from '../request/access-request.ts'
import type { BufferedResponse } from '../request/buffered-response.ts'

/** A request for a list, with the form in which the engine gets it. */
export interface ListRequest {
  readonly context: {
    readonly engine: ListSource
    readonly operation: Operation
    readonly accessRequest: AccessRequest
  }
  readonly upstreamRequest: UpstreamRequest
}

/** The engine of a list. Observations about its lists are stored for each engine. */
export interface ListSource {
  readonly upstream: {
    readonly fetch: (upstreamRequest: UpstreamRequest, limitBytes: number) => Promise<BufferedResponse>
  }
}
