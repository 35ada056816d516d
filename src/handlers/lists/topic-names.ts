import type { FastifyReply } from 'fastify'
import { GatewayError } from '../../errors.ts'
import type { HandlerContext } from '../../pipeline/context.ts'
import { TOPIC_NAME_PARAMETERS } from '../../policy/validation/schemas/parameters.ts'
import type { ListPermit } from '../../lists/answer/decide-list.ts'
import type { BufferedResponse } from '../../request/buffered-response.ts'
import { jsonIn } from '../../request/engine-request.ts'
import { isPaging } from '../../request/paging.ts'
import { sendResponse } from '../../pipeline/replies.ts'
import { answerList } from '../../lists/answer/answer-list.ts'
import { itemFilterOf, type ScanDecision } from './item-filter.ts'
import { listItemsIn } from './read-list-items.ts'
import { mapSideBySide } from '../../lists/side-by-side.ts'
import { json, readWhole, topicFlagsOf } from '../../lists/postfilter/visible-items.ts'
import { STEP_ITEMS } from '../../lists/limits.ts'
import { LIST_OF_TOPICS } from '../../operations/table.ts'

/**
 * Serves the topics with a task that the caller sees. Few tasks are read. If there are many, one visible task of each topic is
 * requested.
 * @throws GatewayError GW_ITEMS_NOT_EXACT if there are more topics than `limits.subqueries`, if one of them cannot be decided, or if
 *   the query has a parameter that the list of external tasks may not have
 */
export async function serveTopicNames(
  handlerContext: HandlerContext,
  decision: ScanDecision,
): Promise<FastifyReply> {
  const { limits } = handlerContext.dependencies.config
  const names = [...handlerContext.context.accessRequest.query.keys()]
  if (!names.every((name) => TOPIC_NAME_PARAMETERS.has(name) || isPaging(name)))
    throw new GatewayError('GW_ITEMS_NOT_EXACT')
  const few = { ...limits, scannedItems: Math.min(STEP_ITEMS, limits.scannedItems) }
  const filtering = { ...itemFilterOf(handlerContext, decision), limits: few }
  const response = await orTooMany(answerList(handlerContext, filtering))
  return sendResponse(handlerContext.reply, response ?? (await askEachTopic(handlerContext)))
}

/** Returns null if there are more items than may be read. */
async function orTooMany(response: Promise<BufferedResponse>): Promise<BufferedResponse | null> {
  try {
    return await response
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'GW_ITEMS_NOT_EXACT') return null
    throw error
  }
}

async function askEachTopic(handlerContext: HandlerContext): Promise<BufferedResponse> {
  const { dependencies, context } = handlerContext
  const permit = context.engine.permits.get(LIST_OF_TOPICS)
  const response = await readWhole(handlerContext)
  if (response.status !== 200) return response
  const names = namesIn(response)
  if (permit === undefined || names.length > dependencies.config.limits.subqueries)
    throw new GatewayError('GW_ITEMS_NOT_EXACT')
  const isShown = await mapSideBySide(names, (name) => isTopicVisible(handlerContext, permit, name))
  return { ...response, body: json(names.filter((_, index) => isShown[index])) }
}

function namesIn({ body }: BufferedResponse): readonly string[] {
  const names = jsonIn(body)
  if (Array.isArray(names) && names.every(isName)) return names
  throw new GatewayError('GW_ITEMS_NOT_EXACT')
}

/** Returns whether a topic can be requested. The engine ignores a condition with an empty name. */
function isName(name: unknown): name is string {
  return typeof name === 'string' && name !== ''
}

/** Returns whether the caller sees a task of this topic, as decided for the list of tasks. */
async function isTopicVisible(
  handlerContext: HandlerContext,
  permit: ListPermit,
  name: string,
): Promise<boolean> {
  const { context, upstreamRequest } = handlerContext
  const query = new Map([
    ...topicFlagsOf(context.accessRequest.query),
    ['topicName', name],
    ['firstResult', '0'],
    ['maxResults', '1'],
  ] as const)
  const accessRequest = { ...context.accessRequest, params: {}, query }
  const decision = await permit.decideList?.(accessRequest, false)
  if (decision?.visibility === 'none') return false
  if (decision?.strategy !== 'scan') throw new GatewayError('GW_ITEMS_NOT_EXACT')
  const path = `${permit.operation.template}?${new URLSearchParams([...query])}`
  const { status, body } = await answerList(
    {
      context: { engine: context.engine, operation: permit.operation, accessRequest },
      upstreamRequest: { ...upstreamRequest, method: 'GET', path },
    },
    itemFilterOf(handlerContext, decision),
  )
  const items = status === 200 ? listItemsIn(jsonIn(body)) : null
  // A database that ignores case may find a task of another topic.
  if (items === null || items.some(({ topicName }) => topicName !== name))
    throw new GatewayError('GW_ITEMS_NOT_EXACT')
  return items.length > 0
}
