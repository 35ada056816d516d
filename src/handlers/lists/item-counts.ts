import type { FastifyReply } from 'fastify'
import { GatewayError } from '../../errors.ts'
import type { HandlerContext, OperationRequest } from '../../pipeline/context.ts'
import { COUNT_OF_FILTER } from '../../operations/table.ts'
import { jsonIn } from '../../request/engine-request.ts'
import { isRecord } from '../../request/value.ts'
import { spliceElements, spliceMember } from '../../lists/rewrite/narrow.ts'
import type { BufferedResponse } from '../../request/buffered-response.ts'
import { sendResponse } from '../../pipeline/replies.ts'
import { answerList } from '../../lists/answer/answer-list.ts'
import { readVisible, readWhole } from '../../lists/postfilter/visible-items.ts'

/** Returns whether the request for filters also requests the number of items that each filter finds. */
export function asksItemCounts({ engine, operation, accessRequest }: ItemCountRequest): boolean {
  const isAsked = accessRequest.query.get('itemCount')?.toLowerCase() === 'true'
  return operation.handler === 'item counts' && isAsked && engine.authorization === 'enforce'
}

interface ItemCountRequest {
  readonly engine: Pick<OperationRequest['engine'], 'authorization'>
  readonly operation: Pick<OperationRequest['operation'], 'handler'>
  readonly accessRequest: Pick<OperationRequest['accessRequest'], 'query'>
}

/** Serves filters, each with the number of items that the caller sees. */
export async function serveItemCounts(handlerContext: HandlerContext): Promise<FastifyReply> {
  const { dependencies, context, reply } = handlerContext
  const { listDecision } = context
  const postfilter = listDecision.strategy === 'scan' ? listDecision.postfilter : null
  const response =
    listDecision.visibility === 'all'
      ? await readWhole(handlerContext)
      : await answerList(handlerContext, { postfilter, limits: dependencies.config.limits })
  return sendResponse(reply, response.status === 200 ? await withCounts(response, handlerContext) : response)
}

/** Sets the counts. Everything else in the response stays as the engine wrote it. */
async function withCounts(
  response: BufferedResponse,
  handlerContext: HandlerContext,
): Promise<BufferedResponse> {
  const found = jsonIn(response.body)
  const isList = Array.isArray(found)
  const counts: (number | null)[] = []
  for (const filter of isList ? found : [found])
    counts.push(isRecord(filter) ? await countOf(String(filter['id']), handlerContext) : null)
  const counted = (filter: Buffer, at = 0): Buffer => {
    const count = counts[at] ?? null
    return count === null ? filter : spliceMember(filter, 'itemCount', count)
  }
  const { body } = response
  return { ...response, body: isList ? spliceElements(body, null, counted) : counted(body) }
}

/** Returns the number of visible items of a filter. Null if the caller sees all of them. */
async function countOf(
  id: string,
  { dependencies, context, upstreamRequest }: HandlerContext,
): Promise<number | null> {
  const permit = context.engine.permits.get(COUNT_OF_FILTER)
  if (permit === undefined) throw new GatewayError('GW_ROWS_NOT_EXACT')
  const accessRequest = { ...context.accessRequest, params: { id }, query: new Map() }
  const decision = (await permit.decideList?.(accessRequest, false)) ?? { visibility: 'all' }
  if (decision.visibility === 'all') return null
  if (decision.visibility === 'none') return 0
  if (decision.strategy !== 'scan') throw new GatewayError('GW_ROWS_NOT_EXACT')
  const path = permit.operation.template.replace(':id', encodeURIComponent(id))
  const { seen } = await readVisible(
    {
      context: { engine: context.engine, operation: permit.operation, accessRequest },
      upstreamRequest: { ...upstreamRequest, method: 'GET', path },
    },
    { postfilter: decision.postfilter, limits: dependencies.config.limits },
    { form: 'count', wanted: Number.POSITIVE_INFINITY },
  )
  if (seen === null) throw new GatewayError('GW_ROWS_NOT_EXACT')
  return seen.length
}
