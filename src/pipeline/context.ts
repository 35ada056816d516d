import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PreviousOutcome } from '../idempotency/idempotency-store.ts'
import type { DenialReason, EngineRefusal, GatewayError } from '../errors.ts'
import type { Operation } from '../operations/table.ts'
import type { EngineParts, Parts } from './parts.ts'
import type { AccessRequest } from '../request/access-request.ts'
import type { Principal } from '../request/principal.ts'
import type { FindMissingRows, Permit, Restriction } from '../policy/authz/permit.ts'
import type { UpstreamRequest } from '../proxy/wire/upstream-request.ts'
import type { RouteConfig } from './routes.ts'
import type { Report, Stage } from './stage.ts'
import type { RequestSpan } from '../traces/traces.ts'

declare module 'fastify' {
  interface FastifyContextConfig extends Partial<RouteConfig> {}
  interface FastifyRequest {
    /** Everything that the stages know of the request. The first hook makes it. */
    context: RequestContext
  }
}

/** What the stages have found out about one request. Every member has a value from the start: then all have one hidden class. */
export class RequestContext {
  readonly id: string
  /** Who sends it: the peer, or whom a trusted proxy names; empty where the connection has no address. */
  readonly address: string
  /** Where the request is; where it was refused, for the log and the metrics. */
  stage: Stage = 'canonical'
  /** As the path names it; null: it means the default one. */
  engineName: string | null = null
  /** Null: the path names an engine that is not configured. */
  engine: EngineParts | null = null
  /** Null: no row of the table has this path and method. */
  operation: Operation | null = null
  permit: Permit | null = null
  principal: Principal | null = null
  /** Whose password the body names, where the gateway says whether it is right. */
  triedUser: string | null = null
  /** True: it is not. */
  isWrongPassword = false
  accessRequest: AccessRequest | null = null
  /** The version of the authorization records that decided the request. */
  recordsVersion = 0
  /** The prefix under which the request passes through; null: it is one for the API, or none. */
  passthrough: string | null = null
  /** The body as it came, and as it is sent; null without one. */
  bytes: Buffer | null = null
  /** What of a query's rows the caller may see; null: all of them. */
  rows: Restriction | null = null
  refusal: GatewayError | EngineRefusal | null = null
  /** What stands behind the refusal; for the audit alone. */
  denialReason: DenialReason | null = null
  /** What would have been refused where the mode is `report`. */
  reports: readonly Report[] | null = null
  /** What was missing for rows of an answer that would have been shorter, where the mode is `report`; null: none would be left out. */
  missingRows: FindMissingRows | null = null
  /** True: the answer has no rows, for the caller may see none of them. */
  isWithheld = false
  /** True if the gateway has permitted this request itself, with every row of the result, and refuses those that it does not permit. */
  isPermittedHere = false
  /** What has become of the same request, of which the subject is gone; null: it is asked for otherwise. */
  previous: PreviousOutcome | null = null
  /** Headers that stages add to whatever is answered; null: none. */
  addedHeaders: Readonly<Record<string, string>> | null = null
  /** `Cache-Status`; null where no cache was asked. */
  cacheStatus: string | null = null
  /** The answer to a write whose row says that it names what was made, where it is short; null: it is not looked at. */
  answerBody: Buffer | null = null
  /** The node that answered; null for answers of the gateway's own. */
  node: string | null = null
  /** Null: traces are not configured. */
  span: RequestSpan | null = null
  /** Of the span, or else as the caller names it; null: there is none. */
  traceId: string | null = null
  /** The length of the body that was written to the client. */
  writtenBytes = 0

  constructor(id: string, address: string) {
    this.id = id
    this.address = address
  }
}

/** After stage 4: who asks for which row of the table, at which engine. */
export interface LocatedContext extends RequestContext {
  engine: EngineParts
  operation: Operation
  permit: Permit
  principal: Principal
}

/** Whose operation it is, and what is asked of it. */
export interface Match {
  readonly engine: EngineParts
  readonly operation: Operation
  readonly permit: Permit
  readonly accessRequest: AccessRequest
}

/** After stage 6: everything that a decision needs. */
export interface MatchedContext extends LocatedContext {
  accessRequest: AccessRequest
}

/** A list or an entity as an engine is asked for it. */
export interface Asking {
  readonly match: Match
  readonly upstreamRequest: UpstreamRequest
}

/** Decides a request as the mode of its engine says: stage 7. Throws, or rejects with, the refusal. */
export type DecideRequest = (
  parts: Parts,
  match: MatchedContext,
  request: FastifyRequest,
) => void | Promise<void>

/** The parts and the function with which a request is decided again. */
export interface DecisionMaker {
  readonly parts: Parts
  readonly decide: DecideRequest
}

/** A request that has passed the stages, and what would be sent to the engine for it. */
export interface Exchange extends Asking {
  readonly parts: Parts
  readonly decisionMaker: DecisionMaker
  readonly match: MatchedContext
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}
