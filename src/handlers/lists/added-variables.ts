import type { FastifyReply } from 'fastify'
import { GatewayError, operatorText } from '../../errors.ts'
import { spliceElements, spliceJson } from '../../lists/rewrite/narrow.ts'
import { MAX_SINGLE_IDS } from '../../lists/limits.ts'
import { observationsOf } from '../../lists/merge/list-observations.ts'
import { ListRefusal } from '../../lists/postfilter/visible-items.ts'
import { mapSideBySide } from '../../lists/side-by-side.ts'
import { objectMembersOf, serializedValuesOf } from '../../operations/serialized-values.ts'
import { ADDED_VARIABLES } from '../../operations/table.ts'
import type { HandlerContext } from '../../pipeline/context.ts'
import { sendResponse } from '../../pipeline/replies.ts'
import { createPathOf } from '../../pipeline/routes.ts'
import { plainTasksRequest, readsSerialized } from '../../pipeline/serialized-request.ts'
import { hazard } from '../../policy/validation/hazards.ts'
import type { UpstreamRequest } from '../../proxy/wire/upstream-request.ts'
import { type BufferedResponse, MAX_READ_BYTES } from '../../request/buffered-response.ts'
import { jsonIn } from '../../request/engine-request.ts'
import { isObject, isRecord } from '../../request/value.ts'
import { operationsAdded, readCheckedItems, type ReadResponse } from './checked-items.ts'

/** Returns whether the gateway adds the variables of tasks to the response, because the engine would create objects from them. */
export function addsVariables({ context }: HandlerContext): boolean {
  return (
    readsSerialized(context) &&
    context.listDecision.visibility !== 'none' &&
    operationsAdded(context).length > 0
  )
}

/**
 * Serves tasks with their variables. The engine gets the request without the members that add variables. The variables of each task
 * are then read as text. Every byte of the response is therefore read without creating an object, also if a variable changes meanwhile.
 */
export async function serveAddedVariables(
  handlerContext: HandlerContext,
  read: ReadResponse,
): Promise<FastifyReply> {
  const { context, upstreamRequest, reply } = handlerContext
  const plain = { ...handlerContext, upstreamRequest: plainTasksRequest(context.operation, upstreamRequest) }
  const { query, body } = context.accessRequest
  const names = objectMembersOf(context.operation.id)
  const response = await readCheckedItems(plain, read, {
    ...context.accessRequest,
    query: new Map([...query].filter(([name]) => !names.includes(name))),
    body: isObject(body) ? without(body, names) : body,
  })
  return sendResponse(reply, await withVariables(plain, response))
}

function without(
  body: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)))
}

/** Returns the response with the variables of its tasks. A HAL response has no variables. */
async function withVariables(
  handlerContext: HandlerContext,
  response: BufferedResponse,
): Promise<BufferedResponse> {
  const { 'content-type': type = '' } = response.headers
  if (response.status !== 200 || !String(type).startsWith('application/json')) return response
  const tasks = jsonIn(response.body)
  const ids = (Array.isArray(tasks) ? tasks : [tasks]).map(idOf)
  if (ids.length > MAX_SINGLE_IDS)
    throw hazard('deserialization', operatorText`the variables of more than ${MAX_SINGLE_IDS} tasks`)
  try {
    if (ids.length === 0 || !(await canAddVariables(handlerContext))) return response
    const variables = await readVariables(handlerContext, ids)
    const extended = (task: Buffer, at = 0): Buffer => {
      const json = variables[at] ?? null
      return json === null ? task : spliceJson(task, 'variables', json)
    }
    const { body } = response
    return { ...response, body: Array.isArray(tasks) ? spliceElements(body, null, extended) : extended(body) }
  } catch (error) {
    // The engine, too, responds with the error of the first task whose variables it cannot read.
    if (error instanceof ListRefusal) return error.response
    throw error
  }
}

function idOf(task: unknown): string {
  if (isRecord(task) && typeof task['id'] === 'string') return task['id']
  throw new GatewayError('GW_UPSTREAM_INVALID')
}

/**
 * Reads the variables of each task as the engine writes them. Null for a task without variables, to which the engine adds no member.
 * @throws ListRefusal
 */
async function readVariables(
  { context, upstreamRequest }: HandlerContext,
  ids: readonly string[],
): Promise<readonly (Buffer | null)[]> {
  const { engine, accessRequest } = context
  // If the query requests both, the engine adds all variables.
  const [operationId = ''] = operationsAdded(context)
  const permit = engine.permits.get(operationId)
  if (permit === undefined) throw new GatewayError('GW_ITEMS_NOT_EXACT')
  const pathOf = createPathOf(permit.operation.template)
  const search = new URLSearchParams(serializedValuesOf(operationId).map(([name, value]) => [name, value]))
  let bytesLeft = MAX_READ_BYTES
  return mapSideBySide(ids, async (id) => {
    accessRequest.checkDeadline?.()
    const read = readOf(upstreamRequest, { method: 'GET', path: `${pathOf({ id })}?${search}`, body: null })
    const response = await engine.upstream.fetch(read, Math.max(0, bytesLeft))
    if (response.status !== 200) throw new ListRefusal(response)
    bytesLeft -= response.body.length
    const variables = jsonIn(response.body)
    if (!isObject(variables)) throw new GatewayError('GW_UPSTREAM_INVALID')
    return Object.keys(variables).length === 0 ? null : response.body
  })
}

/** A value that an engine with this member refuses, before it reads anything. Other engines ignore the member. */
const UNREADABLE = { withTaskVariablesInReturn: [] }

/**
 * Returns whether the engine adds variables to tasks: Camunda 7.23 and later, Operaton. Older engines ignore the members. An upgrade of
 * the engine is noticed when the observation has expired.
 * @throws ListRefusal
 */
async function canAddVariables({ context, upstreamRequest }: HandlerContext): Promise<boolean> {
  const { engine } = context
  const known = observationsOf(engine).addsVariables
  const found = known.get(ADDED_VARIABLES.withTaskVariablesInReturn)
  if (found !== undefined) return found
  const body = Buffer.from(JSON.stringify(UNREADABLE))
  const probe = readOf(upstreamRequest, { method: 'POST', path: '/task?maxResults=0', body })
  const response = await engine.upstream.fetch(probe, MAX_READ_BYTES)
  if (response.status !== 200 && response.status !== 400) throw new ListRefusal(response)
  known.set(ADDED_VARIABLES.withTaskVariablesInReturn, response.status === 400)
  return response.status === 400
}

/** Returns a read of the gateway with the caller's headers. */
function readOf(
  upstreamRequest: UpstreamRequest,
  sent: Pick<UpstreamRequest, 'method' | 'path' | 'body'>,
): UpstreamRequest {
  const { 'content-type': _type, 'content-encoding': _encoding, ...others } = upstreamRequest.headers
  const headers = {
    ...others,
    accept: 'application/json',
    ...(sent.body !== null && { 'content-type': 'application/json' }),
  }
  return { ...upstreamRequest, ...sent, headers, retry: 'always', isShareable: false }
}
