import { targetPathOf } from '../../request/target.ts'
import { GatewayError } from '../../errors.ts'
import type { Asking } from '../../pipeline/context.ts'
import type { RowsForm } from '../../operations/notation.ts'
import { jsonIn } from '../../request/engine-request.ts'
import { jsonAcceptOf } from '../../request/accept.ts'
import { type JsonRow, rowBatches } from '../../request/json-rows.ts'
import type { KeepRows } from '../../policy/authz/permit.ts'
import type { PlanRows, RowPlan } from '../../policy/authz/rows/row-plan.ts'
import type { ListRow } from '../../policy/authz/entities/look-ups.ts'
import { type ListPage, type ReadRow, SteadyList } from './steady-list.ts'
import { type Answer, MAX_READ_BYTES, releaseBody } from '../../request/answer.ts'

/** The engine's answer to what the caller asks. A HEAD is asked as a GET, for there is something to look at; but the engine marks only those. */
export async function readWhole({ match, upstreamRequest }: Asking): Promise<Answer> {
  const { upstream } = match.engine
  if (upstreamRequest.method !== 'HEAD') return upstream.fetch(upstreamRequest, MAX_READ_BYTES)
  const answer = await upstream.fetch({ ...upstreamRequest, method: 'GET' }, MAX_READ_BYTES)
  const { 'cache-control': _, ...headers } = answer.headers
  return { ...answer, headers }
}

/** Somebody sees every row. */
export const keepAll: KeepRows = async (_template, rows) => rows.map(() => true)

interface RowReading {
  /** Null: no row is looked at. */
  readonly keep: KeepRows | null
  readonly form: RowsForm | 'list'
  /** Members of every row that the rows may not show. */
  readonly known?: Readonly<Record<string, string>>
  /** Of a row this is kept beside its id: a member by which rows are told. */
  readonly member?: string | undefined
  /** As for ReadList. */
  readonly isTold?: boolean
}

export interface PageRequest extends RowReading {
  readonly from: number
  readonly size: number
}

/** What one read of a list has given. */
export interface ReadPage extends ListPage {
  /** Its body is empty where the rows are only told. */
  readonly answer: Answer
  readonly byteLength: number
}

/** Reads one page of the list behind a query, and decides its rows. */
export async function readPage(exchange: Asking, { from, size, ...page }: PageRequest): Promise<ReadPage> {
  const { upstreamRequest } = exchange
  const path = listPathOf(exchange, page.form, { from, size })
  return readAsIs({ ...exchange, upstreamRequest: { ...upstreamRequest, path } }, page)
}

/** Reads a list as it is asked for. */
export async function readAsIs({ match, upstreamRequest }: Asking, reading: RowReading): Promise<ReadPage> {
  match.accessRequest.stillAwaited?.()
  // The rows can be told in JSON only, whatever else the client takes.
  const headers = { ...upstreamRequest.headers, accept: jsonAcceptOf(upstreamRequest.headers['accept']) }
  const answer = await readWhole({ match, upstreamRequest: { ...upstreamRequest, headers } })
  const { keep, form } = reading
  const { byteLength } = answer.body
  if (answer.status !== 200 || keep === null) return { answer, byteLength, rows: [] }
  const template = templateOf(match.operation.template, form)
  const rows = await rowsOf(answer, reading, (some) => keep(template, some))
  if (reading.isTold === true) releaseBody(answer)
  return { answer, byteLength, rows }
}

/** Rows that are parsed and decided together. */
const ROWS_AT_ONCE = 1000

/** Of the rows that a page has, only what is needed stays in memory. */
async function rowsOf(
  { body }: Answer,
  { known = {}, ...reading }: RowReading,
  keep: (rows: readonly ListRow[]) => Promise<readonly boolean[]>,
): Promise<readonly ReadRow[]> {
  const read: ReadRow[] = []
  const batches = rowBatches(body, ROWS_AT_ONCE)
  for (let batch = nextOf(batches, body); batch !== null; batch = nextOf(batches, body)) {
    const kept = await keep(batch.map(({ row }) => ({ ...known, ...row })))
    const shown = kept.filter(Boolean).length
    // A few rows would keep the whole body in memory.
    const bytesOf = reading.isTold === true ? () => NO_BYTES : bytesIn(body, shown * 2 < batch.length)
    for (const [index, one] of batch.entries()) {
      const isVisible = kept[index] === true
      read.push({ row: slimRow(one, reading), bytes: isVisible ? bytesOf(one) : NO_BYTES, isVisible })
    }
  }
  return read
}

/** Null: there are no more. @throws GatewayError where the body is something else than rows */
function nextOf(batches: ReturnType<typeof rowBatches>, body: Buffer): readonly JsonRow[] | null {
  try {
    return batches.next().value ?? null
  } catch (cause) {
    jsonIn(body)
    throw new GatewayError('GW_ROWS_NOT_EXACT', { cause })
  }
}

const NO_BYTES = Buffer.alloc(0)

function bytesIn(body: Buffer, isCopied: boolean): (row: JsonRow) => Buffer {
  return ({ start, end }) => (isCopied ? Buffer.from(body.subarray(start, end)) : body.subarray(start, end))
}

function slimRow({ row }: JsonRow, { member = 'id' }: RowReading): ListRow {
  return member === 'id' ? { id: row['id'] } : { id: row['id'], [member]: row[member] }
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

/** What is read of a list, and how far. */
interface Wanted extends Pick<RowReading, 'form' | 'member'> {
  readonly wanted: number
}

interface Reading {
  /** Null: the engine refused the query, and `answer` says how. */
  readonly seen: readonly ReadRow[] | null
  readonly answer: Answer
}

/** Rows of the first read where the caller wants few; each further read takes twice as many. */
const FIRST_READ = 100
/** Of any read. */
const MAX_ROWS_READ = 5000
/** Of a read after the first, as far as its rows tell. */
const MAX_BYTES_READ = 8 * 1024 ** 2

/** Reads the list until enough visible rows are found, or there are no more. @throws GatewayError beyond the bound */
export async function readVisible(
  exchange: Asking,
  { keep, maxRows }: Filtering,
  { form, member, wanted }: Wanted,
): Promise<Reading> {
  if (keep === null) return readNone(exchange, form)
  const seen: ReadRow[] = []
  const isTold = form === 'count' || member !== undefined
  const list = new SteadyList(async (from, size) => {
    const page = await readPage(exchange, { keep, form, member, isTold, from, size })
    if (page.answer.status !== 200) throw new ListRefused(page.answer)
    return page
  })
  let count = 0
  let size = Math.min(maxRows + 1, Math.max(FIRST_READ, wanted), MAX_ROWS_READ)
  try {
    for (;;) {
      const { page, rows, isLast } = await list.next(size)
      seen.push(...rows.filter(({ isVisible }) => isVisible))
      count += rows.length
      if (isLast || seen.length >= wanted) return { seen, answer: page.answer }
      if (count > maxRows) throw new GatewayError('GW_ROWS_NOT_EXACT')
      const bytesEach = page.byteLength / page.rows.length
      const most = Math.max(FIRST_READ, Math.floor(MAX_BYTES_READ / bytesEach))
      size = Math.min(size * 2, maxRows + 1 - count, MAX_ROWS_READ, most)
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
