import type { FastifyReply } from 'fastify'
import type { HandlerContext, OperationRequest } from '../../pipeline/context.ts'
import { enforce } from '../../pipeline/enforcement-mode.ts'
import { sendResponse } from '../../pipeline/replies.ts'
import { isSurelyFalse } from '../../policy/authz/visibility/compile-restriction.ts'
import { denialOf } from '../../policy/authz/checks/decision.ts'
import { otherFormOf } from '../../request/accept.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import type { BufferedResponse } from '../../request/buffered-response.ts'
import { bodyFlag } from '../../request/body.ts'
import { isRecord } from '../../request/value.ts'
import { ADDED_VARIABLES } from '../../operations/table.ts'
import { jsonIn } from '../../request/engine-request.ts'
import { GatewayError } from '../../errors.ts'
import { answerList } from '../../lists/answer/answer-list.ts'
import { itemFilterOf } from './item-filter.ts'
import { reportMissingPermissions } from './reported-items.ts'
import { readWhole } from '../../lists/postfilter/visible-items.ts'

/** Returns the operations whose data the query adds to each item, or to a single task. */
export function operationsAdded({ operation, accessRequest }: OperationRequest): readonly string[] {
  const { handler, method } = operation
  if (handler !== 'added variables') return []
  const isAdded = (name: string) =>
    method === 'POST' ? bodyFlag(accessRequest.body, name) : !isSurelyFalse(accessRequest.query.get(name))
  return Object.entries(ADDED_VARIABLES).flatMap(([name, id]) => (isAdded(name) ? [id] : []))
}

/** Returns whether the items of the response must be checked one by one. HAL items carry no added data. */
export function needsItemChecks({ context, upstreamRequest }: HandlerContext): boolean {
  const { engine, operation, listDecision } = context
  if (
    engine.authorization === 'off' ||
    engine.authorization === 'engine' ||
    listDecision.visibility === 'none'
  )
    return false
  // The checks of a single task are in the table.
  return (
    operation.items !== undefined &&
    operationsAdded(context).length > 0 &&
    otherFormOf(operation, upstreamRequest.headers['accept']) !== 'hal'
  )
}

/** Sends a list after the checks of each item, as the engine runs them while it adds data to the items. */
export async function serveCheckedItems(
  handlerContext: HandlerContext,
  read: ReadResponse,
): Promise<FastifyReply> {
  const { context, reply } = handlerContext
  return sendResponse(reply, await readCheckedItems(handlerContext, read, context.accessRequest))
}

/**
 * Reads a list, and checks each item if necessary. `asked` is the request that the engine gets.
 * @throws EngineRefusal or GatewayError for the first item that is refused
 */
export async function readCheckedItems(
  handlerContext: HandlerContext,
  read: ReadResponse,
  asked: AccessRequest,
): Promise<BufferedResponse> {
  const { dependencies, context } = handlerContext
  const response = await readItems(handlerContext, read, asked)
  if (response.status !== 200 || !needsItemChecks(handlerContext)) return response
  await reportMissingPermissions(context, context.operation.template, response)
  context.stage = 'permit'
  await enforce(dependencies, context.engine.authorization, context, () => checkItems(context, response))
  return response
}

/** Reads a response that needs no filter. */
export type ReadResponse = (handlerContext: HandlerContext) => Promise<BufferedResponse>

function readItems(
  handlerContext: HandlerContext,
  read: ReadResponse,
  asked: AccessRequest,
): Promise<BufferedResponse> {
  const { context, upstreamRequest, request } = handlerContext
  const { engine, operation, listDecision } = context
  if (listDecision.strategy === 'scan')
    return answerList(
      { context: { engine, operation, accessRequest: asked }, upstreamRequest },
      itemFilterOf(handlerContext, listDecision),
    )
  // The gateway sends a HEAD as a GET, because the response to a HEAD has no items to check.
  const isWhole = request.method === 'HEAD' && listDecision.visibility === 'all'
  return isWhole ? readWhole(handlerContext) : read(handlerContext)
}

/**
 * Checks the data that the query adds to each item.
 * @throws EngineRefusal or GatewayError for the first item that is refused
 */
async function checkItems(context: OperationRequest, { body }: BufferedResponse): Promise<void> {
  const items = jsonIn(body)
  if (!Array.isArray(items) || !items.every(isRecord)) throw new GatewayError('GW_UPSTREAM_INVALID')
  for (const id of operationsAdded(context)) {
    const permit = context.engine.permits.get(id)
    if (permit === undefined) throw new GatewayError('GW_ITEMS_NOT_EXACT')
    const decision = await permit.checkItems(context.accessRequest, context.operation.template, items)
    if (!decision.permitted) throw denialOf(decision)
  }
}
