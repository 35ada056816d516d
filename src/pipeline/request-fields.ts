import type { FastifyInstance } from 'fastify'
import type { PreviousOutcome } from '../idempotency/idempotency-store.ts'
import type { EngineRefusal, GatewayError, DenialReason } from '../errors.ts'
import type { Report } from './stage.ts'
import type { Operation } from '../operations/table.ts'
import type { EngineParts } from './parts.ts'
import type { AccessRequest } from '../request/access-request.ts'
import type { Principal } from '../request/principal.ts'
import type { Restriction } from '../policy/authz/permit.ts'
import type { RouteConfig } from './routes.ts'
import type { Stage } from './stage.ts'

declare module 'fastify' {
  interface FastifyContextConfig extends Partial<RouteConfig> {}
  interface FastifyRequest {
    /** Null: the path names an engine that is not configured. */
    engine: EngineParts | null
    /** Null: no row of the table has this path and method. */
    operation: Operation | null
    principal: Principal | null
    /** Who sends it: the peer, or whom a trusted proxy names; empty where the connection has no address. */
    address: string
    /** The prefix under which the request passes through; null: it is one for the API, or none. */
    passthrough: string | null
    /** Where the request is; where it was refused, for the log and the metrics. */
    stage: Stage
    accessRequest: AccessRequest | null
    /** The body as it came, and as it is sent; null without one. */
    bytes: Buffer | null
    /** What of a query's rows the caller may see; null: all of them. */
    rows: Restriction | null
    refusal: GatewayError | EngineRefusal | null
    /** What stands behind the refusal; for the audit alone. */
    denialReason: DenialReason | null
    /** What would have been refused where the mode is `report`. */
    reports: readonly Report[] | null
    /** True: only the engine may answer, for whoever asks may not have been permitted. */
    bypassCache: true | null
    /** What has become of the same request, of which the subject is gone; null: it is asked for otherwise. */
    previous: PreviousOutcome | null
    /** What stages add to whatever is answered; null: nothing. */
    told: Readonly<Record<string, string>> | null
    /** `Cache-Status`; null where nothing is held. */
    cacheStatus: string | null
    /** The node that answered; null for answers of the gateway's own. */
    node: string | null
    /** Of the body of an answer that was written past the framework; null for the others. */
    writtenBytes: number | null
  }
}

const FIELDS = [
  'engine',
  'operation',
  'principal',
  'passthrough',
  'accessRequest',
  'bytes',
  'rows',
  'refusal',
  'denialReason',
  'reports',
  'bypassCache',
  'previous',
  'told',
  'cacheStatus',
  'node',
  'writtenBytes',
] as const

/** Every request has all fields from the start: then all have one shape. */
export function decorateRequests(app: FastifyInstance): void {
  for (const name of FIELDS) app.decorateRequest(name, null)
  app.decorateRequest('stage', 'canonical')
  app.decorateRequest('address', '')
}
