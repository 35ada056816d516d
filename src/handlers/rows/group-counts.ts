import type { FastifyReply } from 'fastify'
import { GatewayError } from '../../errors.ts'
import type { Exchange } from '../../pipeline/context.ts'
import { jsonIn } from '../../request/engine-request.ts'
import { isRecord } from '../../request/value.ts'
import type { KeepRows } from '../../policy/authz/permit.ts'
import type { ListRow } from '../../policy/authz/entities/look-ups.ts'
import { isOfTenants } from '../../policy/authz/rows/rows.ts'
import type { Answer } from '../../request/answer.ts'
import { readRows, rowsIn } from './read-rows.ts'
import { readWhole } from './visible-rows.ts'
import { sendAnswer } from '../../pipeline/replies.ts'

/** Groups, or tasks, that are asked about one by one. */
const MAX_GROUPS = 200

/** A user's groups and their members: groups by their own permission, members of those groups by theirs. */
export async function serveGroups(exchange: Exchange, keep: KeepRows): Promise<FastifyReply> {
  const { reply } = exchange
  const answer = await readWhole(exchange)
  if (answer.status !== 200) return sendAnswer(reply, answer)
  const found = jsonIn(answer.body)
  const { groups, groupUsers } = isRecord(found) ? found : {}
  const all = rowsIn(groups)
  const seen = await kept(keep, 'group', all)
  const members = seen.length === all.length ? null : await membersOf(exchange, seen)
  const users = rowsIn(groupUsers).filter(({ id }) => members === null || members.has(id))
  return sendAnswer(reply, jsonOf(answer, { groups: seen, groupUsers: await kept(keep, 'user', users) }))
}

async function kept(keep: KeepRows, kind: string, rows: readonly ListRow[]): Promise<readonly ListRow[]> {
  const keeps = await keep(kind, rows)
  return rows.filter((_, index) => keeps[index] === true)
}

async function membersOf(exchange: Exchange, groups: readonly ListRow[]): Promise<ReadonlySet<unknown>> {
  if (groups.length > MAX_GROUPS) throw new GatewayError('GW_ROWS_NOT_EXACT')
  const lists = await Promise.all(
    groups.map(({ id }) => readRows(exchange, `/user?memberOfGroup=${encodeURIComponent(String(id))}`)),
  )
  return new Set(lists.flatMap((list) => list.map(({ id }) => id)))
}

/**
 * Tasks counted by group, without those of tenants that the caller may not see. The report knows no tenants: what it counts
 * are the groups of all links of unassigned tasks, and `null` for links to users and for tasks without links (engine 7.22).
 * So the tasks of other tenants are looked at one by one, and taken off.
 */
export async function serveGroupCounts(
  exchange: Exchange,
  tenants: ReadonlySet<string>,
): Promise<FastifyReply> {
  const { reply } = exchange
  const answer = await readWhole(exchange)
  if (answer.status !== 200) return sendAnswer(reply, answer)
  const others = await tasksOfOtherTenants(exchange, tenants)
  if (others.length === 0) return sendAnswer(reply, answer)
  if (!String(answer.headers['content-type']).startsWith('application/json'))
    throw new GatewayError('GW_ROWS_NOT_EXACT')
  const counted = (await Promise.all(others.map((id) => groupsOf(exchange, id)))).flat()
  const seen = rowsIn(jsonIn(answer.body)).flatMap(({ groupName, taskCount }) => {
    const left = Number(taskCount) - counted.filter((name) => name === groupName).length
    return left > 0 ? [{ groupName, taskCount: left }] : []
  })
  return sendAnswer(reply, jsonOf(answer, seen))
}

async function tasksOfOtherTenants(
  exchange: Exchange,
  tenants: ReadonlySet<string>,
): Promise<readonly string[]> {
  const { filteredRows } = exchange.parts.config.limits
  const path = `/task?unassigned=true&maxResults=${filteredRows + 1}`
  const tasks = await readRows(exchange, path)
  const others = tasks.flatMap(({ id, tenantId }) =>
    typeof id === 'string' && !isOfTenants(tenantId, tenants) ? [id] : [],
  )
  if (tasks.length > filteredRows || others.length > MAX_GROUPS) throw new GatewayError('GW_ROWS_NOT_EXACT')
  return others
}

/** The groups that a task is counted under, once for each link. Assignee and owner are no links, though they are listed as such. */
async function groupsOf(exchange: Exchange, taskId: string): Promise<readonly (string | null)[]> {
  const path = `/task/${encodeURIComponent(taskId)}/identity-links`
  const links = await readRows(exchange, path)
  const counted = links.filter(({ type }) => type !== 'assignee' && type !== 'owner')
  const names = counted.map(({ groupId }) => (typeof groupId === 'string' ? groupId : null))
  return names.length === 0 ? [null] : names
}

function jsonOf(answer: Answer, value: unknown): Answer {
  return { ...answer, body: Buffer.from(JSON.stringify(value)) }
}
