import { GatewayError } from '../../errors.ts'
import type { OperationRequest } from '../../pipeline/context.ts'
import type { UpstreamRequest } from '../../proxy/wire/upstream-request.ts'
import {
  asRequest,
  executedQuery,
  extendingQueryOf,
  membersIn,
} from '../../lists/rewrite/filter-execution.ts'
import { canNarrow, narrowTasks, pagingIn } from '../../lists/rewrite/narrow-tasks.ts'
import type { TaskQueryMembers } from '../../lists/rewrite/stored-query.ts'
import type { Operation } from '../../operations/table.ts'
import { otherFormOf } from '../../request/accept.ts'

/** A list or count of tasks, whose query an engine completes with what it knows about the caller and about users. */
export interface TaskListRequest {
  readonly context: Pick<OperationRequest, 'operation' | 'accessRequest'> & {
    readonly engine: Pick<
      OperationRequest['engine'],
      'authorization' | 'decidesItself' | 'selectCandidateTasks'
    >
  }
  readonly upstreamRequest: UpstreamRequest
  /** The stored query of the filter that the engine executes. Null if it executes none, or if it has no such filter. */
  readonly storedQuery: TaskQueryMembers | null
  /** False if the caller sees no task, and the engine only validates the query. */
  readonly seesTasks: boolean
}

/** Returns whether an operation lists or counts the tasks of a query. */
export function findsTasks({ items }: Operation): boolean {
  return items?.prefilter === 'task query' || items?.storedQuery === true
}

/**
 * Returns the request whose query selects the tasks that a secured engine selects for the caller. A bare engine does not know the
 * caller whom a stored query names, and would extend candidate users with the groups of its own directory. Returns null if the engine
 * selects these tasks for the request as it is.
 * @throws GatewayError GW_ITEMS_NOT_EXACT if no query selects these tasks
 */
export async function completedRequest(listRequest: TaskListRequest): Promise<UpstreamRequest | null> {
  const { context, upstreamRequest } = listRequest
  const { operation } = context
  const completed =
    operation.items?.storedQuery === true
      ? await completedFilter(listRequest)
      : await completedTaskQuery(listRequest)
  if (completed === null) return null
  // A GET and a filter also have the HAL form. A POST for tasks, which replaces both, has not. See `readHalTasks` for lists of filters.
  const isList = operation.items?.storedQuery === true && operation.items.form === undefined
  if (!isList && otherFormOf(operation, upstreamRequest.headers['accept']) === 'hal')
    throw new GatewayError('GW_ITEMS_NOT_EXACT')
  const headers = { ...upstreamRequest.headers, 'content-type': 'application/json' }
  return { ...upstreamRequest, ...completed, method: 'POST', headers }
}

/** The path and the body of a POST with a whole task query. */
interface TaskQueryRequest {
  readonly path: string
  readonly body: Buffer
}

/** Executes a filter as a task query. Null if the engine can execute it. */
async function completedFilter(listRequest: TaskListRequest): Promise<TaskQueryRequest | null> {
  const { context, storedQuery } = listRequest
  if (storedQuery === null) return null
  const { engine, operation, accessRequest } = context
  const execution = {
    stored: storedQuery,
    extending: extendingQueryOf(accessRequest),
    caller: engine.decidesItself || accessRequest.principal.userId === '' ? null : accessRequest.principal,
  }
  const executed = executedQuery(execution)
  const body =
    (await withCandidates(listRequest, executed.body)) ?? (executed.namesCaller ? executed.body : null)
  if (body === null) return null
  const path = operation.items?.form === 'count' ? '/task/count' : `/task${pagingIn(accessRequest.query)}`
  return { path, body: asRequest(body, execution) }
}

/** Completes the candidate users of a task query. Null if nothing changes. */
async function completedTaskQuery(listRequest: TaskListRequest): Promise<TaskQueryRequest | null> {
  const asked = taskQuery(listRequest)
  if (asked === null) return null
  const body = await withCandidates(listRequest, asked.body)
  if (body === null) return null
  if (!asked.isWhole) throw new GatewayError('GW_ITEMS_NOT_EXACT')
  return { path: asked.path, body }
}

/** Returns a query whose candidate users have the groups of the gateway. Null if nothing changes. */
async function withCandidates({ context, seesTasks }: TaskListRequest, body: Buffer): Promise<Buffer | null> {
  const { engine, accessRequest } = context
  if (engine.authorization !== 'enforce' || !seesTasks || !mayName(body)) return null
  return engine.selectCandidateTasks(body, membersIn(body), accessRequest.principal)
}

/** Returns the task query of a request. Null if it names no candidate user. */
function taskQuery({
  context,
  upstreamRequest,
}: TaskListRequest): (TaskQueryRequest & { readonly isWhole: boolean }) | null {
  const { query } = context.accessRequest
  const { method, path, body } = upstreamRequest
  // A GET may have become a POST, which is restricted to the tasks that the caller sees.
  if (method === 'POST') return body === null ? null : { path, body, isWhole: true }
  const candidateUser = query.get('candidateUser')
  if (candidateUser === undefined) return null
  // The query lacks a parameter that the gateway does not know.
  if (!canNarrow('GET', query))
    return { path, body: Buffer.from(JSON.stringify({ candidateUser })), isWhole: false }
  const post = asPost(upstreamRequest, query)
  if (post === null || post.body === null) return null
  return { path: post.path, body: post.body, isWhole: true }
}

/** Sends a GET as a POST, without a restriction. */
const asPost = narrowTasks({ granted: null, tenantIds: null })

/** Returns whether a body may name a candidate user. In a text without escapes, a name that does not occur is not a member. */
function mayName(body: Buffer): boolean {
  return body.includes('candidateUser') || body.includes('\\')
}
