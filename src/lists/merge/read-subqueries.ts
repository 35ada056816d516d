import { GatewayError } from '../../errors.ts'
import type { PostForm } from '../../operations/prefilters.ts'
import type { ListRequest } from '../list-request.ts'
import type { Postfilter } from '../list-decision.ts'
import type { SubqueryPlan, Subquery } from '../list-plan.ts'
import { type BufferedResponse, MAX_READ_BYTES } from '../../request/buffered-response.ts'
import { bodyValue } from '../../request/body.ts'
import { jsonIn } from '../../request/engine-request.ts'
import { joinRows } from '../../request/json-rows.ts'
import { PAGING, type Paging } from '../../request/paging.ts'
import { subqueryRequestOf, SubqueryRefusal } from './subquery-request.ts'
import { findEnd } from './find-end.ts'
import { MergedRows, type SizesAge, type SizeSource } from './merged-rows.ts'
import { readSorted } from './subquery-reader.ts'
import { isUneven, noteUneven, sizeOf } from './recent-sizes.ts'
import type { Sizes } from './seek-page.ts'
import { countNullGroup, type NullGroupReading, nullGroupRows } from './null-group.ts'
import { mapSideBySide } from '../side-by-side.ts'
import type { ReadList, ReadRow } from '../postfilter/stable-scan.ts'
import { json, passAll, type PageRequest, readAsIs, readPage, readWhole } from '../postfilter/visible-rows.ts'
import { FEW_ITEMS, MAX_PARALLEL_READS, SPARE_SHARE, STEP_ITEMS, type ListLimits } from '../limits.ts'

/**
 * Counts each subquery. Returns null if too many items must be decided one by one.
 * @throws SubqueryRefusal
 */
export async function countSubqueries(
  listRequest: ListRequest,
  listing: Omit<SubqueryListInput, 'paging'>,
): Promise<BufferedResponse | null> {
  const { plan, postfilter, limits } = listing
  const { subqueries, instances, excluded, nullGroup } = plan
  const head = firstHead()
  const onResponse = head.onResponse
  const countSubquery = createSubqueryCount(listRequest, { postForm: plan.postForm, onResponse })
  const sum = async (some: readonly Subquery[]): Promise<number> =>
    (await mapSideBySide(some, countSubquery)).reduce((all, one) => all + one, 0)
  // Items may be added or removed between two counts.
  const responseOf = (count: number) => head.with(json({ count: Math.max(0, count) }))
  const isMany = nullGroup !== null && !nullGroup.isCrossTenant && subqueries.length > MAX_PARALLEL_READS
  if (isMany && (await sum(nullGroup.all)) <= Math.min(FEW_ITEMS, limits.filteredRows)) {
    const few = {
      plan: { ...plan, subqueries: nullGroup.all, instances: [], nullGroup: null },
      postfilter,
      limits,
    }
    let seen = 0
    for await (const _ of eachRow(listRequest, few, Number.POSITIVE_INFINITY)) seen += 1
    return responseOf(seen)
  }
  const others =
    nullGroup === null
      ? 0
      : await countNullGroup({
          nullGroup,
          postfilter,
          maxRows: limits.filteredRows,
          read: readerOf(listRequest, { member: undefined, onResponse }),
        })
  if (others === null) return null
  return responseOf(others + (await sum([...subqueries, ...instances])) - (await sum(excluded)))
}

interface SubqueryCountOptions extends Pick<SubqueryPlan, 'postForm'> {
  readonly onResponse: (response: BufferedResponse) => void
}

/**
 * Returns a function that counts a subquery. If its list does not fit into a GET, and the POST has no count, the function searches
 * for the end of the list.
 */
function createSubqueryCount(
  listRequest: ListRequest,
  { postForm, onResponse }: SubqueryCountOptions,
): (subquery: Subquery) => Promise<number> {
  /** Items for one unit of the estimated share, from the subquery that was counted last. */
  let rowsOfOne = 0
  return async (subquery) => {
    const { estimatedShare } = subquery
    if (estimatedShare === undefined || postForm?.counts !== false) {
      const response = await countResponse(subqueryRequestOf(listRequest, subquery, countedBy(postForm)))
      onResponse(response)
      return countIn(response)
    }
    const [read] = readersOf(listRequest, {
      subqueries: [subquery],
      postForm,
      postfilter: passAll,
      idsOnly: true,
      onResponse,
    })
    const lengthAt = async (from: number, size: number) => (await read?.(from, size))?.rows.length ?? 0
    const likely = Math.floor((1 - SPARE_SHARE) * rowsOfOne * estimatedShare)
    const rows = await findEnd(lengthAt, { known: 0, likely, size: STEP_ITEMS })
    rowsOfOne = rows / estimatedShare
    return rows
  }
}

/** Returns how subqueries that are listed in this way are counted: by GET if the POST has no count. */
function countedBy(postForm: PostForm | null): PostForm | null {
  return postForm?.counts === false ? null : postForm
}

async function countResponse(subqueryRequest: ListRequest): Promise<BufferedResponse> {
  subqueryRequest.context.accessRequest.checkDeadline?.()
  const response = await readWhole(subqueryRequest)
  if (response.status !== 200) throw new SubqueryRefusal()
  return response
}

function countIn({ body }: BufferedResponse): number {
  const count = bodyValue(jsonIn(body), 'count')
  if (typeof count !== 'number') throw new GatewayError('GW_UPSTREAM_INVALID')
  return count
}

export interface SubqueryListInput {
  readonly plan: SubqueryPlan
  readonly postfilter: Postfilter
  readonly paging: Paging
  readonly limits: ListLimits
}

/**
 * Returns a page of the items of the subqueries. Each item is still decided: a subquery that finds too much costs time, but reveals
 * nothing. Returns null if the items of several subqueries have no known order.
 * @throws SubqueryRefusal, UnknownOrderError; GatewayError GW_ROWS_NOT_EXACT
 */
export async function listSubqueries(
  listRequest: ListRequest,
  listing: SubqueryListInput,
): Promise<BufferedResponse | null> {
  const { plan } = listing
  const subqueries = [...plan.subqueries, ...plan.instances]
  const [only] = subqueries
  // The engine's first page is also the caller's if all items on it are visible.
  if (
    only !== undefined &&
    subqueries.length === 1 &&
    plan.nullGroup === null &&
    (plan.isExact || listing.paging.first === 0)
  ) {
    const whole = await listWhole(listRequest, only, listing)
    if (whole !== null) return whole
  }
  return (subqueries.length > 1 || plan.nullGroup !== null) && plan.order === null
    ? null
    : listMerged(listRequest, subqueries, listing)
}

async function listMerged(
  listRequest: ListRequest,
  subqueries: readonly Subquery[],
  { plan, postfilter, paging, limits: { filteredRows: maxRows } }: SubqueryListInput,
): Promise<BufferedResponse | null> {
  const { nullGroup, order, postForm } = plan
  const head = firstHead()
  const onResponse = head.onResponse
  const read = readerOf(listRequest, { member: order?.member, onResponse })
  const others = nullGroup === null ? [] : await nullGroupRows({ nullGroup, postfilter, maxRows, read })
  if (others === null) return null
  const readers = [
    ...readersOf(listRequest, { subqueries, postForm, postfilter, member: order?.member, onResponse }),
  ]
  if (order !== null && others.length > 0) readers.push(readSorted(others, order))
  const merged = new MergedRows(readers, { order: readers.length > 1 ? order : null, maxHidden: maxRows })
  const sizing = () =>
    sizeSourceOf(listRequest, { subqueries, postForm, first: paging.first, otherSize: others.length })
  const bytes: Buffer[] = []
  let length = 0
  for await (const row of merged.page({ ...paging, ...(plan.isExact && { sizing }) })) {
    bytes.push(row.bytes)
    length += row.bytes.length
    if (length > MAX_READ_BYTES) throw new GatewayError('GW_ROWS_NOT_EXACT')
  }
  return head.with(joinRows(bytes))
}

interface SizeSourceInput extends Pick<SubqueryReadInput, 'subqueries' | 'postForm'> {
  readonly first: number
  /** The number of items that are already read, and are merged with the subqueries. */
  readonly otherSize: number
}

/** Returns the sizes of the lists that a page is merged from. */
function sizeSourceOf(
  listRequest: ListRequest,
  { subqueries, postForm, first, otherSize }: SizeSourceInput,
): SizeSource {
  const queries = countQueriesOf(listRequest, { subqueries, postForm })
  const { engine } = listRequest.context
  const page = { queries: queries.map(queryOf), first }
  return {
    counts: async (age) => {
      if (isUneven(engine, page)) return null
      const sized = await sizesOf(queries, { subqueries, age })
      // Items that are already read may be anywhere in the order. They are skipped one by one, unless there are many.
      const sizes = otherSize > STEP_ITEMS ? [...(sized?.sizes ?? []), otherSize] : sized?.sizes
      return sized === null || sized.isEstimate || sizes === undefined ? sized : { ...sized, sizes }
    },
    onUneven: () => noteUneven(engine, page),
  }
}

/** Returns the requests that count the subqueries of a list. */
function countQueriesOf(
  listRequest: ListRequest,
  { subqueries, postForm }: Pick<SubqueryReadInput, 'subqueries' | 'postForm'>,
): readonly ListRequest[] {
  return subqueries.map((subquery) => {
    const { context, upstreamRequest } = subqueryRequestOf(listRequest, subquery, countedBy(postForm))
    const [list = '', query] = upstreamRequest.path.split('?')
    const search = new URLSearchParams(query)
    for (const name of PAGING) search.delete(name)
    return { context, upstreamRequest: { ...upstreamRequest, path: `${list}/count?${search}` } }
  })
}

function queryOf({ upstreamRequest: { path, body } }: ListRequest): string {
  return `${path} ${body?.toString()}`
}

/** Returns the current or recent size of each subquery of a list. Null if the engine does not count them. */
async function sizesOf(
  queries: readonly ListRequest[],
  { subqueries, age }: Pick<SubqueryReadInput, 'subqueries'> & { readonly age: SizesAge },
): Promise<Sizes | null> {
  const estimatedShares = subqueries.flatMap(({ estimatedShare }) => estimatedShare ?? [])
  if (estimatedShares.length === subqueries.length)
    return { sizes: estimatedShares, isEstimate: true, isRecent: false }
  try {
    const counted = await mapSideBySide(queries, (subqueryRequest) =>
      sizeOf(subqueryRequest.context.engine, {
        query: queryOf(subqueryRequest),
        age,
        count: async () => countIn(await countResponse(subqueryRequest)),
      }),
    )
    const isRecent = counted.some((one) => one.isRecent)
    return { sizes: counted.map(({ size }) => size), isEstimate: false, isRecent }
  } catch (error) {
    if (error instanceof SubqueryRefusal) return null
    throw error
  }
}

/**
 * Returns a reader of items that a query cannot select.
 * @throws SubqueryRefusal when the reader is called
 */
function readerOf(
  listRequest: ListRequest,
  {
    member,
    onResponse,
  }: Pick<PageRequest, 'member'> & { readonly onResponse: (response: BufferedResponse) => void },
): NullGroupReading['read'] {
  const form = listRequest.context.operation.items?.form === 'count' ? 'count' : 'list'
  return async (subquery, { postfilter, from, size }) => {
    const subqueryRequest = subqueryRequestOf(listRequest, subquery, null)
    const page = await readPage(subqueryRequest, {
      postfilter,
      form,
      member,
      idsOnly: form === 'count',
      from,
      size,
    })
    if (page.response.status !== 200) throw new SubqueryRefusal()
    onResponse(page.response)
    return page
  }
}

interface SubqueryReadInput extends Pick<SubqueryPlan, 'postForm'>, Pick<PageRequest, 'member' | 'idsOnly'> {
  readonly subqueries: readonly Subquery[]
  readonly postfilter: Postfilter
  readonly onResponse?: (response: BufferedResponse) => void
}

function readersOf(
  listRequest: ListRequest,
  { subqueries, postForm, postfilter, member, idsOnly = false, onResponse }: SubqueryReadInput,
): readonly ReadList[] {
  const form = listRequest.context.operation.items?.form === 'count' ? 'count' : 'list'
  return subqueries.map((subquery): ReadList => {
    const subqueryRequest = subqueryRequestOf(listRequest, subquery, postForm)
    return async (from, size, isPassedOver = false) => {
      const page = await readPage(subqueryRequest, {
        postfilter,
        constants: subquery.constants,
        form,
        member,
        idsOnly: idsOnly || isPassedOver,
        from,
        size,
      })
      if (page.response.status !== 200) throw new SubqueryRefusal()
      onResponse?.(page.response)
      return page
    }
  })
}

/**
 * Yields the visible items of all subqueries, one subquery after another. Each item has only its id and `member`.
 * @throws SubqueryRefusal; GatewayError GW_ROWS_NOT_EXACT if too many items are left out
 */
export async function* eachRow(
  listRequest: ListRequest,
  {
    plan,
    postfilter,
    limits: { filteredRows: maxRows },
    member,
  }: Omit<SubqueryListInput, 'paging'> & Pick<PageRequest, 'member'>,
  wanted: number,
): AsyncGenerator<ReadRow> {
  const { nullGroup, postForm } = plan
  const read = readerOf(listRequest, { member, onResponse: () => undefined })
  const others = nullGroup === null ? [] : await nullGroupRows({ nullGroup, postfilter, maxRows, read })
  if (others === null) throw new GatewayError('GW_ROWS_NOT_EXACT')
  yield* others.slice(0, wanted)
  const subqueries = [...plan.subqueries, ...plan.instances]
  const readers = readersOf(listRequest, { subqueries, postForm, postfilter, member, idsOnly: true })
  yield* new MergedRows(readers, { order: null, maxHidden: maxRows }).upTo(wanted - others.length)
}

/**
 * Returns a page as the engine pages it. Null if the page has an item that the caller may not see, because the engine's pages then
 * differ from the caller's.
 */
async function listWhole(
  listRequest: ListRequest,
  subquery: Subquery,
  { plan, postfilter }: Pick<SubqueryListInput, 'plan' | 'postfilter'>,
): Promise<BufferedResponse | null> {
  const page = await readAsIs(subqueryRequestOf(listRequest, subquery, plan.postForm), {
    postfilter,
    form: 'list',
    constants: subquery.constants,
  })
  if (page.response.status !== 200) throw new SubqueryRefusal()
  return page.rows.every(({ isVisible }) => isVisible) ? page.response : null
}

/** Returns a holder for the status and headers of the first of several responses. It does not keep their bodies. */
function firstHead() {
  let head: Omit<BufferedResponse, 'body'> | null = null
  return {
    onResponse: ({ status, headers }: BufferedResponse) => {
      head ??= { status, headers }
    },
    with: (body: Buffer): BufferedResponse | null => (head === null ? null : { ...head, body }),
  }
}
