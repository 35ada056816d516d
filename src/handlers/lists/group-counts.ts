import type { FastifyReply } from 'fastify'
import { GatewayError } from '../../errors.ts'
import type { HandlerContext } from '../../pipeline/context.ts'
import { countIn, jsonIn } from '../../request/engine-request.ts'
import { isRecord } from '../../request/value.ts'
import { QUERY_CHARS } from '../../policy/authz/entities/lookup-lists.ts'
import type { ListItem } from '../../policy/authz/entities/look-ups.ts'
import { isOfTenants } from '../../policy/authz/visibility/visibility.ts'
import type { ScanDecision } from './item-filter.ts'
import { readEngineJson, readListItems, listItemsIn, visibleOf } from './read-list-items.ts'
import { mapSideBySide } from '../../lists/side-by-side.ts'
import { json, readWhole } from '../../lists/postfilter/visible-items.ts'
import { sendResponse } from '../../pipeline/replies.ts'
import { MAX_SINGLE_READS } from '../../lists/limits.ts'

/** Serves a user's groups and their members. Groups are decided by their own permission, and members of the visible groups by theirs. */
export async function serveGroups(
  handlerContext: HandlerContext,
  { postfilter }: ScanDecision,
): Promise<FastifyReply> {
  const { reply } = handlerContext
  const response = await readWhole(handlerContext)
  if (response.status !== 200) return sendResponse(reply, response)
  const found = jsonIn(response.body)
  const { groups, groupUsers } = isRecord(found) ? found : {}
  if (!Array.isArray(groups) || !Array.isArray(groupUsers)) throw new GatewayError('GW_UPSTREAM_INVALID')
  const all = listItemsIn(groups)
  const seen = await visibleOf(postfilter, 'group', all)
  const members = seen.length === all.length ? null : await membersOf(handlerContext, seen)
  const users = listItemsIn(groupUsers).filter(({ id }) => members === null || members.has(id))
  const body = json({ groups: seen, groupUsers: await visibleOf(postfilter, 'user', users) })
  return sendResponse(reply, { ...response, body })
}

async function membersOf(
  handlerContext: HandlerContext,
  groups: readonly ListItem[],
): Promise<ReadonlySet<unknown>> {
  if (groups.length > MAX_SINGLE_READS) throw new GatewayError('GW_ITEMS_NOT_EXACT')
  const lists = await mapSideBySide(groups, ({ id }) =>
    readListItems(handlerContext, `/user?memberOfGroup=${encodeURIComponent(String(id))}`),
  )
  return new Set(lists.flatMap((list) => list.map(({ id }) => id)))
}

/**
 * Serves the number of tasks by group, without the tasks of tenants that the caller may not see. The report does not consider
 * tenants. It counts the groups of all links of unassigned tasks, and `null` for links to users and for tasks without links (engine
 * 7.22). The tasks of other tenants are therefore read one by one, and subtracted.
 */
export async function serveGroupCounts(
  handlerContext: HandlerContext,
  tenants: ReadonlySet<string>,
): Promise<FastifyReply> {
  const { reply } = handlerContext
  const response = await readWhole(handlerContext)
  if (response.status !== 200) return sendResponse(reply, response)
  const others = await tasksOfOtherTenants(handlerContext, tenants)
  if (others.length === 0) return sendResponse(reply, response)
  if (!String(response.headers['content-type']).startsWith('application/json'))
    throw new GatewayError('GW_ITEMS_NOT_EXACT')
  const counted = (await mapSideBySide(others, (id) => groupsOf(handlerContext, id))).flat()
  const seen = listItemsIn(jsonIn(response.body)).flatMap(({ groupName, taskCount }) => {
    const left = Number(taskCount) - counted.filter((name) => name === groupName).length
    return left > 0 ? [{ groupName, taskCount: left }] : []
  })
  return sendResponse(reply, { ...response, body: json(seen) })
}

async function tasksOfOtherTenants(
  handlerContext: HandlerContext,
  tenants: ReadonlySet<string>,
): Promise<readonly string[]> {
  if ([...tenants].some(hasComma)) return tasksLookedThrough(handlerContext, tenants)
  const queries = ['', '&withoutTenantId=true', ...(tenants.size > 0 ? [`&${ofTenants([...tenants])}`] : [])]
  const counts = await Promise.all(
    queries.map(async (query) =>
      countIn(await readEngineJson(handlerContext, `/task/count?unassigned=true${query}`)),
    ),
  )
  const [all = 0, ...seen] = counts
  const hidden = seen.reduce((left, count) => left - count, all)
  if (hidden === 0) return []
  if (hidden > MAX_SINGLE_READS) throw new GatewayError('GW_ITEMS_NOT_EXACT')
  const found = await tasksOfKnownTenants(handlerContext, tenants)
  return found.length === hidden ? found : tasksLookedThrough(handlerContext, tenants)
}

/** Returns the tasks of other tenants that the engine lists. A task may belong to a tenant that the engine does not list. */
async function tasksOfKnownTenants(
  handlerContext: HandlerContext,
  tenants: ReadonlySet<string>,
): Promise<readonly string[]> {
  const others = (await readListItems(handlerContext, '/tenant')).flatMap(({ id }) =>
    typeof id === 'string' && !tenants.has(id) ? [id] : [],
  )
  const query = ofTenants(others)
  // A longer query does not fit into a request line.
  const isAskable = others.length > 0 && query.length <= QUERY_CHARS && !others.some(hasComma)
  return isAskable
    ? othersAmong(await readListItems(handlerContext, `/task?unassigned=true&${query}`), tenants)
    : []
}

function ofTenants(ids: readonly string[]): string {
  return `tenantIdIn=${ids.map(encodeURIComponent).join(',')}`
}

/** Returns whether an id contains a comma, which would split it in a list of a query string. */
function hasComma(id: string): boolean {
  return id.includes(',')
}

async function tasksLookedThrough(
  handlerContext: HandlerContext,
  tenants: ReadonlySet<string>,
): Promise<readonly string[]> {
  const { scannedItems } = handlerContext.dependencies.config.limits
  const tasks = await readListItems(handlerContext, `/task?unassigned=true&maxResults=${scannedItems + 1}`)
  const others = othersAmong(tasks, tenants)
  if (tasks.length > scannedItems || others.length > MAX_SINGLE_READS)
    throw new GatewayError('GW_ITEMS_NOT_EXACT')
  return others
}

function othersAmong(tasks: readonly ListItem[], tenants: ReadonlySet<string>): readonly string[] {
  return tasks.flatMap(({ id, tenantId }) =>
    typeof id === 'string' && !isOfTenants(tenantId, tenants) ? [id] : [],
  )
}

/** Returns the groups that count a task, once for each link. The engine lists assignee and owner like links, but they are no links. */
async function groupsOf(handlerContext: HandlerContext, taskId: string): Promise<readonly (string | null)[]> {
  const path = `/task/${encodeURIComponent(taskId)}/identity-links`
  const links = await readListItems(handlerContext, path)
  const counted = links.filter(({ type }) => type !== 'assignee' && type !== 'owner')
  const names = counted.map(({ groupId }) => (typeof groupId === 'string' ? groupId : null))
  return names.length === 0 ? [null] : names
}
