import { targetPathOf } from '../../request/target.ts'
import { GatewayError } from '../../errors.ts'
import type { Asking } from '../../pipeline/context.ts'
import type { RowsForm } from '../../operations/notation.ts'
import type { Operation } from '../../operations/table.ts'
import { jsonIn } from '../../request/engine-request.ts'
import { jsonAcceptOf, otherFormOf } from '../../request/accept.ts'
import { isRecord } from '../../request/value.ts'
import { joinRows, spansOf } from '../../request/json-rows.ts'
import type { KeepRows } from '../../policy/authz/permit.ts'
import type { ListRow } from '../../policy/authz/entities/look-ups.ts'
import { type Paging, pagingOf } from '../../request/paging.ts'
import type { Answer } from '../../request/answer.ts'
import { readWhole } from './read-rows.ts'

/** Of a query, what the caller may see: `keep` says which rows; null: none of them. */
export interface Filtering {
  readonly keep: KeepRows | null
  /** More rows than this are not read to be filtered. */
  readonly maxRows: number
}

/**
 * Answers a query with the rows that the caller may see: reads them in order, leaves the others out, and then pages or
 * counts. The engine judges the query: what it refuses, it refuses. Every row is decided by itself, so a write between
 * two reads can at most move a row from one page to another, as it can for any client that pages.
 * @throws GatewayError when there are too many rows to look through
 */
export async function answerRows(exchange: Asking, filtering: Filtering): Promise<Answer> {
  const { operation, accessRequest } = exchange.match
  const form = operation.rows?.form ?? 'list'
  const paging = isPaged(operation) ? pagingOf(accessRequest.query) : ALL
  const isJson = otherFormOf(operation, exchange.upstreamRequest.headers['accept']) === false
  if (paging === null || !isJson) return answerRefused(exchange)
  const wanted = form === 'list' ? paging.first + paging.max : Number.POSITIVE_INFINITY
  const read = await readVisible(exchange, filtering, { form, wanted })
  if (read.seen === null) return read.answer
  return answerOf(form, read.seen.slice(paging.first, paging.first + paging.max), read.answer)
}

const ALL: Paging = { first: 0, max: Number.MAX_SAFE_INTEGER }

function isPaged({ rows }: Operation): boolean {
  return rows?.form === undefined && rows?.paging !== 'ignored'
}

/** What the engine will not answer: it says so itself. Rows that were not looked at do not go out. */
async function answerRefused(exchange: Asking): Promise<Answer> {
  const answer = await readWhole(exchange)
  if (answer.status >= 400) return answer
  throw new GatewayError('GW_ROWS_NOT_EXACT')
}

/** One row that the caller sees. */
interface SeenRow {
  readonly row: ListRow
  readonly bytes: Buffer
}

interface Reading {
  /** Null: the engine refused the query, and `answer` says how. */
  readonly seen: readonly SeenRow[] | null
  readonly answer: Answer
}

/** Rows of the first read where the caller wants few; each further read takes twice as many. */
const FIRST_READ = 100

/** Reads the list until enough visible rows are found, or there are no more. @throws GatewayError beyond the bound */
export async function readVisible(
  exchange: Asking,
  { keep, maxRows }: Filtering,
  { form, wanted }: { readonly form: RowsForm | 'list'; readonly wanted: number },
): Promise<Reading> {
  const { match, upstreamRequest } = exchange
  // The rows can be told in JSON only, whatever else the client takes.
  const headers = { ...upstreamRequest.headers, accept: jsonAcceptOf(upstreamRequest.headers['accept']) }
  const seen: SeenRow[] = []
  let from = 0
  let size = keep === null ? 0 : Math.min(maxRows + 1, Math.max(FIRST_READ, wanted))
  for (;;) {
    const path = listPathOf(exchange, form, { from, size })
    const answer = await readWhole({ match, upstreamRequest: { ...upstreamRequest, headers, path } })
    if (answer.status !== 200) return { seen: null, answer }
    if (keep === null) return { seen, answer }
    const rows = rowsOf(answer)
    const kept = await keep(templateOf(match.operation.template, form), rows)
    const spans = spansOf(answer.body)
    for (const [index, row] of rows.entries()) {
      const span = spans[index]
      if (kept[index] === true && span !== undefined)
        seen.push({ row, bytes: answer.body.subarray(span.start, span.end) })
    }
    from += rows.length
    // A list without paging answers all of it, however few were asked for.
    if (rows.length !== size || seen.length >= wanted) return { seen, answer }
    if (from > maxRows) throw new GatewayError('GW_ROWS_NOT_EXACT')
    size = Math.min(size * 2, maxRows + 1 - from)
  }
}

/** What a query answers when it finds nothing. */
export function emptyAnswerOf({ rows }: Operation, method: string): Answer {
  const empty =
    rows?.form === 'count' ? { count: 0 } : rows?.form === 'groups' ? { groups: [], groupUsers: [] } : []
  const marks = method === 'GET' ? { 'cache-control': 'no-cache' } : {}
  return { status: 200, headers: { ...marks, 'content-type': 'application/json' }, body: json(empty) }
}

/** The path that lists the rows, with the caller's query and a paging of our own. */
function listPathOf(
  { match, upstreamRequest }: Asking,
  form: RowsForm | 'list',
  { from, size }: { readonly from: number; readonly size: number },
): string {
  const path = targetPathOf(upstreamRequest.path)
  const query = new URLSearchParams([
    ...(form === 'topic names' ? topicFlagsOf(match.accessRequest.query) : match.accessRequest.query),
  ])
  query.set('firstResult', String(from))
  query.set('maxResults', String(size))
  return `${templateOf(path, form)}?${query}`
}

function templateOf(path: string, form: RowsForm | 'list'): string {
  if (form === 'count')
    return /^\/filter\/[^/]+\/count$/.test(path)
      ? path.replace(/count$/, 'list')
      : path.replace(/\/count$/, '')
  if (form === 'single') return path.replace(/singleResult$/, 'list')
  return form === 'topic names' ? '/external-task' : path
}

/** Of the query for topic names what the engine reads, under the names that the list of external tasks has for it. */
function topicFlagsOf(query: ReadonlyMap<string, string>): [string, string][] {
  return Object.entries(TOPIC_FLAGS).flatMap(([flag, name]) =>
    query.get(flag)?.toLowerCase() === 'true' ? [[name, 'true']] : [],
  )
}

const TOPIC_FLAGS = {
  withLockedTasks: 'locked',
  withUnlockedTasks: 'notLocked',
  withRetriesLeft: 'withRetriesLeft',
} as const

function rowsOf({ body }: Answer): readonly ListRow[] {
  const rows = jsonIn(body)
  if (Array.isArray(rows) && rows.every(isRecord)) return rows
  throw new GatewayError('GW_ROWS_NOT_EXACT')
}

function answerOf(form: RowsForm | 'list', seen: readonly SeenRow[], answer: Answer): Answer {
  if (form === 'count') return { ...answer, body: json({ count: seen.length }) }
  if (form === 'topic names') {
    const names = new Set(seen.map(({ row }) => String(row['topicName'])))
    return { ...answer, body: json([...names].sort((one, other) => (one < other ? -1 : 1))) }
  }
  if (form !== 'single') return { ...answer, body: joinRows(seen.map(({ bytes }) => bytes)) }
  const [only] = seen
  if (only === undefined) {
    const { 'content-type': _, ...headers } = answer.headers
    return { status: 204, headers, body: Buffer.alloc(0) }
  }
  if (seen.length === 1) return { ...answer, body: only.bytes }
  const body = {
    type: 'InvalidRequestException',
    message: 'Filter does not returns a valid single result',
    code: 0,
  }
  return { ...answer, status: 400, body: json(body) }
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}
