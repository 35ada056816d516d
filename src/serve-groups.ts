import type { FastifyReply } from 'fastify'
import { GatewayError } from './errors.ts'
import { type Exchange, MAX_READ_BYTES } from './exchange.ts'
import { isRecord } from './policy/asked.ts'
import type { Narrow } from './policy/narrow.ts'
import type { KeepRows } from './policy/permit.ts'
import type { Row } from './policy/row-facts.ts'
import type { Answer } from './proxy/hop.ts'
import { sendAnswer } from './replies.ts'

/** Groups that are asked for one by one. */
const MAX_GROUPS = 200

/** A user's groups and their members: groups by their own permission, members of those groups by theirs. */
export async function serveGroups(exchange: Exchange, keep: KeepRows): Promise<FastifyReply> {
  const { match, hop, reply } = exchange
  const answer = await match.engine.upstream.fetch(hop, MAX_READ_BYTES)
  if (answer.status !== 200) return sendAnswer(reply, answer)
  const found: unknown = JSON.parse(answer.body.toString('utf8'))
  const { groups, groupUsers } = isRecord(found) ? found : {}
  const all = listOf(groups)
  const seen = await kept(keep, 'group', all)
  const members = seen.length === all.length ? null : await membersOf(exchange, seen)
  const users = listOf(groupUsers).filter(({ id }) => members === null || members.has(id))
  return sendAnswer(reply, jsonOf(answer, { groups: seen, groupUsers: await kept(keep, 'user', users) }))
}

async function kept(keep: KeepRows, kind: string, rows: readonly Row[]): Promise<readonly Row[]> {
  const keeps = await keep(kind, rows)
  return rows.filter((_, index) => keeps[index] === true)
}

async function membersOf(exchange: Exchange, groups: readonly Row[]): Promise<ReadonlySet<unknown>> {
  if (groups.length > MAX_GROUPS) throw new GatewayError('GW_ROWS_NOT_EXACT')
  const lists = await Promise.all(
    groups.map(({ id }) =>
      readJson(exchange, {
        method: 'GET',
        path: `/user?memberOfGroup=${encodeURIComponent(String(id))}`,
        body: null,
      }),
    ),
  )
  return new Set(lists.flatMap((list) => listOf(list).map(({ id }) => id)))
}

/** Tasks counted by candidate group, of the tenants that the caller may see: the report knows no tenants, a task query does. */
export async function serveGroupCounts(exchange: Exchange, narrow: Narrow): Promise<FastifyReply> {
  const { match, hop, reply } = exchange
  const answer = await match.engine.upstream.fetch(hop, MAX_READ_BYTES)
  if (answer.status !== 200) return sendAnswer(reply, answer)
  if (!String(answer.headers['content-type']).startsWith('application/json'))
    throw new GatewayError('GW_ROWS_NOT_EXACT')
  const groups = listOf(JSON.parse(answer.body.toString('utf8')))
  if (groups.length > MAX_GROUPS) throw new GatewayError('GW_ROWS_NOT_EXACT')
  const counts = await Promise.all(groups.map(({ groupName }) => countOf(exchange, groupName, narrow)))
  const seen = groups.flatMap(({ groupName }, index) => {
    const taskCount = counts[index] ?? 0
    return taskCount === 0 ? [] : [{ groupName, taskCount }]
  })
  return sendAnswer(reply, jsonOf(answer, seen))
}

async function countOf(exchange: Exchange, groupName: unknown, narrow: Narrow): Promise<number> {
  const query =
    typeof groupName === 'string'
      ? { candidateGroup: groupName, includeAssignedTasks: true }
      : { withoutCandidateGroups: true }
  const asked = narrow(
    { method: 'POST', path: '/task/count', body: Buffer.from(JSON.stringify(query)) },
    new Map(),
  )
  const answer = asked === null ? null : await readJson(exchange, asked)
  return isRecord(answer) && typeof answer['count'] === 'number' ? answer['count'] : 0
}

interface Ask {
  readonly method: string
  readonly path: string
  readonly body: Buffer | null
}

async function readJson({ match, hop }: Exchange, ask: Ask): Promise<unknown> {
  const headers = { ...hop.headers, accept: 'application/json', 'content-type': 'application/json' }
  const { status, body } = await match.engine.upstream.fetch(
    { ...hop, ...ask, headers, retry: 'always' },
    MAX_READ_BYTES,
  )
  if (status !== 200) throw new GatewayError('GW_UPSTREAM_INVALID')
  return JSON.parse(body.toString('utf8'))
}

function listOf(value: unknown): readonly Row[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

function jsonOf(answer: Answer, value: unknown): Answer {
  return { ...answer, body: Buffer.from(JSON.stringify(value)) }
}
