import { setImmediate } from 'node:timers/promises'
import { targetPathOf } from '../../request/target.ts'
import { GatewayError } from '../../errors.ts'
import type { ListRequest } from '../list-request.ts'
import { serializedValuesAt } from '../../operations/serialized-values.ts'
import type { ResponseForm } from '../../operations/notation.ts'
import { jsonIn } from '../../request/engine-request.ts'
import { jsonAcceptOf } from '../../request/accept.ts'
import { type JsonItem, itemBatches } from '../../request/json-items.ts'
import type { Postfilter } from '../item-decision.ts'
import type { Strategy } from '../list-plan.ts'
import type { PlanContext } from '../prefilter/plan-context.ts'
import type { SignedCount } from '../rewrite/narrow-tasks.ts'
import { type ListPage, type PageItem, StableScan } from './stable-scan.ts'
import { type BufferedResponse, MAX_READ_BYTES, releaseBody } from '../../request/buffered-response.ts'
import { FIRST_READ_ITEMS, MAX_READ_ITEMS, READ_BYTES, STEP_ITEMS, type ListLimits } from '../limits.ts'

/**
 * Returns the engine's response to the caller's request. A HEAD is sent as a GET, because items are needed for the decision. The
 * engine sets `cache-control` only for a GET, so the header is removed for a HEAD.
 */
export async function readWhole({ context, upstreamRequest }: ListRequest): Promise<BufferedResponse> {
  const { upstream } = context.engine
  if (upstreamRequest.method !== 'HEAD') return upstream.fetch(upstreamRequest, MAX_READ_BYTES)
  const response = await upstream.fetch({ ...upstreamRequest, method: 'GET' }, MAX_READ_BYTES)
  const { 'cache-control': _, ...headers } = response.headers
  return { ...response, headers }
}

/** Keeps every item, for a caller who sees the whole list. */
export const passAll: Postfilter = async (_template, items) => items.map(() => true)

interface ItemReading {
  /** Null if no item is read. */
  readonly postfilter: Postfilter | null
  readonly form: ResponseForm | 'list'
  /** Members of every item that may be missing in the response. */
  readonly constants?: Readonly<Record<string, string>>
  /** Member that is kept of each item in addition to the id. It identifies the item. */
  readonly member?: string | undefined
  /** As for ReadList. */
  readonly idsOnly?: boolean
}

export interface PageRequest extends ItemReading {
  /** Null if the request is sent with the caller's own paging. */
  readonly page: { readonly from: number; readonly size: number } | null
}

/** The result of one read of a list. */
export interface ReadPage extends ListPage {
  /** Its body is empty if `idsOnly` is true. */
  readonly response: BufferedResponse
  readonly byteLength: number
}

/** Reads one page of the list of a query, and decides its items. */
export async function readPage(listRequest: ListRequest, reading: PageRequest): Promise<ReadPage> {
  const { context, upstreamRequest } = listRequest
  const { postfilter, form, page } = reading
  context.accessRequest.checkDeadline?.()
  // Items can be read only in JSON, whatever else the client accepts.
  const headers = { ...upstreamRequest.headers, accept: jsonAcceptOf(upstreamRequest.headers['accept']) }
  const path = page === null ? upstreamRequest.path : listPathOf(listRequest, form, page)
  const response = await readWhole({ context, upstreamRequest: { ...upstreamRequest, headers, path } })
  const { byteLength } = response.body
  if (response.status !== 200 || postfilter === null) return { response, byteLength, items: [] }
  const items = await itemsOf(response.body, {
    ...reading,
    postfilter,
    template: templateOf(context.operation.template, form),
  })
  if (reading.idsOnly === true) releaseBody(response)
  return { response, byteLength, items }
}

/** The engine refuses a query of a list. */
export class ListRefusal extends Error {
  /** The engine's error. */
  readonly response: BufferedResponse

  constructor(response: BufferedResponse) {
    super()
    this.response = response
  }
}

/** Returns null for a refusal, in a `catch`. */
export function nullIfRefused(error: unknown): null {
  if (error instanceof ListRefusal) return null
  throw error
}

/**
 * Reads one page of the list of a query that the engine accepts.
 * @throws ListRefusal
 */
export async function readAcceptedPage(listRequest: ListRequest, reading: PageRequest): Promise<ReadPage> {
  const page = await readPage(listRequest, reading)
  if (page.response.status !== 200) throw new ListRefusal(page.response)
  return page
}

interface DecidedReading extends ItemReading {
  readonly postfilter: Postfilter
  /** Names the kind of the items for the postfilter. */
  readonly template: string
}

/** Returns the items of a page. Only the needed data of each item stays in memory. */
async function itemsOf(
  body: Buffer,
  { postfilter, template, constants, member = 'id', idsOnly = false }: DecidedReading,
): Promise<readonly PageItem[]> {
  const read: PageItem[] = []
  for (const batch of batchesOf(body)) {
    // Other requests are served between two batches. Parsing 50 MiB takes up to half a second.
    if (read.length > 0) await setImmediate()
    const visible = await postfilter(
      template,
      batch.map(({ item }) => (constants === undefined ? item : { ...constants, ...item })),
    )
    // Without a copy, a few items would keep the whole body in memory.
    const isCopied = visible.filter(Boolean).length * 2 < batch.length
    for (const [index, { item, start, end }] of batch.entries()) {
      const isVisible = visible[index] === true
      const bytes = isVisible && !idsOnly ? body.subarray(start, end) : NO_BYTES
      read.push({
        item: member === 'id' ? { id: item['id'] } : { id: item['id'], [member]: item[member] },
        bytes: isCopied && bytes !== NO_BYTES ? Buffer.from(bytes) : bytes,
        isVisible,
      })
    }
  }
  return read
}

/**
 * Yields the items of a response in batches.
 * @throws GatewayError if the body is not a list of items
 */
function* batchesOf(body: Buffer): Generator<readonly JsonItem[]> {
  try {
    yield* itemBatches(body, STEP_ITEMS)
  } catch (cause) {
    jsonIn(body)
    throw new GatewayError('GW_ITEMS_NOT_EXACT', { cause })
  }
}

const NO_BYTES = Buffer.alloc(0)

/** Returns the path that lists the items, with the caller's query and the gateway's paging. */
function listPathOf(
  { context, upstreamRequest }: ListRequest,
  form: ResponseForm | 'list',
  { from, size }: NonNullable<PageRequest['page']>,
): string {
  const path = targetPathOf(upstreamRequest.path)
  const query = new URLSearchParams([
    ...(form === 'topic names' ? topicFlagsOf(context.accessRequest.query) : context.accessRequest.query),
  ])
  query.set('firstResult', String(from))
  query.set('maxResults', String(size))
  const listPath = templateOf(path, form)
  // A count needs no values, so the engine creates no objects for it.
  if (form === 'count') for (const [name, value] of serializedValuesAt(listPath)) query.set(name, value)
  return `${listPath}?${query}`
}

function templateOf(path: string, form: ResponseForm | 'list'): string {
  if (form === 'count')
    return /^\/filter\/[^/]+\/count$/.test(path)
      ? path.replace(/count$/, 'list')
      : path.replace(/\/count$/, '')
  if (form === 'single') return path.replace(/singleResult$/, 'list')
  return form === 'topic names' ? '/external-task' : path
}

/** Returns the parameters of a query for topic names that the engine reads, under their names in the list of external tasks. */
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

/** The restriction of a query. `postfilter` decides which items the caller sees; null if the caller sees no item. */
export interface ItemFilter {
  readonly postfilter: Postfilter | null
  readonly limits: ListLimits
  /** The facts for a plan that requests only the visible items. If absent, the whole list is read and filtered. */
  readonly planContext?: PlanContext | undefined
  /** As in the decision about the list. */
  readonly signedCounts?: readonly SignedCount[] | undefined
  /** Called with the strategy by which the query is answered. */
  readonly onPlan?: ((strategy: Strategy) => void) | undefined
}

/** The form of a list and the number of visible items to find. */
interface VisibleItemsRequest extends Pick<ItemReading, 'form' | 'member'> {
  readonly wanted: number
  /** How many of these items are before the page. Default: 0. */
  readonly first?: number
}

interface VisibleItemsResult {
  /** Null if the engine refused the query. `response` is then its error. */
  readonly seen: readonly PageItem[] | null
  readonly response: BufferedResponse
}

/**
 * Reads the list until enough visible items are found, or the list ends.
 * @throws GatewayError if more than `scannedItems` items would have to be read
 */
export async function readVisible(
  listRequest: ListRequest,
  { postfilter, limits: { scannedItems } }: ItemFilter,
  { form, member, wanted, first = 0 }: VisibleItemsRequest,
): Promise<VisibleItemsResult> {
  if (postfilter === null) return readNone(listRequest, form)
  const seen: PageItem[] = []
  const idsOnly = form === 'count' || member !== undefined
  const list = new StableScan((from, size) =>
    readAcceptedPage(listRequest, { postfilter, form, member, idsOnly, page: { from, size } }),
  )
  let count = 0
  let size = Math.min(scannedItems + 1, Math.max(FIRST_READ_ITEMS, wanted), MAX_READ_ITEMS)
  try {
    // A page that begins behind the items that may be read is refused without reading them, unless the list ends before.
    if (first >= scannedItems) {
      const next = { postfilter: passAll, form, idsOnly: true, page: { from: scannedItems, size: 1 } }
      if ((await readAcceptedPage(listRequest, next)).items.length === 1)
        throw new GatewayError('GW_ITEMS_NOT_EXACT')
    }
    for (;;) {
      const { page, items, isLast } = await list.next(size)
      seen.push(...items.filter(({ isVisible }) => isVisible))
      count += items.length
      if (isLast || seen.length >= wanted) return { seen, response: page.response }
      if (count > scannedItems) throw new GatewayError('GW_ITEMS_NOT_EXACT')
      const bytesEach = page.byteLength / page.items.length
      const most = Math.max(FIRST_READ_ITEMS, Math.floor(READ_BYTES / bytesEach))
      size = Math.min(size * 2, scannedItems + 1 - count, MAX_READ_ITEMS, most)
    }
  } catch (error) {
    if (error instanceof ListRefusal) return { seen: null, response: error.response }
    throw error
  }
}

/** Sends the query with a limit of 0 items, so that the engine validates it. */
async function readNone(listRequest: ListRequest, form: ResponseForm | 'list'): Promise<VisibleItemsResult> {
  const { response } = await readPage(listRequest, { postfilter: null, form, page: { from: 0, size: 0 } })
  return { seen: response.status === 200 ? [] : null, response }
}
