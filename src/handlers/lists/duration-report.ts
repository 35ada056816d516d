import type { FastifyReply } from 'fastify'
import { GatewayError } from '../../errors.ts'
import type { HandlerContext } from '../../pipeline/context.ts'
import { listOf } from '../../request/body.ts'
import { countIn } from '../../request/engine-request.ts'
import { mapSideBySide } from '../../lists/side-by-side.ts'
import { readWhole } from '../../lists/postfilter/visible-items.ts'
import { sendResponse } from '../../pipeline/replies.ts'
import { MAX_SINGLE_READS } from '../../lists/limits.ts'
import { readEngineJson } from './read-list-items.ts'

type ReportQuery = Readonly<Record<string, unknown>>

/**
 * Serves a report about ended instances or tasks. An engine without authorization includes all tenants, and a total cannot be split
 * again. The report is sent only if it contains nothing of another tenant.
 */
export async function serveReport(
  handlerContext: HandlerContext,
  tenants: ReadonlySet<string>,
): Promise<FastifyReply> {
  const response = await readWhole(handlerContext)
  if (response.status === 200)
    await mapSideBySide(queriesOf(handlerContext), async (query) => {
      if (await hasForeign(handlerContext, query, tenants)) throw new GatewayError('GW_ITEMS_NOT_EXACT')
    })
  return sendResponse(handlerContext.reply, response)
}

/**
 * Returns the queries that together cover the report. Only the report about instances can be limited to definitions. A list with an
 * empty entry is not used, because the engine reads such an entry in its own way.
 */
function queriesOf({ context: { operation, accessRequest } }: HandlerContext): readonly ReportQuery[] {
  if (operation.items?.prefilter !== 'definitions of the report') return [{}]
  const [ids, keys] = (['processDefinitionIdIn', 'processDefinitionKeyIn'] as const).map((name) =>
    listOf(accessRequest, 'query', name).map(({ id }) => id),
  )
  const isListed = (list: typeof ids) => list !== undefined && list.length > 0 && !list.includes('')
  // `hasForeign` sends three requests for each definition.
  if (isListed(ids) && ids !== undefined && 3 * ids.length <= MAX_SINGLE_READS)
    return ids.map((processDefinitionId) => ({ processDefinitionId }))
  return isListed(keys) ? [{ processDefinitionKeyIn: keys }] : [{}]
}

/**
 * Returns whether anything of another tenant has ended. The caller's items are counted first. An item that ends between the counts
 * then makes the total too large, and the report is refused. In the other order it could hide an item of another tenant.
 */
async function hasForeign(
  handlerContext: HandlerContext,
  query: ReportQuery,
  tenants: ReadonlySet<string>,
): Promise<boolean> {
  const free = await countOf(handlerContext, { ...query, withoutTenantId: true })
  const own = tenants.size === 0 ? 0 : await countOf(handlerContext, { ...query, tenantIdIn: [...tenants] })
  return (await countOf(handlerContext, query)) !== free + own
}

async function countOf(handlerContext: HandlerContext, query: ReportQuery): Promise<number> {
  const path = handlerContext.context.operation.template.replace(/report$/, 'count')
  return countIn(await readEngineJson(handlerContext, path, { ...query, finished: true }))
}
