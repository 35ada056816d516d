import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { targetSearchOf } from '../request/target.ts'
import type { DecideRequest, DecisionMaker, Exchange, Match, MatchedContext } from '../pipeline/context.ts'
import type { Answer } from '../request/answer.ts'
import { isOpen, matchOf } from '../pipeline/match.ts'
import type { Operation } from '../operations/table.ts'
import type { Parts } from '../pipeline/parts.ts'
import { assertTakesJson, decidedAcceptOf } from '../request/accept.ts'
import { EMPTY_OBJECT } from '../policy/validation/media.ts'
import type { Postfilter } from '../lists/list-decision.ts'
import type { PlanRows } from '../lists/list-plan.ts'
import type { UpstreamRequest } from '../proxy/wire/upstream-request.ts'
import { sendAnswer } from '../pipeline/replies.ts'
import { createPathOf, type PathOf } from '../pipeline/routes.ts'
import { serveActivityCounts, serveActivityCountsOfTenants } from './lists/activity-counts.ts'
import { serveGroupCounts, serveGroups } from './lists/group-counts.ts'
import { callerHeadersOf } from '../pipeline/caller-headers.ts'
import { decideAgain, isOutdated, isStillDecided } from '../pipeline/decide-again.ts'
import { hasIdempotencyKey, serveIdempotent } from './idempotent.ts'
import { serveFetched } from './fetch-and-lock.ts'
import { fromEngine, readAnswer } from './from-engine.ts'
import { isCacheable, peekCached, sendCached, serveCached } from './cached.ts'
import { servePasswordVerdict } from './password-verdict.ts'
import { isAboutSelf, serveOwnProfile } from './own-profile.ts'
import { asksItemCounts, serveItemCounts } from './lists/item-counts.ts'
import { needsItemChecks, serveCheckedItems } from './lists/checked-items.ts'
import { holdMsOf, serveFetchOfNothing, serveNothing, servePoll } from './long-poll.ts'
import { serveTopicNames } from './lists/topic-names.ts'
import { serveReport } from './lists/duration-report.ts'
import { answerRows } from '../lists/answer/answer-list.ts'
import { observerOf } from './lists/rows-observer.ts'
import { reportMissingRows } from './lists/reported-rows.ts'
import { resolveSelectors } from './selection/resolve-selectors.ts'
import { hasDeploymentAffinity, withDeploymentAffinity } from './deployment-affinity.ts'

/** Returns the reply that the framework has to send. Undefined if the response is already written. */
type Handler = (exchange: Exchange) => FastifyReply | Promise<FastifyReply | undefined>

/** One step of the handler of an operation. `then` handles requests that the step does not apply to. */
interface Step {
  /** Whether an operation has the step. */
  readonly of: (operation: Operation) => boolean
  readonly handle: (operation: Operation, then: Handler) => Handler
}

/** The steps of all handlers. The handler of an operation consists of the steps that apply to it; the first step is the outermost. */
const STEPS: readonly Step[] = [
  { of: ({ handler }) => handler === 'password verdict', handle: verdict },
  { of: ({ handler }) => handler === 'own profile', handle: ownProfile },
  { of: ({ idempotencyKey }) => idempotencyKey === true, handle: onceWithKey },
  { of: ({ resolvesQueries }) => resolvesQueries !== undefined, handle: prepared },
  {
    of: ({ starts, resolvesQueries }) => starts !== undefined && resolvesQueries === undefined,
    handle: withAffinity,
  },
  { of: ({ itemCount }) => itemCount !== undefined, handle: withItemCounts },
  { of: ({ itemChecks }) => itemChecks !== undefined, handle: withItemChecks },
  // Every operation has this step: a restriction by the decision must never be skipped because a field of the operation is missing.
  { of: () => true, handle: restrictedRows },
  { of: ({ longPoll }) => longPoll === true, handle: polled },
  { of: ({ rows }) => rows !== undefined && (rows.form ?? 'locks') === 'locks', handle: reportedRows },
  { of: () => true, handle: fetched },
  { of: ({ cache }) => cache !== undefined, handle: cached },
]

/**
 * Creates the handler of each operation (stages 9 to 11). It reads the cache or sends the request to a node, and then stores the
 * response or invalidates stale entries.
 */
export function createHandlers(
  parts: Parts,
  decide: DecideRequest,
): (operation: Operation) => RouteHandlerMethod {
  const decisionMaker = { parts, decide }
  return (operation) => {
    if (isNeverForwarded(operation)) return (request, reply) => serveOwn(parts, matchOf(request), reply)
    const nothing = nothingOf(operation)
    const sending: Sending = {
      pathOf: createPathOf(operation.template),
      keepsAnswer: operation.creates?.startsWith('answer:') === true && parts.config.log.audit !== 'off',
    }
    const handle = STEPS.filter((step) => step.of(operation)).reduceRight<Handler>(
      (then, step) => step.handle(operation, then),
      fromEngine(operation),
    )
    function serveDecided(request: FastifyRequest, reply: FastifyReply): ReturnType<Handler> {
      const match = matchOf(request)
      // 9. Is the response cached? Shared entries contain only data that every permitted caller may see.
      const hit = peekCached(parts, match, request)
      if (hit !== null) return sendCached(hit, request, reply)
      const asked = upstreamRequestOf(parts, match, request, sending)
      const upstreamRequest = narrowedRequest(match, asked)
      return upstreamRequest === null
        ? nothing({ parts, decisionMaker, match, upstreamRequest: asked, request, reply })
        : handle({ parts, decisionMaker, match, upstreamRequest, request, reply })
    }
    return function serve(request, reply) {
      const served = serveDecided(request, reply)
      return served instanceof Promise
        ? served.catch((error: unknown) => serveAgain(error, { decisionMaker, request, reply, serveDecided }))
        : served
    }
  }
}

interface ServeAgainOptions {
  readonly decisionMaker: DecisionMaker
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly serveDecided: (request: FastifyRequest, reply: FastifyReply) => ReturnType<Handler>
}

/** Limit of decisions about one request, because records may change all the time. */
const MAX_DECISIONS = 4

/** Decides and serves a request again that was not sent because its decision no longer held. */
async function serveAgain(
  error: unknown,
  { decisionMaker, request, reply, serveDecided }: ServeAgainOptions,
): Promise<FastifyReply | undefined> {
  let cause = error
  for (let decisions = 1; decisions < MAX_DECISIONS && isOutdated(cause); decisions += 1) {
    await decideAgain(decisionMaker, matchOf(request), request)
    try {
      return await serveDecided(request, reply)
    } catch (again) {
      cause = again
    }
  }
  throw cause
}

function verdict(_operation: Operation, then: Handler): Handler {
  return (exchange) => (isOpen(exchange.match) ? servePasswordVerdict(exchange) : then(exchange))
}

function ownProfile(_operation: Operation, then: Handler): Handler {
  return (exchange) => (isAboutSelf(exchange) ? serveOwnProfile(exchange, readAnswer) : then(exchange))
}

function onceWithKey(_operation: Operation, then: Handler): Handler {
  return (exchange) =>
    hasIdempotencyKey(exchange.match, exchange.request)
      ? serveIdempotent(exchange, { prepare, ask: readAnswer })
      : then(exchange)
}

function prepared(_operation: Operation, then: Handler): Handler {
  return (exchange) => prepare(exchange).then(then)
}

function withAffinity(_operation: Operation, then: Handler): Handler {
  return (exchange) => (hasDeploymentAffinity(exchange.match) ? prepare(exchange).then(then) : then(exchange))
}

function withItemCounts(_operation: Operation, then: Handler): Handler {
  return (exchange) => (asksItemCounts(exchange.match) ? serveItemCounts(exchange) : then(exchange))
}

function withItemChecks(_operation: Operation, then: Handler): Handler {
  return (exchange) => (needsItemChecks(exchange) ? serveCheckedItems(exchange, readAnswer) : then(exchange))
}

function restrictedRows(operation: Operation, then: Handler): Handler {
  const recount = recountOf(operation)
  const filter = filterOf(operation)
  // For a caller who sees nothing, the query is sent with a limit of 0 items, so that the engine validates it. A query that locks items
  // ignores the limit and would lock them.
  const isAskable = operation.effect === 'read'
  const nothing = nothingOf(operation)
  return (exchange) => {
    const { rows } = exchange.match
    if (rows === null || rows.strategy === 'rewrite') return then(exchange)
    if (rows.visibility === 'none' && (rows.valid || !isAskable)) return nothing(exchange)
    if (rows.strategy === 'recount') return recount(exchange, rows.tenants)
    return rows.visibility === 'none'
      ? serveFiltered(exchange, null)
      : filter(exchange, rows.postfilter, rows.plan)
  }
}

/** Returns the handler for a caller without any visible item. */
function nothingOf({ rows }: Operation): Handler {
  return rows?.form === 'locks' ? serveFetchOfNothing : ({ match, reply }) => serveNothing(match, reply)
}

/** Returns the handler of counts that the engine computes. It leaves out the data of other tenants. */
function recountOf({ rows }: Operation): typeof serveReport {
  if (rows?.form === 'report') return serveReport
  return rows?.form === 'group counts' ? serveGroupCounts : serveActivityCountsOfTenants
}

/** Returns the handler that builds the response from the items that the caller sees. */
function filterOf({
  rows,
}: Operation): (exchange: Exchange, keep: Postfilter, plan: PlanRows | undefined) => Promise<FastifyReply> {
  if (rows?.form === 'groups') return serveGroups
  if (rows?.form === 'topic names') return serveTopicNames
  if (rows?.form !== 'instance counts') return serveFiltered
  return (exchange, keep) =>
    serveActivityCounts(exchange, { keep, maxRows: exchange.parts.config.limits.filteredRows })
}

/** Serves a filtered list. If `keep` is null, the caller sees no item, and the engine only validates the query. */
async function serveFiltered(
  exchange: Exchange,
  keep: Postfilter | null,
  plan?: PlanRows,
): Promise<FastifyReply> {
  const maxRows = exchange.parts.config.limits.filteredRows
  exchange.match.isWithheld = keep === null
  return sendAnswer(
    exchange.reply,
    await answerRows(exchange, { postfilter: keep, maxRows, plan, observe: observerOf(exchange) }),
  )
}

function polled(_operation: Operation, then: Handler): Handler {
  return (exchange) =>
    holdMsOf(exchange.match) > 0
      ? servePoll(exchange, { tenants: tenantsOf(exchange), narrow: narrowedRequest })
      : then(exchange)
}

/** Reads the response in the mode `report` to list the missing permissions in the audit log. */
function reportedRows(operation: Operation, then: Handler): Handler {
  return async (exchange) => {
    const { match, request, reply } = exchange
    if (match.missingRows === null || request.method === 'HEAD') return then(exchange)
    // If the response cannot be read, for example because it is too long, a read is sent again and streamed. A fetch of tasks is sent only
    // once, so its error is thrown.
    const answer = await readAnswer(exchange).catch((error: unknown) => {
      if (operation.effect === 'read') return null
      throw error
    })
    if (answer === null) return then(exchange)
    await reportMissingRows(match, operation.template, answer)
    return sendAnswer(reply, answer)
  }
}

function fetched(_operation: Operation, then: Handler): Handler {
  return (exchange) => {
    const tenants = tenantsOf(exchange)
    return tenants === undefined ? then(exchange) : serveFetched(exchange, tenants)
  }
}

/** Returns the tenants of the tasks that the response may contain. Undefined if the narrowed query itself restricts the tenants. */
function tenantsOf({ match: { rows } }: Exchange): ReadonlySet<string> | undefined {
  return rows?.strategy === 'rewrite' ? rows.tenants : undefined
}

function cached(_operation: Operation, then: Handler): Handler {
  return (exchange) =>
    isCacheable(exchange.match, exchange.request) ? serveCached(exchange) : then(exchange)
}

/** Adds what must be read from the engine before the request can be sent. */
async function prepare(exchange: Exchange): Promise<Exchange> {
  return withDeploymentAffinity(await selected(exchange))
}

/** Replaces the queries in the body with the ids of the entities that the caller sees. */
async function selected(exchange: Exchange): Promise<Exchange> {
  const { match, upstreamRequest } = exchange
  if (match.operation.resolvesQueries === undefined || upstreamRequest.body === null) return exchange
  return { ...exchange, upstreamRequest: { ...upstreamRequest, body: await resolveSelectors(exchange) } }
}

/** Facts that all requests of an operation share. */
interface Sending {
  readonly pathOf: PathOf
  /** True if the response names the created entities and the audit log records them. */
  readonly keepsAnswer: boolean
}

function upstreamRequestOf(
  parts: Parts,
  match: MatchedContext,
  request: FastifyRequest,
  { pathOf, keepsAnswer }: Sending,
): UpstreamRequest & { readonly headers: Record<string, string> } {
  const { engine, operation, accessRequest, bytes, rows } = match
  const headers = callerHeadersOf(parts, match, request)
  headers['x-request-id'] = request.id
  // The decision covers one form of the response, and the forms embed different data. The engine must not choose the form again.
  if (operation.hal === true && engine.authorization === 'enforce')
    headers['accept'] = decidedAcceptOf(request.headers.accept)
  if (bytes === EMPTY_OBJECT) describeEmptyObject(headers)
  if (operation.media === 'none') undescribeBody(headers)
  if (rows?.strategy === 'rewrite') headers['content-type'] = JSON_TYPE
  const { retry, conflict, newTasks } = operation
  return {
    isStillPermitted: () => isStillDecided(match),
    method: request.method,
    path: pathOf(accessRequest.params) + targetSearchOf(request.url),
    headers,
    body: bytes,
    retry,
    conflict,
    newTasks,
    keepsAnswer,
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
function narrowedRequest(
  { rows, accessRequest }: MatchedContext,
  upstreamRequest: UpstreamRequest,
): UpstreamRequest | null {
  if (rows?.strategy !== 'rewrite') return upstreamRequest
  const query = rows.narrow(upstreamRequest, accessRequest.query)
  if (query === null) return null
  const { method, path, body } = query
  const { headers, retry, conflict, newTasks, isStillPermitted } = upstreamRequest
  return { method, path, headers, body, retry, conflict, newTasks, isStillPermitted }
}

function isNeverForwarded({ handler }: Operation): boolean {
  return handler === 'engine names' || handler === 'authorization check'
}

/** Serves an operation that the gateway answers itself, because it knows more than an engine. */
async function serveOwn(parts: Parts, match: Match, reply: FastifyReply): Promise<FastifyReply> {
  const { operation, permit, accessRequest } = match
  assertTakesJson(reply.request.headers.accept)
  const isNames = operation.handler === 'engine names'
  return sendAnswer(reply, jsonAnswer(isNames ? namesOf(parts) : await permit.answerCheck(accessRequest)))
}

function namesOf({ engines }: Parts): unknown {
  return [...engines.keys()].map((name) => ({ name }))
}

/** Returns a response with the headers of the engine's response to a GET. */
function jsonAnswer(value: unknown): Answer {
  const headers = { 'cache-control': 'no-cache', 'content-type': 'application/json' }
  return { status: 200, headers, body: Buffer.from(JSON.stringify(value)) }
}
