import { targetPathOf } from '../../request/target.ts'
import { GatewayError } from '../../errors.ts'
import type { Asking } from '../../pipeline/context.ts'
import type { RowsForm } from '../../operations/notation.ts'
import { jsonIn } from '../../request/engine-request.ts'
import { jsonAcceptOf } from '../../request/accept.ts'
import { isRecord } from '../../request/value.ts'
import { spansOf } from '../../request/json-rows.ts'
import type { KeepRows } from '../../policy/authz/permit.ts'
import type { PlanRows, RowPlan } from '../../policy/authz/rows/row-plan.ts'
import type { ListRow } from '../../policy/authz/entities/look-ups.ts'
import { type ListPage, type ReadRow, SteadyList } from './steady-list.ts'
import { type Answer, MAX_READ_BYTES } from '../../request/answer.ts'

/** The engine's answer to what the caller asks. A HEAD is asked as a GET, for there is something to look at; but the engine marks only those. */
export async function readWhole({ match, upstreamRequest }: Asking): Promise<Answer> {
  const { upstream } = match.engine
  if (upstreamRequest.method !== 'HEAD') return upstream.fetch(upstreamRequest, MAX_READ_BYTES)
  const answer = await upstream.fetch({ ...upstreamRequest, method: 'GET' }, MAX_READ_BYTES)
  const { 'cache-control': _, ...headers } = answer.headers
  return { ...answer, headers }
}

export interface PageRequest {
  /** Null: no row is looked at. */
  readonly keep: KeepRows | null
  readonly form: RowsForm | 'list'
  readonly from: number
  readonly size: number
  /** Members of every row that the rows may not show. */
  readonly known?: Readonly<Record<string, string>>
}

/** What one read of a list has given. */
export interface ReadPage extends ListPage {
  readonly answer: Answer
}

/** Reads one page of the list behind a query, and decides its rows. */
export async function readPage(exchange: Asking, { from, size, ...page }: PageRequest): Promise<ReadPage> {
  const { upstreamRequest } = exchange
  const path = listPathOf(exchange, page.form, { from, size })
  return readAsIs({ ...exchange, upstreamRequest: { ...upstreamRequest, path } }, page)
}

/** Reads a list as it is asked for. */
export async function readAsIs(
  { match, upstreamRequest }: Asking,
  { keep, form, known = {} }: Pick<PageRequest, 'keep' | 'form' | 'known'>,
): Promise<ReadPage> {
  match.accessRequest.stillAwaited?.()
  // The rows can be told in JSON only, whatever else the client takes.
  const headers = { ...upstreamRequest.headers, accept: jsonAcceptOf(upstreamRequest.headers['accept']) }
  const answer = await readWhole({ match, upstreamRequest: { ...upstreamRequest, headers } })
  if (answer.status !== 200 || keep === null) return { answer, rows: [] }
  const rows = rowsOf(answer)
  const kept = await keep(
    templateOf(match.operation.template, form),
    rows.map((row) => ({ ...known, ...row })),
  )
  const spans = spansOf(answer.body)
  return {
    answer,
    rows: rows.map((row, index) => {
      const { start, end } = spans[index] ?? { start: 0, end: 0 }
      return { row, bytes: answer.body.subarray(start, end), isVisible: kept[index] === true && end > 0 }
    }),
  }
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
export function topicFlagsOf(query: ReadonlyMap<string, string>): [string, string][] {
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

export function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}

/** Hears how a query is answered. */
export interface RowsObserver {
  readonly onPlan: (plan: RowPlan['plan']) => void
  readonly onRows: (shown: number, hidden: number) => void
}

/** Of a query, what the caller may see: `keep` says which rows; null: none of them. */
export interface Filtering {
  readonly keep: KeepRows | null
  /** More rows than this are not read to be filtered. */
  readonly maxRows: number
  /** How fewer of them are read; absent: all are. */
  readonly plan?: PlanRows | undefined
  readonly observe?: RowsObserver | undefined
}

interface Reading {
  /** Null: the engine refused the query, and `answer` says how. */
  readonly seen: readonly ReadRow[] | null
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
  if (keep === null) return readNone(exchange, form)
  const seen: ReadRow[] = []
  const list = new SteadyList(async (from, size) => {
    const page = await readPage(exchange, { keep, form, from, size })
    if (page.answer.status !== 200) throw new ListRefused(page.answer)
    return page
  })
  let count = 0
  let size = Math.min(maxRows + 1, Math.max(FIRST_READ, wanted))
  try {
    for (;;) {
      const { page, rows, isLast } = await list.next(size)
      seen.push(...rows.filter(({ isVisible }) => isVisible))
      count += rows.length
      if (isLast || seen.length >= wanted) return { seen, answer: page.answer }
      if (count > maxRows) throw new GatewayError('GW_ROWS_NOT_EXACT')
      size = Math.min(size * 2, maxRows + 1 - count)
    }
  } catch (error) {
    if (error instanceof ListRefused) return { seen: null, answer: error.answer }
    throw error
  }
}

class ListRefused extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    super()
    this.answer = answer
  }
}

/** The engine judges the query. */
async function readNone(exchange: Asking, form: RowsForm | 'list'): Promise<Reading> {
  const { answer } = await readPage(exchange, { keep: null, form, from: 0, size: 0 })
  return { seen: answer.status === 200 ? [] : null, answer }
}
