import type { FastifyReply } from 'fastify'
import { GatewayError } from '../../errors.ts'
import {
  ALL_ITEMS,
  type DecidedContext,
  type HandlerContext,
  type OperationRequest,
} from '../../pipeline/context.ts'
import { COUNT_OF_FILTER } from '../../operations/table.ts'
import { countIn, jsonIn } from '../../request/engine-request.ts'
import { targetPathOf, targetSearchOf, withoutParameter } from '../../request/target.ts'
import { stringIn } from '../../request/value.ts'
import { readFilter } from '../../lists/rewrite/filter-execution.ts'
import { namesCaller } from '../../lists/rewrite/name-caller.ts'
import { elementsIn, spliceElements, spliceMember } from '../../lists/rewrite/narrow.ts'
import type { BufferedResponse } from '../../request/buffered-response.ts'
import { itemFilterOf } from './item-filter.ts'
import { completedRequest, type TaskListRequest } from './completed-query.ts'
import { ITEM_COUNT, requestsItemCounts } from '../../pipeline/check-stored-queries.ts'
import { enforce } from '../../pipeline/enforcement-mode.ts'
import { checkStoredExpressions } from '../../policy/validation/hazards.ts'
import type { TaskQueryMembers } from '../../lists/rewrite/stored-query.ts'
import { sendResponse } from '../../pipeline/replies.ts'
import { answerList } from '../../lists/answer/answer-list.ts'
import { ListRefusal, readVisible, readWhole } from '../../lists/postfilter/visible-items.ts'
import type { ListDecision } from '../../lists/answer/list-decision.ts'
import type { ListLimits } from '../../lists/limits.ts'
import type { ListRequest } from '../../lists/list-request.ts'

type ItemCountRequest = Pick<DecidedContext, 'accessRequest' | 'storedFilters'> & {
  readonly engine: Pick<OperationRequest['engine'], 'authorization' | 'decidesItself'>
  readonly operation: Pick<OperationRequest['operation'], 'handler'>
}

/** Returns whether the gateway counts the items of filters: each item is decided, or a filter names the caller. */
export function asksItemCounts(context: ItemCountRequest): boolean {
  const { engine, operation, accessRequest } = context
  return (
    requestsItemCounts(operation, accessRequest.query) &&
    (engine.authorization === 'enforce' || hasUnknownCaller(context))
  )
}

/** Returns whether a filter names a caller whom the engine does not know, so that the engine cannot count its items. */
function hasUnknownCaller({ engine, accessRequest, storedFilters }: ItemCountRequest): boolean {
  const { userId } = accessRequest.principal
  // The groups of a caller without groups are also unknown.
  const caller = { userId, groups: [userId] }
  return !engine.decidesItself && storedFilters.some(({ query }) => namesCaller(query, caller, 'whole'))
}

/** Serves filters, each with the number of items that the caller sees. */
export async function serveItemCounts(handlerContext: HandlerContext): Promise<FastifyReply> {
  const { context, reply } = handlerContext
  const { listDecision } = context
  const scan = listDecision.strategy === 'scan' ? listDecision : null
  // A restricted list is read in parts of other filters, whose queries are not checked.
  const isCounted = listDecision.visibility === 'all' && !hasUnknownCaller(context)
  const listRequest = isCounted ? handlerContext : withoutItemCount(handlerContext)
  const response =
    listDecision.visibility === 'all'
      ? await readWhole(listRequest)
      : await answerList(listRequest, itemFilterOf(handlerContext, scan))
  return sendResponse(
    reply,
    response.status === 200 ? await withCounts(response, handlerContext, isCounted) : response,
  )
}

function withoutItemCount({ context, upstreamRequest }: HandlerContext): ListRequest {
  const { engine, operation, accessRequest } = context
  const query = new Map([...accessRequest.query].filter(([name]) => name !== ITEM_COUNT))
  const { path } = upstreamRequest
  return {
    context: { engine, operation, accessRequest: { ...accessRequest, query } },
    upstreamRequest: {
      ...upstreamRequest,
      path: targetPathOf(path) + withoutParameter(targetSearchOf(path), ITEM_COUNT),
    },
  }
}

/**
 * Sets the counts. Everything else in the response stays as the engine wrote it. If the engine refuses a count, its error is the
 * response, as for a request in which it counts the items itself.
 */
async function withCounts(
  response: BufferedResponse,
  handlerContext: HandlerContext,
  isCounted: boolean,
): Promise<BufferedResponse> {
  const isList = Array.isArray(jsonIn(response.body))
  const counts: (number | null)[] = []
  try {
    for (const filter of isList ? elementsIn(response.body) : [response.body])
      counts.push(await countOf(filter, handlerContext, isCounted))
  } catch (error) {
    if (error instanceof ListRefusal) return error.response
    throw error
  }
  const counted = (filter: Buffer, at = 0): Buffer => {
    const count = counts[at] ?? null
    return count === null ? filter : spliceMember(filter, ITEM_COUNT, count)
  }
  const { body } = response
  return { ...response, body: isList ? spliceElements(body, null, counted) : counted(body) }
}

/**
 * Returns the number of visible items of a filter. Null if it is the number that the engine counts, and that the response contains.
 * @throws ListRefusal if the engine refuses the query
 */
async function countOf(
  filter: Buffer,
  handlerContext: HandlerContext,
  isCounted: boolean,
): Promise<number | null> {
  const { context, dependencies } = handlerContext
  const { engine } = context
  const id = stringIn(jsonIn(filter), 'id')
  const permit = engine.permits.get(COUNT_OF_FILTER)
  if (id === null) return null
  if (permit === undefined) throw new GatewayError('GW_ITEMS_NOT_EXACT')
  context.accessRequest.checkDeadline?.()
  const { query } = readFilter(filter)
  if (!isCounted)
    await enforce(dependencies, engine.validation, context, () =>
      checkStoredExpressions(query, engine.accepted),
    )
  const accessRequest = { ...context.accessRequest, params: { id }, query: new Map() }
  const isDecided = engine.authorization === 'enforce'
  const decision = (isDecided ? await permit.decideList?.(accessRequest, false) : undefined) ?? ALL_ITEMS
  if (decision.visibility === 'none') return 0
  const listContext = { engine, operation: permit.operation, accessRequest }
  const { listRequest, isCompleted } = await countRequest(handlerContext, listContext, query)
  if (decision.visibility === 'all') return isCounted && !isCompleted ? null : countAll(listRequest)
  return countVisible(listRequest, decision, dependencies.config.limits)
}

/** Counts the items that the caller may see. */
async function countVisible(
  listRequest: ListRequest,
  decision: ListDecision,
  limits: ListLimits,
): Promise<number> {
  if (decision.strategy !== 'scan') throw new GatewayError('GW_ITEMS_NOT_EXACT')
  const { seen, response } = await readVisible(
    listRequest,
    { postfilter: decision.postfilter, limits },
    { form: 'count', wanted: Number.POSITIVE_INFINITY },
  )
  if (seen === null) throw new ListRefusal(response)
  return seen.length
}

/** Returns the request for the number of items of a filter, and whether it is completed for the caller. */
async function countRequest(
  { upstreamRequest }: HandlerContext,
  context: TaskListRequest['context'] & ListRequest['context'],
  storedQuery: TaskQueryMembers,
): Promise<{ readonly listRequest: ListRequest; readonly isCompleted: boolean }> {
  const { operation, accessRequest } = context
  const path = operation.template.replace(':id', encodeURIComponent(accessRequest.params['id'] ?? ''))
  const asStored = { ...upstreamRequest, method: 'GET', path, body: null }
  const completed = await completedRequest({
    context,
    upstreamRequest: asStored,
    storedQuery,
    seesTasks: true,
  })
  return {
    listRequest: { context, upstreamRequest: completed ?? asStored },
    isCompleted: completed !== null,
  }
}

async function countAll(listRequest: ListRequest): Promise<number> {
  const response = await readWhole(listRequest)
  if (response.status !== 200) throw new ListRefusal(response)
  return countIn(jsonIn(response.body))
}
