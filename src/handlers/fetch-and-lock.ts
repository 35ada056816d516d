import type { FastifyReply } from 'fastify'
import { GatewayError, operatorText } from '../errors.ts'
import type { HandlerContext } from '../pipeline/context.ts'
import { type BufferedResponse, MAX_READ_BYTES } from '../request/buffered-response.ts'
import { jsonIn } from '../request/engine-request.ts'
import { isOfTenants } from '../policy/authz/visibility/visibility.ts'
import type { Upstream } from '../proxy/upstream.ts'
import { listItemsIn } from './lists/read-list-items.ts'
import { sendResponse } from '../pipeline/replies.ts'

/** Serves a fetch of tasks that was narrowed to process definitions. See `sendFetched`. */
export async function serveFetched(
  { context, upstreamRequest, reply }: HandlerContext,
  tenants: ReadonlySet<string>,
): Promise<FastifyReply> {
  const { upstream } = context.engine
  return sendFetched(await upstream.fetch(upstreamRequest, MAX_READ_BYTES), { upstream, reply, tenants })
}

interface TaskRecipient {
  readonly upstream: Upstream
  readonly reply: FastifyReply
  readonly tenants: ReadonlySet<string>
}

/**
 * Sends the fetched tasks if all of them belong to the caller's tenants. An engine may assign a tenant to instances of a definition
 * without tenant. If a task of another tenant is among the tasks, all of them are unlocked again and the request fails. In this
 * case only a topic that names tenants can be fetched.
 */
export async function sendFetched(
  response: BufferedResponse,
  { upstream, reply, tenants }: TaskRecipient,
): Promise<FastifyReply> {
  const tasks = response.status === 200 ? listItemsIn(jsonIn(response.body)) : []
  if (tasks.every(({ tenantId }) => isOfTenants(tenantId, tenants))) return sendResponse(reply, response)
  await upstream.unlockTasks(response)
  throw new GatewayError('GW_ITEMS_NOT_EXACT', {
    message: operatorText`For a user with tenants, each topic needs tenantIdIn or withoutTenantId`,
  })
}
