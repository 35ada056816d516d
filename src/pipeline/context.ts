import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReplayOutcome } from '../idempotency/idempotency-store.ts'
import type { DenialReason, EngineRefusal, GatewayError } from '../errors.ts'
import type { Operation } from '../operations/table.ts'
import type { EngineParts, Parts } from './parts.ts'
import type { AccessRequest } from '../request/access-request.ts'
import type { Principal } from '../request/principal.ts'
import type { Permit } from '../policy/authz/permit.ts'
import type { FindMissingRows, Restriction } from '../lists/list-decision.ts'
import type { UpstreamRequest } from '../proxy/wire/upstream-request.ts'
import type { RouteConfig } from './routes.ts'
import type { Report, Stage } from './stage.ts'
import type { RequestSpan } from '../traces/traces.ts'

declare module 'fastify' {
  interface FastifyContextConfig extends Partial<RouteConfig> {}
  interface FastifyRequest {
    /** The state of the request in all stages. The first hook creates it. */
    context: RequestContext
  }
}

/** The state of one request. Every member has a value from the start, so that all instances have one hidden class. */
export class RequestContext {
  readonly id: string
  /** The address of the client: the peer, or the address that a trusted proxy names. Empty if the connection has no address. */
  readonly address: string
  /** The current stage of the request, or the stage that refused it, for the log and the metrics. */
  stage: Stage = 'canonical'
  /** The engine's name in the path. Null means the default engine. */
  engineName: string | null = null
  /** Null if the path names an engine that is not configured. */
  engine: EngineParts | null = null
  /** Null if no operation has this path and method. */
  operation: Operation | null = null
  permit: Permit | null = null
  principal: Principal | null = null
  /** The user in the body whose password the gateway verifies itself. */
  triedUser: string | null = null
  /** True if this password is wrong. */
  isWrongPassword = false
  accessRequest: AccessRequest | null = null
  /** The version of the authorization records that decided the request. */
  recordsVersion = 0
  /** The prefix of a passthrough request. Null for all other requests. */
  passthrough: string | null = null
  /** The body as it is received and sent. Null without a body. */
  bytes: Buffer | null = null
  /** The items of a query that the caller may see. Null if the caller may see all of them. */
  rows: Restriction | null = null
  refusal: GatewayError | EngineRefusal | null = null
  /** The reason for the refusal. Only the audit log contains it. */
  denialReason: DenialReason | null = null
  /** The refusals that the mode `report` has not applied. */
  reports: readonly Report[] | null = null
  /** Finds the missing permissions for items that the mode `report` has not hidden. Null if no item would be hidden. */
  missingRows: FindMissingRows | null = null
  /** True if the response has no items because the caller may see none of them. */
  isWithheld = false
  /** True if the gateway has permitted this request itself, with every item of the result, and refuses requests that it does not permit. */
  isPermittedHere = false
  /** The outcome of the same request with the same key, whose entity no longer exists. If null, the handler claims the key in the store. */
  replay: ReplayOutcome | null = null
  /** Headers that stages add to every response. Null without such headers. */
  addedHeaders: Readonly<Record<string, string>> | null = null
  /** The value of `Cache-Status`. Null if no cache was read. */
  cacheStatus: string | null = null
  /** The body of a successful write, if it is short and contains the ids of created entities. Null if it is not needed. */
  responseBody: Buffer | null = null
  /** The node that sent the response. Null for responses of the gateway itself. */
  node: string | null = null
  /** Null if traces are not configured. */
  span: RequestSpan | null = null
  /** The trace id of the span, or else of the caller's `traceparent`. Null without both. */
  traceId: string | null = null
  /** The length of the body that was written to the client. */
  writtenBytes = 0

  constructor(id: string, address: string) {
    this.id = id
    this.address = address
  }
}

/** The context after stage 4: caller, operation and engine are known. */
export interface LocatedContext extends RequestContext {
  engine: EngineParts
  operation: Operation
  permit: Permit
  principal: Principal
}

/** An operation of an engine and the parsed request for it. */
export interface OperationRequest {
  readonly engine: EngineParts
  readonly operation: Operation
  readonly permit: Permit
  readonly accessRequest: AccessRequest
}

/** The context after stage 6: everything that a decision needs is known. */
export interface MatchedContext extends LocatedContext {
  accessRequest: AccessRequest
}

/** A request for a list or an entity, with the form in which the engine gets it. */
export interface EngineCall {
  readonly match: OperationRequest
  readonly upstreamRequest: UpstreamRequest
}

/** Decides a request in the mode of its engine (stage 7). Throws the refusal, or rejects with it. */
export type DecideRequest = (
  parts: Parts,
  match: MatchedContext,
  request: FastifyRequest,
) => void | Promise<void>

/** The dependencies and the function that decide a request again. */
export interface DecisionMaker {
  readonly parts: Parts
  readonly decide: DecideRequest
}

/** A request that has passed the stages, and the request to the engine for it. */
export interface HandlerContext extends EngineCall {
  readonly parts: Parts
  readonly decisionMaker: DecisionMaker
  readonly match: MatchedContext
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}
