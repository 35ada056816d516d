import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReplayOutcome } from '../idempotency/idempotency-store.ts'
import type { EngineRefusal, GatewayError } from '../errors.ts'
import type { StoredRecord } from '../operations/authorization-record.ts'
import type { Ceiling } from '../operations/ceilings.ts'
import type { Operation } from '../operations/table.ts'
import type { Application, EngineDependencies, Dependencies } from './dependencies.ts'
import type { AccessRequest } from '../request/access-request.ts'
import type { MaybePromise } from '../request/maybe-promise.ts'
import { ANONYMOUS, type Principal } from '../request/principal.ts'
import type { PermitGround } from '../explain/permit-grounds.ts'
import type { ListPermit } from '../lists/answer/decide-list.ts'
import type { ListDecision } from '../lists/answer/list-decision.ts'
import type { StoredFilter } from '../lists/rewrite/filter-execution.ts'
import type { UpstreamRequest } from '../proxy/wire/upstream-request.ts'
import type { RouteConfig } from './routes.ts'
import type { QueryChange } from './query-changes.ts'
import type { Report, Stage } from './stage.ts'

declare module 'fastify' {
  interface FastifyContextConfig extends Partial<RouteConfig> {}
  interface FastifyRequest {
    /** The state of the request in all stages. The first hook creates it. */
    context: RequestContext
  }
}

/** The route to which the target of a request leads. */
export interface MatchedRoute {
  readonly config: Partial<RouteConfig>
  /** The template of the path, after the base path. Undefined if no route matches. */
  readonly url?: string | undefined
  /** The longest body that the route accepts, in bytes. */
  readonly bodyLimit: number
}

/** The parts of a request that the stages read. A request of the framework has them, and a request on the fast path has them too. */
export interface ReceivedRequest {
  readonly raw: IncomingMessage
  readonly method: string
  readonly headers: IncomingHttpHeaders
  /** The value of `Host`. */
  readonly host: string
  /** The canonical target. An engine's name before the path is removed. */
  readonly url: string
  /** The target as the client sent it. */
  readonly originalUrl: string
  readonly routeOptions: MatchedRoute
  /** The decoded parameters of the path, by name. */
  readonly params: unknown
  /** The bytes of the body. Undefined if they are not read yet, or if there are none. */
  readonly body?: unknown
  readonly context: RequestContext
}

/** The part of a request context that the observers of a request read: access line, audit log, metrics and traces. */
export interface Outcome {
  /** The current stage of the request, or the stage that refused it, for the log and the metrics. */
  stage: Stage
  refusal: GatewayError | EngineRefusal | null
  /** The refusals that the mode `report` has not applied. */
  reports: readonly Report[]
  /** The rules that have changed the query string. */
  changes: readonly QueryChange[]
  /** True if the response has no items because the caller may see none of them. */
  isWithheld: boolean
  passwordCheck: PasswordCheck | 'none'
  /** The authorization record before the request changes it, for the audit log. `unknown` if the gateway has not read it. */
  formerRecord: StoredRecord | 'unknown'
  /** The names of the parts of a multipart body. Null if no such body was read. */
  partNames: ReadonlySet<string> | null
  /** True if the credentials were verified for this request, and not remembered from an earlier one. */
  isLogin: boolean
  /** Why the checks have passed. Empty if the audit line does not name it. */
  grounds: readonly PermitGround[]
  origin: ResponseOrigin
  /** The most that the caller may do. Known from stage 7 on; until then `all`. */
  ceiling: Ceiling
  /** The interface through which the request came in, for the audit log. */
  via: EntryWay
  /** The length of the body that was written to the client. */
  writtenBytes: number
}

/** The check of a password in the body, which the gateway makes itself. `pending`: it has no result, or was refused. */
export interface PasswordCheck {
  readonly user: string
  readonly result: 'pending' | 'right' | 'wrong'
}

/** The sender of a response. */
export type ResponseOrigin =
  | { readonly kind: 'gateway' }
  /** `status` is the value of `Cache-Status`. */
  | { readonly kind: 'cache'; readonly status: string }
  /** `body` is the body of a successful write, if it is short and contains the ids of created entities. Otherwise it is empty. */
  | { readonly kind: 'node'; readonly node: string; readonly body: Buffer }

/** The interface through which a request comes in: the API, or a tool of the MCP endpoint. */
export type EntryWay = { readonly way: 'api' } | { readonly way: 'mcp'; readonly tool: string }

export const NO_BYTES: Buffer = Buffer.alloc(0)
export const NO_HEADERS: Readonly<Record<string, string>> = {}
const FROM_GATEWAY: ResponseOrigin = { kind: 'gateway' }
const BY_API: EntryWay = { way: 'api' }
const NO_REPORTS: readonly Report[] = []
const NO_GROUNDS: readonly PermitGround[] = []
const NO_CHANGES: readonly QueryChange[] = []
const NO_FILTERS: readonly StoredFilter[] = []

/**
 * The state of one request. The types of its states, in the order of the stages, are `RequestContext`, `LocatedContext`,
 * `CheckedContext` and `DecidedContext`. They describe the same object. Only the functions of this file change the state.
 */
export interface RequestContext extends Outcome {
  readonly state: 'received' | 'located' | 'checked' | 'decided'
  readonly id: string
  /** The number of stages that the request passed before the framework got it. See request-stage.ts. */
  passedStages: number
  /** The address of the client: the peer, or the address that a trusted proxy names. Empty if the connection has no address. */
  readonly address: string
  /** Headers that stages add to every response. */
  addedHeaders: Readonly<Record<string, string>>
  /** The engine's name in the path, or the name of the default engine. */
  readonly engineName: string
  readonly isEngineNamed: boolean
  /** Null if the path names an engine that is not configured. */
  readonly engine: EngineDependencies | null
  /** Null if no operation has this path and method. */
  readonly operation: Operation | null
  /** Null if the caller is not authenticated, or need not be. */
  readonly principal: Principal | null
  /** The filters that the engine executes for the request. Known from stage 8 on. */
  storedFilters: readonly StoredFilter[]
  /** The application of a passthrough request. */
  readonly passthrough: Pick<Application, 'prefix'> | 'none'
}

/** The context after stage 4: caller, operation and engine are known. */
export interface LocatedContext extends RequestContext {
  readonly engine: EngineDependencies
  readonly operation: Operation
  readonly principal: Principal
  readonly permit: ListPermit
  /** The version of the authorization records that decided the request. */
  readonly recordsVersion: number
}

/** The context after stage 6: everything that a decision needs is known. */
export interface CheckedContext extends LocatedContext {
  readonly accessRequest: AccessRequest
  /** The body as it is received and sent. Null without a body. */
  readonly bytes: Buffer | null
  /** The query string as it is sent, with its question mark. Empty without a query. */
  readonly search: string
}

/** The context after stage 7: everything that the handlers need is known. */
export interface DecidedContext extends CheckedContext, RequestPermission {}

/** The decision about a request that continues. */
export interface RequestPermission {
  /** The items of a query that the caller may see. */
  readonly listDecision: KnownListDecision
  /** True if the gateway has permitted this request itself, with every item of the result, and refuses requests that it does not permit. */
  readonly isPermittedHere: boolean
  /** The outcome of the same request with the same key, whose entity no longer exists. */
  readonly replay: Replay
}

export type KnownListDecision = Exclude<ListDecision, { readonly visibility: 'undecidable' }>

/** `unknown key`: the handler claims the key in the store. */
export type Replay = ReplayOutcome | { readonly state: 'unknown key' }

export const ALL_ITEMS: KnownListDecision = { visibility: 'all' }
const UNKNOWN_KEY: Replay = { state: 'unknown key' }

/** Permits the whole response. The gateway would also let a request continue that it does not permit. */
export const NOT_ENFORCED: RequestPermission = {
  listDecision: ALL_ITEMS,
  isPermittedHere: false,
  replay: UNKNOWN_KEY,
}
/** Permits the whole response, as the decision of the gateway. */
export const PERMITTED_HERE: RequestPermission = { ...NOT_ENFORCED, isPermittedHere: true }

/** A version that no records have. */
const UNDECIDED = -2

/**
 * The members of all states. Every instance has all of them from the start, so that all instances have one hidden class. The type of
 * a state does not have the members that are set later.
 */
class ContextMembers implements RequestContext {
  readonly id: string
  readonly address: string
  passedStages = 0
  state: RequestContext['state'] = 'received'
  stage: Stage = 'canonical'
  addedHeaders = NO_HEADERS
  engineName = ''
  isEngineNamed = false
  engine: EngineDependencies | null = null
  operation: Operation | null = null
  principal: Principal | null = null
  storedFilters = NO_FILTERS
  passthrough: RequestContext['passthrough'] = 'none'
  permit: ListPermit | null = null
  recordsVersion = UNDECIDED
  accessRequest = NO_REQUEST
  bytes: Buffer | null = null
  search = ''
  listDecision: KnownListDecision = ALL_ITEMS
  isPermittedHere = false
  replay: Replay = UNKNOWN_KEY
  refusal: GatewayError | EngineRefusal | null = null
  reports = NO_REPORTS
  changes = NO_CHANGES
  isWithheld = false
  passwordCheck: PasswordCheck | 'none' = 'none'
  formerRecord: StoredRecord | 'unknown' = 'unknown'
  partNames: ReadonlySet<string> | null = null
  isLogin = false
  grounds = NO_GROUNDS
  origin: ResponseOrigin = FROM_GATEWAY
  ceiling: Ceiling = 'all'
  via: EntryWay = BY_API
  writtenBytes = 0

  constructor(id: string, address: string) {
    this.id = id
    this.address = address
  }
}

/** Creates the context of a request. */
export function receive(id: string, address: string): RequestContext {
  return new ContextMembers(id, address)
}

type PathTarget = Pick<RequestContext, 'engineName' | 'isEngineNamed' | 'engine' | 'operation'>

/** Sets the engine and the operation to which the path leads. */
export function setRoute(
  context: RequestContext,
  { engineName, isEngineNamed, engine, operation }: PathTarget,
): void {
  const members = membersOf(context)
  members.engineName = engineName
  members.isEngineNamed = isEngineNamed
  members.engine = engine
  members.operation = operation
}

export function setPassthrough(context: RequestContext, application: Pick<Application, 'prefix'>): void {
  membersOf(context).passthrough = application
}

export function setPrincipal(context: RequestContext, principal: Principal): void {
  membersOf(context).principal = principal
}

type Location = Pick<LocatedContext, 'engine' | 'operation' | 'principal' | 'permit'>

/** Sets the results of stages 2 to 4. */
export function locate(
  context: RequestContext,
  { engine, operation, principal, permit }: Location,
): asserts context is LocatedContext {
  const members = membersOf(context)
  members.engine = engine
  members.operation = operation
  members.principal = principal
  members.permit = permit
  members.state = 'located'
}

type ReadRequest = Pick<CheckedContext, 'accessRequest' | 'bytes' | 'search'>

/** Sets the request that is checked, and then sent. */
export function setRequest(
  context: LocatedContext,
  { accessRequest, bytes, search }: ReadRequest,
): asserts context is CheckedContext {
  const members = membersOf(context)
  members.accessRequest = accessRequest
  members.bytes = bytes
  members.search = search
  members.state = 'checked'
}

/** Sets the decision, and the version of the records from before it. */
export function decide(
  context: CheckedContext,
  recordsVersion: number,
  { listDecision, isPermittedHere, replay }: RequestPermission,
): asserts context is DecidedContext {
  const members = membersOf(context)
  members.recordsVersion = recordsVersion
  members.listDecision = listDecision
  members.isPermittedHere = isPermittedHere
  members.replay = replay
  members.state = 'decided'
}

/** Removes the decision, so that nothing is sent because of it. */
export function forgetDecision(context: LocatedContext): void {
  const members = membersOf(context)
  members.recordsVersion = UNDECIDED
  members.state = 'located'
}

/** Removes everything that the audit log would contain about the last decision. */
export function forgetReports(outcome: Outcome): void {
  outcome.reports = NO_REPORTS
  outcome.changes = NO_CHANGES
  outcome.isWithheld = false
  outcome.grounds = NO_GROUNDS
}

/** Releases the memory of the parsed request. The decision about it remains. */
export function releaseRequest(context: LocatedContext): void {
  const members = membersOf(context)
  members.accessRequest = NO_REQUEST
  members.state = 'located'
}

const NO_REQUEST: AccessRequest = { principal: ANONYMOUS, params: {}, query: new Map(), body: undefined }

/** Returns the node that sent the response. Null for a response that no node sent. */
export function nodeOf({ origin }: Outcome): string | null {
  return origin.kind === 'node' ? origin.node : null
}

/** Returns the value of `Cache-Status`. Null if the response is not from a cache that all callers share. */
export function loggedCacheStatusOf({ origin }: Outcome): string | null {
  return origin.kind === 'cache' ? origin.status : null
}

function membersOf(context: RequestContext): ContextMembers {
  if (context instanceof ContextMembers) return context
  throw new TypeError('A request context has another class')
}

export function isLocated(context: RequestContext): context is LocatedContext {
  return context.state !== 'received'
}

export function isChecked(context: RequestContext): context is CheckedContext {
  return context.state === 'checked' || context.state === 'decided'
}

export function isDecided(context: RequestContext): context is DecidedContext {
  return context.state === 'decided'
}

/**
 * Returns the context after stage 4.
 * @throws Error if a stage was left out, which is a defect of the gateway: the client gets 500, and the log has a line
 */
export function locatedOf({ context }: Pick<ReceivedRequest, 'context'>): LocatedContext {
  if (!isLocated(context)) throw leftOut(context)
  return context
}

/**
 * Returns the context after stage 6.
 * @throws as locatedOf
 */
export function checkedOf({ context }: Pick<ReceivedRequest, 'context'>): CheckedContext {
  if (!isChecked(context)) throw leftOut(context)
  return context
}

/**
 * Returns the context after stage 7.
 * @throws as locatedOf
 */
export function decidedOf({ context }: Pick<ReceivedRequest, 'context'>): DecidedContext {
  if (!isDecided(context)) throw leftOut(context)
  return context
}

function leftOut({ state }: RequestContext): Error {
  return new Error(`A stage was left out: the request is only ${state}`)
}

/** An operation of an engine and the parsed request for it. */
export interface OperationRequest {
  readonly engine: EngineDependencies
  readonly operation: Operation
  readonly permit: ListPermit
  readonly accessRequest: AccessRequest
}

/** A request for a list or an entity, with the form in which the engine gets it. */
export interface EngineCall {
  readonly context: OperationRequest
  readonly upstreamRequest: UpstreamRequest
}

/** Decides a request in the mode of its engine (stage 7). Throws the refusal, or rejects with it. */
export type DecideRequest = (
  dependencies: Dependencies,
  context: CheckedContext,
  request: ReceivedRequest,
) => MaybePromise<DecidedContext>

/** The dependencies and the function that decide a request again. */
export interface DecisionMaker {
  readonly dependencies: Dependencies
  readonly decide: DecideRequest
}

/** A request that has passed the stages, and the request to the engine for it. */
export interface HandlerContext extends EngineCall {
  readonly dependencies: Dependencies
  readonly decisionMaker: DecisionMaker
  readonly context: DecidedContext
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}
