import type { FastifyReply } from 'fastify'
import { GatewayError } from '../../errors.ts'
import type { HandlerContext } from '../../pipeline/context.ts'
import { jsonIn } from '../../request/engine-request.ts'
import { isRecord } from '../../request/value.ts'
import type { Postfilter } from '../../lists/item-decision.ts'
import type { ListItem } from '../../policy/authz/entities/look-ups.ts'
import { isOfTenants } from '../../policy/authz/visibility/visibility.ts'
import type { BufferedResponse } from '../../request/buffered-response.ts'
import type { ScanDecision } from './item-filter.ts'
import { readEngineJson, readListItems, listItemsIn, visibleOf } from './read-list-items.ts'
import { mapSideBySide } from '../../lists/side-by-side.ts'
import { json, readWhole } from '../../lists/postfilter/visible-items.ts'
import { sendResponse } from '../../pipeline/replies.ts'
import { MAX_SINGLE_READS } from '../../lists/limits.ts'

interface ActivityCountInput {
  readonly handlerContext: HandlerContext
  readonly definition: ListItem
  readonly postfilter: Postfilter
}

/**
 * Serves the activities of a definition, counted again over the items that the caller sees. Everything that the engine counts can
 * also be listed: the executions in one activity, and the failed jobs and incidents of the definition.
 */
export async function serveActivityCounts(
  handlerContext: HandlerContext,
  { postfilter }: Pick<ScanDecision, 'postfilter'>,
): Promise<FastifyReply> {
  const response = await readWhole(handlerContext)
  if (response.status !== 200) return sendResponse(handlerContext.reply, response)
  const counting = { handlerContext, definition: await definitionOf(handlerContext), postfilter }
  return sendResponse(handlerContext.reply, await recounted(response, counting))
}

/**
 * Serves the activities of a definition for a caller who sees every instance of their tenants. Usually there are no instances of other
 * tenants, and the engine's response is sent unchanged.
 */
export async function serveActivityCountsOfTenants(
  handlerContext: HandlerContext,
  tenants: ReadonlySet<string>,
): Promise<FastifyReply> {
  const postfilter: Postfilter = async (_template, items) =>
    items.map(({ tenantId }) => isOfTenants(tenantId, tenants))
  const definition = await definitionOf(handlerContext)
  const query = queryOf({ processDefinitionId: definition['id'] })
  const own =
    typeof definition['tenantId'] === 'string'
      ? queryOf({ tenantIdIn: definition['tenantId'] })
      : 'withoutTenantId=true'
  const [all, ofOwn] = await Promise.all([
    readEngineJson(handlerContext, `/process-instance/count?${query}`),
    readEngineJson(handlerContext, `/process-instance/count?${query}&${own}`),
  ])
  if (JSON.stringify(all) === JSON.stringify(ofOwn))
    return sendResponse(handlerContext.reply, await readWhole(handlerContext))
  return serveActivityCounts(handlerContext, { postfilter })
}

async function definitionOf(handlerContext: HandlerContext): Promise<ListItem> {
  const definition = await readEngineJson(
    handlerContext,
    handlerContext.upstreamRequest.path.replace(/\/statistics(\?.*)?$/, ''),
  )
  return isRecord(definition) ? definition : {}
}

async function recounted(
  response: BufferedResponse,
  counting: ActivityCountInput,
): Promise<BufferedResponse> {
  const activities = listItemsIn(jsonIn(response.body))
  const instances = activities.reduce((sum, activity) => sum + numberOf(activity, 'instances'), 0)
  const { scannedItems } = counting.handlerContext.dependencies.config.limits
  if (activities.length > MAX_SINGLE_READS || instances > scannedItems)
    throw new GatewayError('GW_ITEMS_NOT_EXACT')
  const [counts, failures, incidents] = await Promise.all([
    mapSideBySide(activities, (activity) => instancesIn(activity, counting)),
    activities.some((activity) => numberOf(activity, 'failedJobs') > 0) ? failedJobs(counting) : [],
    activities.some((activity) => listItemsIn(activity['incidents']).length > 0) ? incidentsOf(counting) : [],
  ])
  const seen = activities.map((activity, index) => {
    const own = incidents.filter(({ activityId }) => activityId === activity['id'])
    return {
      ...activity,
      instances: counts[index] ?? 0,
      failedJobs: failures.filter((activityId) => activityId === activity['id']).length,
      incidents: listItemsIn(activity['incidents']).flatMap((counted) => {
        const incidentCount = own.filter(
          ({ incidentType }) => incidentType === counted['incidentType'],
        ).length
        return incidentCount === 0 ? [] : [{ ...counted, incidentCount }]
      }),
    }
  })
  const shown = seen.filter((one) => one.instances + one.failedJobs + one.incidents.length > 0)
  return { ...response, body: json(shown) }
}

/**
 * Returns how many visible instances are in an activity. The engine counts active executions, but it also lists executions that
 * wait at a joining gateway and ended executions of a multi-instance activity. If it lists more executions than it counts and the
 * caller sees only some of them, the number cannot be determined.
 */
async function instancesIn(activity: ListItem, counting: ActivityCountInput): Promise<number> {
  const total = numberOf(activity, 'instances')
  if (total === 0) return 0
  const all = await listed('execution', { activityId: activity['id'] }, counting)
  const seen = await visibleOfDefinition('execution', all, counting)
  if (seen.length === 0 || seen.length === all.length) return seen.length === 0 ? 0 : total
  if (all.length > total) throw new GatewayError('GW_ITEMS_NOT_EXACT')
  return seen.length
}

/** Returns the activity of each visible failed job. */
async function failedJobs(counting: ActivityCountInput): Promise<readonly unknown[]> {
  const jobs = await listed('job', { noRetriesLeft: 'true' }, counting)
  const definitions = await listed('job-definition', {}, counting)
  const activities = new Map(definitions.map(({ id, activityId }) => [id, activityId]))
  const seen = await visibleOfDefinition('job', jobs, counting)
  return seen.map(({ jobDefinitionId }) => activities.get(jobDefinitionId))
}

async function incidentsOf(counting: ActivityCountInput): Promise<readonly ListItem[]> {
  return visibleOfDefinition('incident', await listed('incident', {}, counting), counting)
}

async function listed(
  kind: string,
  query: Readonly<Record<string, unknown>>,
  { handlerContext, definition }: ActivityCountInput,
): Promise<readonly ListItem[]> {
  const { scannedItems } = handlerContext.dependencies.config.limits
  const maxResults = scannedItems + 1
  const accessRequest = queryOf({ processDefinitionId: definition['id'], ...query, maxResults })
  const items = await readListItems(handlerContext, `/${kind}?${accessRequest}`)
  if (items.length > scannedItems) throw new GatewayError('GW_ITEMS_NOT_EXACT')
  return items
}

/** Returns the visible items. Executions do not contain their definition, so it is added before the decision. */
function visibleOfDefinition(
  kind: string,
  items: readonly ListItem[],
  { definition, postfilter }: ActivityCountInput,
): Promise<readonly ListItem[]> {
  const named = items.map((item) => ({ ...item, processDefinitionId: definition['id'] }))
  return visibleOf(postfilter, `/${kind}`, named)
}

function queryOf(query: Readonly<Record<string, unknown>>): URLSearchParams {
  return new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
}

function numberOf(item: ListItem, member: string): number {
  return Number(item[member] ?? 0)
}
