import { GatewayError } from '../../errors.ts'
import type { AsPost } from '../../operations/row-queries.ts'
import type { ListRequest } from '../list-request.ts'
import type { KeepRows } from '../list-decision.ts'
import type { PartsPlan, QueryPart } from '../list-plan.ts'
import { type Answer, MAX_READ_BYTES } from '../../request/answer.ts'
import { bodyValue } from '../../request/body.ts'
import { jsonIn } from '../../request/engine-request.ts'
import { joinRows } from '../../request/json-rows.ts'
import { PAGING, type Paging } from '../../request/paging.ts'
import { askPart, PartRefused } from './ask-part.ts'
import { findEnd } from './find-end.ts'
import { MergedRows, type SizesAge } from './merged-rows.ts'
import { readSorted } from './part-reader.ts'
import { isUneven, noteUneven, sizeOf } from './recent-sizes.ts'
import type { Sizes } from './seek-page.ts'
import { countRest, type Resting, restRows } from './rest-rows.ts'
import { mapSideBySide } from './side-by-side.ts'
import type { ReadList, ReadRow } from '../postfilter/steady-list.ts'
import { json, keepAll, type PageRequest, readAsIs, readPage, readWhole } from '../postfilter/visible-rows.ts'
import {
  FEW_ITEMS,
  FEW_SUBQUERIES,
  LIKELY_END_SHARE,
  MAX_SKIPPED_ITEMS,
  SEARCH_READ_ITEMS,
} from '../limits.ts'

/**
 * Counts each subquery. Returns null if too many items must be decided one by one.
 * @throws PartRefused
 */
export async function countParts(
  exchange: ListRequest,
  listing: Omit<Listing, 'paging'>,
): Promise<Answer | null> {
  const { plan, keep, maxRows } = listing
  const { parts, instances, hidden, rest } = plan
  const head = firstHead()
  const onAnswer = head.onAnswer
  const countPart = createCountPart(exchange, { asPost: plan.asPost, onAnswer })
  const sum = async (some: readonly QueryPart[]): Promise<number> =>
    (await mapSideBySide(some, countPart)).reduce((all, one) => all + one, 0)
  // Items may be added or removed between two counts.
  const answerOf = (count: number) => head.with(json({ count: Math.max(0, count) }))
  const isMany = rest !== null && !rest.isMixed && parts.length > FEW_SUBQUERIES
  if (isMany && (await sum(rest.all)) <= Math.min(FEW_ITEMS, maxRows)) {
    const few = { plan: { ...plan, parts: rest.all, instances: [], rest: null }, keep, maxRows }
    let seen = 0
    for await (const _ of eachRow(exchange, few, Number.POSITIVE_INFINITY)) seen += 1
    return answerOf(seen)
  }
  const others =
    rest === null
      ? 0
      : await countRest({ rest, keep, maxRows, read: readerOf(exchange, { member: undefined, onAnswer }) })
  if (others === null) return null
  return answerOf(others + (await sum([...parts, ...instances])) - (await sum(hidden)))
}

interface Counting extends Pick<PartsPlan, 'asPost'> {
  readonly onAnswer: (answer: Answer) => void
}

/**
 * Returns a function that counts a subquery. If its list does not fit into a GET, and the POST has no count, the function searches
 * for the end of the list.
 */
function createCountPart(
  exchange: ListRequest,
  { asPost, onAnswer }: Counting,
): (part: QueryPart) => Promise<number> {
  /** Items for one unit of weight, from the subquery that was counted last. */
  let rowsOfOne = 0
  return async (part) => {
    const { weight } = part
    if (weight === undefined || asPost?.counts !== false) {
      const answer = await countAnswer(askPart(exchange, part, countedBy(asPost)))
      onAnswer(answer)
      return countIn(answer)
    }
    const [read] = readersOf(exchange, { parts: [part], asPost, keep: keepAll, isTold: true, onAnswer })
    const lengthAt = async (from: number, size: number) => (await read?.(from, size))?.rows.length ?? 0
    const likely = Math.floor(LIKELY_END_SHARE * rowsOfOne * weight)
    const rows = await findEnd(lengthAt, { known: 0, likely, size: SEARCH_READ_ITEMS })
    rowsOfOne = rows / weight
    return rows
  }
}

/** Returns how subqueries that are listed in this way are counted: by GET if the POST has no count. */
function countedBy(asPost: AsPost | null): AsPost | null {
  return asPost?.counts === false ? null : asPost
}

async function countAnswer(asking: ListRequest): Promise<Answer> {
  asking.match.accessRequest.stillAwaited?.()
  const answer = await readWhole(asking)
  if (answer.status !== 200) throw new PartRefused()
  return answer
}

function countIn({ body }: Answer): number {
  const count = bodyValue(jsonIn(body), 'count')
  if (typeof count !== 'number') throw new GatewayError('GW_UPSTREAM_INVALID')
  return count
}

export interface Listing {
  readonly plan: PartsPlan
  readonly keep: KeepRows
  readonly paging: Paging
  /** Maximum number of items that are left out. */
  readonly maxRows: number
}

/**
 * Returns a page of the items of the subqueries. Each item is still decided: a subquery that finds too much costs time, but reveals
 * nothing. Returns null if the items of several subqueries have no known order.
 * @throws PartRefused, OrderUnknown; GatewayError GW_ROWS_NOT_EXACT
 */
export async function listParts(exchange: ListRequest, listing: Listing): Promise<Answer | null> {
  const { plan } = listing
  const parts = [...plan.parts, ...plan.instances]
  const [only] = parts
  // The engine's first page is also the caller's if all items on it are visible.
  if (
    only !== undefined &&
    parts.length === 1 &&
    plan.rest === null &&
    (plan.isExact || listing.paging.first === 0)
  ) {
    const whole = await listWhole(exchange, only, listing)
    if (whole !== null) return whole
  }
  return (parts.length > 1 || plan.rest !== null) && plan.order === null
    ? null
    : listMerged(exchange, parts, listing)
}

async function listMerged(
  exchange: ListRequest,
  parts: readonly QueryPart[],
  { plan, keep, paging, maxRows }: Listing,
): Promise<Answer | null> {
  const { rest, order, asPost } = plan
  const head = firstHead()
  const onAnswer = head.onAnswer
  const read = readerOf(exchange, { member: order?.member, onAnswer })
  const others = rest === null ? [] : await restRows({ rest, keep, maxRows, read })
  if (others === null) return null
  const readers = [...readersOf(exchange, { parts, asPost, keep, member: order?.member, onAnswer })]
  if (order !== null && others.length > 0) readers.push(readSorted(others, order))
  const merged = new MergedRows(readers, { order: readers.length > 1 ? order : null, maxHidden: maxRows })
  const queries = countQueriesOf(exchange, { parts, asPost })
  const { engine } = exchange.match
  const page = { queries: queries.map(queryOf), first: paging.first }
  const sizing = {
    counts: async (age: SizesAge) => {
      if (isUneven(engine, page)) return null
      const sized = await sizesOf(queries, { parts, age })
      // Items that are already read may be anywhere in the order. They are skipped one by one, unless there are many.
      const sizes =
        others.length > MAX_SKIPPED_ITEMS ? [...(sized?.sizes ?? []), others.length] : sized?.sizes
      return sized === null || sized.isEstimate || sizes === undefined ? sized : { ...sized, sizes }
    },
    onUneven: () => noteUneven(engine, page),
  }
  const bytes: Buffer[] = []
  let length = 0
  for await (const row of merged.page({ ...paging, ...(plan.isExact && { sizing }) })) {
    bytes.push(row.bytes)
    length += row.bytes.length
    if (length > MAX_READ_BYTES) throw new GatewayError('GW_ROWS_NOT_EXACT')
  }
  return head.with(joinRows(bytes))
}

/** Returns the requests that count the subqueries of a list. */
function countQueriesOf(
  exchange: ListRequest,
  { parts, asPost }: Pick<Reading, 'parts' | 'asPost'>,
): readonly ListRequest[] {
  return parts.map((part) => {
    const { match, upstreamRequest } = askPart(exchange, part, countedBy(asPost))
    const [list = '', query] = upstreamRequest.path.split('?')
    const search = new URLSearchParams(query)
    for (const name of PAGING) search.delete(name)
    return { match, upstreamRequest: { ...upstreamRequest, path: `${list}/count?${search}` } }
  })
}

function queryOf({ upstreamRequest: { path, body } }: ListRequest): string {
  return `${path} ${body?.toString()}`
}

/** Returns the current or recent size of each subquery of a list. Null if the engine does not count them. */
async function sizesOf(
  queries: readonly ListRequest[],
  { parts, age }: Pick<Reading, 'parts'> & { readonly age: SizesAge },
): Promise<Sizes | null> {
  const weights = parts.flatMap(({ weight }) => weight ?? [])
  if (weights.length === parts.length) return { sizes: weights, isEstimate: true, isRecent: false }
  try {
    const counted = await mapSideBySide(queries, (asking) =>
      sizeOf(asking.match.engine, {
        query: queryOf(asking),
        age,
        count: async () => countIn(await countAnswer(asking)),
      }),
    )
    const isRecent = counted.some((one) => one.isRecent)
    return { sizes: counted.map(({ size }) => size), isEstimate: false, isRecent }
  } catch (error) {
    if (error instanceof PartRefused) return null
    throw error
  }
}

/**
 * Returns a reader of items that a query cannot select.
 * @throws PartRefused when the reader is called
 */
function readerOf(
  exchange: ListRequest,
  { member, onAnswer }: Pick<PageRequest, 'member'> & { readonly onAnswer: (answer: Answer) => void },
): Resting['read'] {
  const form = exchange.match.operation.rows?.form === 'count' ? 'count' : 'list'
  return async (part, { keep, from, size }) => {
    const asking = askPart(exchange, part, null)
    const page = await readPage(asking, { keep, form, member, isTold: form === 'count', from, size })
    if (page.answer.status !== 200) throw new PartRefused()
    onAnswer(page.answer)
    return page
  }
}

interface Reading extends Pick<PartsPlan, 'asPost'>, Pick<PageRequest, 'member' | 'isTold'> {
  readonly parts: readonly QueryPart[]
  readonly keep: KeepRows
  readonly onAnswer?: (answer: Answer) => void
}

function readersOf(
  exchange: ListRequest,
  { parts, asPost, keep, member, isTold = false, onAnswer }: Reading,
): readonly ReadList[] {
  const form = exchange.match.operation.rows?.form === 'count' ? 'count' : 'list'
  return parts.map((part): ReadList => {
    const asking = askPart(exchange, part, asPost)
    return async (from, size, isPassedOver = false) => {
      const page = await readPage(asking, {
        keep,
        known: part.known,
        form,
        member,
        isTold: isTold || isPassedOver,
        from,
        size,
      })
      if (page.answer.status !== 200) throw new PartRefused()
      onAnswer?.(page.answer)
      return page
    }
  })
}

/**
 * Yields the visible items of all subqueries, one subquery after another. Each item has only its id and `member`.
 * @throws PartRefused; GatewayError GW_ROWS_NOT_EXACT if too many items are left out
 */
export async function* eachRow(
  exchange: ListRequest,
  { plan, keep, maxRows, member }: Omit<Listing, 'paging'> & Pick<PageRequest, 'member'>,
  wanted: number,
): AsyncGenerator<ReadRow> {
  const { rest, asPost } = plan
  const read = readerOf(exchange, { member, onAnswer: () => undefined })
  const others = rest === null ? [] : await restRows({ rest, keep, maxRows, read })
  if (others === null) throw new GatewayError('GW_ROWS_NOT_EXACT')
  yield* others.slice(0, wanted)
  const parts = [...plan.parts, ...plan.instances]
  const readers = readersOf(exchange, { parts, asPost, keep, member, isTold: true })
  yield* new MergedRows(readers, { order: null, maxHidden: maxRows }).upTo(wanted - others.length)
}

/**
 * Returns a page as the engine pages it. Null if the page has an item that the caller may not see, because the engine's pages then
 * differ from the caller's.
 */
async function listWhole(
  exchange: ListRequest,
  part: QueryPart,
  { plan, keep }: Pick<Listing, 'plan' | 'keep'>,
): Promise<Answer | null> {
  const page = await readAsIs(askPart(exchange, part, plan.asPost), { keep, form: 'list', known: part.known })
  if (page.answer.status !== 200) throw new PartRefused()
  return page.rows.every(({ isVisible }) => isVisible) ? page.answer : null
}

/** Returns a holder for the status and headers of the first of several responses. It does not keep their bodies. */
function firstHead() {
  let head: Omit<Answer, 'body'> | null = null
  return {
    onAnswer: ({ status, headers }: Answer) => {
      head ??= { status, headers }
    },
    with: (body: Buffer): Answer | null => (head === null ? null : { ...head, body }),
  }
}
