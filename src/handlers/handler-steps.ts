import type { FastifyReply } from 'fastify'
import type { HandlerContext } from '../pipeline/context.ts'
import { isOpen } from '../pipeline/locate-request.ts'
import type { Operation } from '../operations/table.ts'
import { sendResponse } from '../pipeline/replies.ts'
import { serveActivityCounts, serveActivityCountsOfTenants } from './lists/activity-counts.ts'
import { serveGroupCounts, serveGroups } from './lists/group-counts.ts'
import { hasIdempotencyKey, serveIdempotent } from './idempotent.ts'
import { serveFetched } from './fetch-and-lock.ts'
import { readResponse } from './from-engine.ts'
import { isCacheable, serveCached } from './cached.ts'
import { servePasswordCheck } from './password-check.ts'
import { isAboutSelf, serveOwnProfile } from './own-profile.ts'
import { serveApiDocument, serveApiPage } from './serve-api-document.ts'
import { serveAuthorizationCheck } from './own-response.ts'
import { otherFormOf } from '../request/accept.ts'
import { readHalTasks } from './lists/hal-tasks.ts'
import { completedRequest, findsTasks } from './lists/completed-query.ts'
import { asksItemCounts, serveItemCounts } from './lists/item-counts.ts'
import { addsVariables, serveAddedVariables } from './lists/added-variables.ts'
import { needsItemChecks, serveCheckedItems } from './lists/checked-items.ts'
import { holdMsOf, serveFetchOfNothing, serveNothing, servePoll } from './long-poll.ts'
import { serveTopicNames } from './lists/topic-names.ts'
import { serveReport } from './lists/duration-report.ts'
import { answerList } from '../lists/answer/answer-list.ts'
import { passAll } from '../lists/postfilter/visible-items.ts'
import { itemFilterOf, type ScanDecision } from './lists/item-filter.ts'
import { isReportIncomplete, reportMissingPermissions } from './lists/reported-items.ts'
import { resolveSelectors } from './selection/resolve-selectors.ts'
import { hasDeploymentAffinity, withDeploymentAffinity } from './deployment-affinity.ts'
import { narrowedRequest } from './outgoing-request.ts'

/** Returns the reply that the framework has to send. Undefined if the response is already written. */
export type Handler = (handlerContext: HandlerContext) => FastifyReply | Promise<FastifyReply | undefined>

/** One step of the handlers. `src/gateway.ts` defines the order of the steps. */
export interface HandlerStep {
  /** Returns whether the handler of an operation has this step. Called when the route of the operation is registered. */
  readonly appliesTo: (operation: Operation) => boolean
  /** Creates the step. It passes requests that it does not serve itself to `next`. */
  readonly create: (operation: Operation, next: Handler) => Handler
}

/** Answers the check of a permission, unless the engine decides itself and therefore also knows the answer. */
export const checkAuthorization: HandlerStep = {
  appliesTo: ({ handler }) => handler === 'authorization check',
  create: (_operation, next) => (handlerContext) =>
    handlerContext.context.engine.decidesItself
      ? next(handlerContext)
      : serveAuthorizationCheck(handlerContext),
}

/** Describes the API to the caller. */
export const describeApi: HandlerStep = {
  appliesTo: ({ handler }) => handler === 'api document' || handler === 'api page',
  create: ({ handler }) => (handler === 'api page' ? serveApiPage : serveApiDocument),
}

/** Verifies a password that a caller without credentials sends in the body. */
export const verifyPassword: HandlerStep = {
  appliesTo: ({ handler }) => handler === 'password check',
  create: (_operation, next) => (handlerContext) =>
    isOpen(handlerContext.context) ? servePasswordCheck(handlerContext) : next(handlerContext),
}

/** Serves the caller's own profile, also if the engine does not know the caller. */
export const serveProfileOfCaller: HandlerStep = {
  appliesTo: ({ handler }) => handler === 'own profile',
  create: (_operation, next) => (handlerContext) =>
    isAboutSelf(handlerContext) ? serveOwnProfile(handlerContext, readResponse) : next(handlerContext),
}

/** Executes a request with an `Idempotency-Key` once. Repetitions get the stored response. */
export const executeOnce: HandlerStep = {
  appliesTo: ({ idempotencyKey }) => idempotencyKey === true,
  create: (_operation, next) => (handlerContext) =>
    hasIdempotencyKey(handlerContext.context, handlerContext.request)
      ? serveIdempotent(handlerContext, { prepare, ask: readResponse })
      : next(handlerContext),
}

/** Keeps the authorization record that the request changes, for the audit log. After the response, only the new record is known. */
export const keepFormerRecord: HandlerStep = {
  appliesTo: ({ auditedChange }) => auditedChange?.authorization?.startsWith('path:') === true,
  create: (_operation, next) => (handlerContext) => {
    const { context } = handlerContext
    context.formerRecord = context.engine.recordById(context.accessRequest.params['id'] ?? '') ?? 'unknown'
    return next(handlerContext)
  },
}

/** Replaces queries in the body with the ids of the entities that the caller sees. */
export const selectEntities: HandlerStep = {
  appliesTo: ({ selectors }) => selectors !== undefined,
  create: (_operation, next) => (handlerContext) => prepare(handlerContext).then(next),
}

/** Sends a start to a node that has the deployment of the definition. */
export const preferDeployedNodes: HandlerStep = {
  // Operations with queries in the body have `selectEntities`, which does this too.
  appliesTo: ({ starts, selectors }) => starts !== undefined && selectors === undefined,
  create: (_operation, next) => (handlerContext) =>
    hasDeploymentAffinity(handlerContext.context) ? prepare(handlerContext).then(next) : next(handlerContext),
}

/** Changes task queries that an engine would complete: with the groups of its own directory, or with a caller whom it does not know. */
export const completeQuery: HandlerStep = {
  appliesTo: findsTasks,
  create: (_operation, next) => async (handlerContext) => {
    const { operation, listDecision, storedFilters } = handlerContext.context
    const seesTasks = listDecision.visibility !== 'none'
    if (!seesTasks && storedFilters.length === 0) return next(handlerContext)
    const [filter] = storedFilters
    const storedQuery = filter?.query ?? null
    const upstreamRequest = await completedRequest({ ...handlerContext, storedQuery, seesTasks })
    if (upstreamRequest === null) return next(handlerContext)
    const changed = { ...handlerContext, upstreamRequest }
    if (filter !== undefined && otherFormOf(operation, upstreamRequest.headers['accept']) === 'hal')
      return sendResponse(handlerContext.reply, await readHalTasks(changed, filter))
    // The query of a filter is sent as a list, from which the single result is taken.
    return operation.items?.form === 'single' && listDecision.visibility === 'all'
      ? serveFiltered(changed, { postfilter: passAll })
      : next(changed)
  },
}

/** Counts the items of each entity in a list, restricted to the items that the caller sees. */
export const countItems: HandlerStep = {
  appliesTo: ({ handler }) => handler === 'item counts',
  create: (_operation, next) => (handlerContext) =>
    asksItemCounts(handlerContext.context) ? serveItemCounts(handlerContext) : next(handlerContext),
}

/** Adds variables to tasks, or checks the tasks to which the engine adds them. */
export const checkItems: HandlerStep = {
  appliesTo: ({ handler }) => handler === 'added variables',
  create: (_operation, next) => (handlerContext) => {
    if (addsVariables(handlerContext)) return serveAddedVariables(handlerContext, readResponse)
    return needsItemChecks(handlerContext)
      ? serveCheckedItems(handlerContext, readResponse)
      : next(handlerContext)
  },
}

/** Builds a response that contains only the items that the caller sees, if the engine cannot be asked for them alone. */
export const restrictItems: HandlerStep = {
  // Every operation has this step: a restriction by the decision must never be skipped because a field of the operation is missing.
  appliesTo: () => true,
  create: (operation, next) => {
    const recount = recountOf(operation)
    const filter = filterOf(operation)
    // For a caller who sees nothing, the query is sent with a limit of 0 items, so that the engine validates it. A query that locks
    // items ignores the limit and would lock them.
    const isAskable = operation.effect === 'read'
    const nothing = nothingOf(operation)
    return (handlerContext) => {
      const { listDecision } = handlerContext.context
      if (listDecision.visibility === 'all' || listDecision.strategy === 'rewrite')
        return next(handlerContext)
      if (listDecision.visibility === 'none' && (listDecision.valid || !isAskable))
        return nothing(handlerContext)
      if (listDecision.strategy === 'recount') return recount(handlerContext, listDecision.tenants)
      return listDecision.visibility === 'none'
        ? serveFiltered(handlerContext, null)
        : filter(handlerContext, listDecision)
    }
  },
}

/** Holds a request that waits for tasks. */
export const holdLongPoll: HandlerStep = {
  appliesTo: ({ handler }) => handler === 'long poll',
  create: (_operation, next) => (handlerContext) =>
    holdMsOf(handlerContext.context) > 0
      ? servePoll(handlerContext, { tenants: tenantsOf(handlerContext), narrow: narrowedRequest })
      : next(handlerContext),
}

/** Reads the response in the mode `report` to list the missing permissions in the audit log. */
export const reportItems: HandlerStep = {
  appliesTo: ({ items }) => items !== undefined && (items.form ?? 'locks') === 'locks',
  create: (operation, next) => async (handlerContext) => {
    const { context, request, reply } = handlerContext
    if (!isReportIncomplete(context) || request.method === 'HEAD') return next(handlerContext)
    // If the response cannot be read, for example because it is too long, a read is sent again and streamed. A fetch of tasks is sent only
    // once, so its error is thrown.
    const response = await readResponse(handlerContext).catch((error: unknown) => {
      if (operation.effect === 'read') return null
      throw error
    })
    if (response === null) return next(handlerContext)
    await reportMissingPermissions(context, operation.template, response)
    return sendResponse(reply, response)
  },
}

/** Checks the tenants of fetched tasks before the caller gets them. */
export const checkFetchedTasks: HandlerStep = {
  appliesTo: () => true,
  create: (_operation, next) => (handlerContext) => {
    const tenants = tenantsOf(handlerContext)
    return tenants === undefined ? next(handlerContext) : serveFetched(handlerContext, tenants)
  },
}

/** Shares one response of the engine among all callers who may see it. */
export const shareCached: HandlerStep = {
  appliesTo: ({ cache }) => cache !== undefined,
  create: (_operation, next) => (handlerContext) =>
    isCacheable(handlerContext.context, handlerContext.request)
      ? serveCached(handlerContext)
      : next(handlerContext),
}

/** Returns the handler for a caller without any visible item. */
export function nothingOf({ items }: Operation): Handler {
  return items?.form === 'locks' ? serveFetchOfNothing : ({ context, reply }) => serveNothing(context, reply)
}

/** Returns the handler of counts that the engine computes. It leaves out the data of other tenants. */
function recountOf({ items }: Operation): typeof serveReport {
  if (items?.form === 'report') return serveReport
  return items?.form === 'group counts' ? serveGroupCounts : serveActivityCountsOfTenants
}

/** Returns the handler that builds the response from the items that the caller sees. */
function filterOf({
  items,
}: Operation): (handlerContext: HandlerContext, decision: ScanDecision) => Promise<FastifyReply> {
  if (items?.form === 'groups') return serveGroups
  if (items?.form === 'topic names') return serveTopicNames
  return items?.form === 'instance counts' ? serveActivityCounts : serveFiltered
}

/** Serves a filtered list. If `decision` is null, the caller sees no item, and the engine only validates the query. */
async function serveFiltered(
  handlerContext: HandlerContext,
  decision: Pick<ScanDecision, 'postfilter' | 'planContext'> | null,
): Promise<FastifyReply> {
  handlerContext.context.isWithheld = decision === null
  const response = await answerList(handlerContext, itemFilterOf(handlerContext, decision))
  return sendResponse(handlerContext.reply, response)
}

/** Returns the tenants of the tasks that the response may contain. Undefined if the narrowed query itself restricts the tenants. */
function tenantsOf({ context: { listDecision } }: HandlerContext): ReadonlySet<string> | undefined {
  return listDecision.strategy === 'rewrite' ? listDecision.tenants : undefined
}

/** Adds facts that must be read from the engine before the request can be sent. */
async function prepare(handlerContext: HandlerContext): Promise<HandlerContext> {
  return withDeploymentAffinity(await selected(handlerContext))
}

/** Replaces the queries in the body with the ids of the entities that the caller sees. */
async function selected(handlerContext: HandlerContext): Promise<HandlerContext> {
  const { context, upstreamRequest } = handlerContext
  if (context.operation.selectors === undefined || upstreamRequest.body === null) return handlerContext
  return {
    ...handlerContext,
    upstreamRequest: { ...upstreamRequest, body: await resolveSelectors(handlerContext) },
  }
}
