import type { FastifyReply } from 'fastify'
import { GatewayError } from './errors.ts'
import { type Exchange, MAX_READ_BYTES } from './exchange.ts'
import type { RowsForm } from './operations/notation.ts'
import type { Operation } from './operations/table.ts'
import { isRecord } from './policy/asked.ts'
import { joinSpans, spansOf } from './policy/json-rows.ts'
import type { KeepRows } from './policy/permit.ts'
import type { Row } from './policy/row-facts.ts'
import type { Answer } from './proxy/hop.ts'
import { sendAnswer } from './replies.ts'

/** Of a query, what the caller may see: `keep` says which rows; null: none of them. */
export interface Filtering {
  readonly keep: KeepRows | null
  /** More rows than this are not read to be filtered. */
  readonly maxRows: number
}

/**
 * Answers a query with the rows that the caller may see: reads all of them in one request (between two pages a row could
 * slip through), leaves the others out, and then pages or counts. The engine judges the query: what it refuses, it refuses.
 */
export async function serveRows(exchange: Exchange, filtering: Filtering): Promise<FastifyReply> {
  const { match, hop, request, reply } = exchange
  const form = match.operation.rows?.form ?? 'list'
  if (form === 'groups') return serveGroups(exchange, filtering)
  const paging = pagingOf(match.asked.query)
  const limit = filtering.keep === null ? 0 : filtering.maxRows + 1
  const answer = await match.engine.upstream.fetch(
    paging === null ? hop : { ...hop, method: request.method, path: listPathOf(exchange, form, limit) },
    MAX_READ_BYTES,
  )
  if (answer.status !== 200) return sendAnswer(reply, answer)
  if (paging === null)
    throw new GatewayError('GW_INVALID_QUERY', { message: 'firstResult and maxResults are numbers' })
  const rows = rowsOf(answer)
  if (rows.length > filtering.maxRows) throw new GatewayError('GW_ROWS_NOT_EXACT')
  const kept =
    filtering.keep === null ? [] : await filtering.keep(templateOf(match.operation.template, form), rows)
  const seen = rows.flatMap((_row, index) => (kept[index] === true ? [index] : []))
  return sendAnswer(reply, answerOf({ form, rows, seen, paging }, answer))
}

/** What a query answers when it finds nothing. */
export function emptyAnswerOf({ rows }: Operation): Answer {
  const empty =
    rows?.form === 'count' ? { count: 0 } : rows?.form === 'groups' ? { groups: [], groupUsers: [] } : []
  return { status: 200, headers: { 'content-type': 'application/json' }, body: json(empty) }
}

interface Paging {
  readonly first: number
  readonly max: number
}

/** Null: not numbers; the engine has its own words for that. */
function pagingOf(query: ReadonlyMap<string, string>): Paging | null {
  const [first = '0', max = `${Number.MAX_SAFE_INTEGER}`] = [
    query.get('firstResult'),
    query.get('maxResults'),
  ]
  if (!/^\d+$/.test(first) || !/^\d+$/.test(max)) return null
  return { first: Number(first), max: Number(max) }
}

/** The path that lists the rows, with the caller's query and without the caller's paging. */
function listPathOf({ match, hop }: Exchange, form: RowsForm | 'list', limit: number): string {
  const [path = ''] = hop.path.split('?', 1)
  const query = new URLSearchParams(
    [...match.asked.query].filter(([name]) => name !== 'firstResult' && name !== 'maxResults'),
  )
  if (form === 'topic names') renameFlags(query)
  query.set('firstResult', '0')
  query.set('maxResults', String(limit))
  return `${templateOf(path, form)}?${query}`
}

function templateOf(path: string, form: RowsForm | 'list'): string {
  if (form === 'count')
    return path.startsWith('/filter/') ? path.replace(/count$/, 'list') : path.replace(/\/count$/, '')
  if (form === 'single') return path.replace(/singleResult$/, 'list')
  return form === 'topic names' ? '/external-task' : path
}

/** The flags of the topic names, as the list of external tasks has them. */
function renameFlags(query: URLSearchParams): void {
  for (const [flag, name] of [
    ['withLockedTasks', 'locked'],
    ['withUnlockedTasks', 'notLocked'],
  ] as const) {
    if (query.get(flag) === 'true') query.set(name, 'true')
    query.delete(flag)
  }
}

function rowsOf({ body }: Answer): readonly Row[] {
  const rows: unknown = JSON.parse(body.toString('utf8'))
  if (Array.isArray(rows) && rows.every(isRecord)) return rows
  throw new GatewayError('GW_ROWS_NOT_EXACT')
}

interface Seen {
  readonly form: RowsForm | 'list'
  readonly rows: readonly Row[]
  /** Indexes of the rows the caller sees. */
  readonly seen: readonly number[]
  readonly paging: Paging
}

function answerOf({ form, rows, seen, paging }: Seen, answer: Answer): Answer {
  if (form === 'count') return { ...answer, body: json({ count: seen.length }) }
  if (form === 'topic names') {
    const names = new Set(seen.map((index) => rows[index]?.['topicName']))
    return { ...answer, body: json([...names].sort()) }
  }
  const spans = spansOf(answer.body)
  const shown = seen.slice(paging.first, paging.first + paging.max).flatMap((index) => spans[index] ?? [])
  if (form !== 'single') return { ...answer, body: joinSpans(answer.body, shown) }
  const [only] = shown
  if (only === undefined) return { status: 204, headers: {}, body: Buffer.alloc(0) }
  if (shown.length === 1) return { ...answer, body: answer.body.subarray(only.start, only.end) }
  const body = {
    type: 'InvalidRequestException',
    message: 'Filter does not returns a valid single result',
    code: 0,
  }
  return { ...answer, status: 400, body: json(body) }
}

/** Groups and their members, each by its own permission. */
async function serveGroups({ match, hop, reply }: Exchange, { keep }: Filtering): Promise<FastifyReply> {
  const answer = await match.engine.upstream.fetch(hop, MAX_READ_BYTES)
  if (answer.status !== 200) return sendAnswer(reply, answer)
  const found: unknown = JSON.parse(answer.body.toString('utf8'))
  const { groups, groupUsers } = isRecord(found) ? found : {}
  const keepOnly = async (kind: string, list: unknown): Promise<readonly Row[]> => {
    const rows = Array.isArray(list) ? list.filter(isRecord) : []
    const kept = keep === null ? [] : await keep(kind, rows)
    return rows.filter((_, index) => kept[index] === true)
  }
  const body = json({
    groups: await keepOnly('group', groups),
    groupUsers: await keepOnly('user', groupUsers),
  })
  return sendAnswer(reply, { ...answer, body })
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}
