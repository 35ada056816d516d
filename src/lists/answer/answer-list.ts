import { GatewayError } from '../../errors.ts'
import type { ListRequest } from '../list-request.ts'
import type { ResponseForm } from '../../operations/notation.ts'
import { isPagedList } from '../../operations/paged-list.ts'
import { prefilterOf } from '../../operations/prefilters.ts'
import type { Operation } from '../../operations/table.ts'
import { hasHal, otherFormOf } from '../../request/accept.ts'
import { bodyValue } from '../../request/body.ts'
import { jsonIn } from '../../request/engine-request.ts'
import { joinItems } from '../../request/json-items.ts'
import type { Postfilter } from '../item-decision.ts'
import type { ListPlan, SubqueryPlan } from '../list-plan.ts'
import { isOfAll } from '../prefilter/own-query.ts'
import type { PlanContext } from '../prefilter/plan-context.ts'
import { createPlan, readsInstances } from '../prefilter/plan-list.ts'
import { type Paging, pagingOf } from '../../request/paging.ts'
import type { BufferedResponse } from '../../request/buffered-response.ts'
import { observationsOf, queryTextOf } from '../merge/list-observations.ts'
import { hasListMembers, withoutListMembers } from './list-members.ts'
import { UnknownOrderError } from '../merge/subquery-reader.ts'
import { countSubqueries, listSubqueries, OutdatedPlanError } from '../merge/read-subqueries.ts'
import { readCount } from '../merge/subquery-sizes.ts'
import type { SignedCount } from '../rewrite/narrow-tasks.ts'
import { mapSideBySide } from '../side-by-side.ts'
import { type PageItem, StableScan } from '../postfilter/stable-scan.ts'
import {
  type ItemFilter,
  json,
  ListRefusal,
  nullIfRefused,
  readAcceptedPage,
  readVisible,
  readWhole,
} from '../postfilter/visible-items.ts'
import {
  FEW_ITEMS,
  FIRST_READ_ITEMS,
  INSTANCE_READ_MS,
  MAX_PARALLEL_READS,
  MAX_PLANS,
  MAX_READ_ITEMS,
  MAX_SEARCH_READS,
  MIN_READ_ITEMS,
  SPARE_SHARE,
  STEP_ITEMS,
} from '../limits.ts'

/** A query with the page of it that is requested. */
interface ListReading extends ItemFilter {
  readonly paging: Paging
}

/** A query with items that the caller may see, with the facts for a plan that requests only these. */
interface PlannedReading extends ListReading {
  readonly postfilter: Postfilter
  readonly planContext: PlanContext
}

/**
 * Responds to a query with the items that the caller may see. It reads the items in order, leaves out the others, and then pages or
 * counts. The engine validates the query, and its errors are returned. Each item is decided separately.
 * @throws GatewayError if too many items would have to be read
 */
export async function answerList(listRequest: ListRequest, filtering: ItemFilter): Promise<BufferedResponse> {
  if (!hasListMembers(listRequest)) return answerQuery(listRequest, filtering)
  // The list may fail for a sort that the count ignores. The count itself validates all members.
  const response = await readWhole(listRequest)
  return response.status === 200 ? answerQuery(withoutListMembers(listRequest), filtering) : response
}

async function answerQuery(listRequest: ListRequest, filtering: ItemFilter): Promise<BufferedResponse> {
  const { operation, accessRequest } = listRequest.context
  const paging = isPagedList(operation) ? pagingOf(accessRequest.query) : ALL
  const isJson = otherFormOf(operation, listRequest.upstreamRequest.headers['accept']) === false
  if (paging === null || !isJson) return answerRefused(listRequest)
  const { postfilter, planContext, signedCounts, onPlan } = filtering
  if (signedCounts !== undefined) return answerSignedCounts(listRequest, signedCounts, onPlan)
  if (postfilter !== null && planContext !== undefined) {
    const planned = { ...filtering, postfilter, planContext, paging }
    // Only lists and counts have a prefilter.
    const answer = operation.items?.form === 'count' ? answerCount : answerPage
    const response = await answer(listRequest, planned)
    if (response !== null) return response
  }
  onPlan?.(postfilter === null ? 'denied' : 'scan')
  return answerFiltered(listRequest, { ...filtering, paging })
}

/** Returns null if all items have to be read and filtered. */
async function answerCount(
  listRequest: ListRequest,
  planned: PlannedReading,
): Promise<BufferedResponse | null> {
  const few = mayBeFew(listRequest, planned) ? await countFew(listRequest, planned) : null
  if (few !== null) return few
  for (let plans = 0; plans < MAX_PLANS; plans += 1)
    try {
      return await answerByPlan(listRequest, planned, await createPlan(planned.planContext))
    } catch (error) {
      if (!(error instanceof OutdatedPlanError)) throw error
    }
  return null
}

/** Adds and subtracts counts. The engine's error is returned if it refuses one of them. */
async function answerSignedCounts(
  listRequest: ListRequest,
  signedCounts: readonly SignedCount[],
  onPlan: ItemFilter['onPlan'],
): Promise<BufferedResponse> {
  const { context, upstreamRequest } = listRequest
  const requests = signedCounts.flatMap(({ narrow, isSubtracted }) => {
    const query = narrow(upstreamRequest, context.accessRequest.query)
    return query === null ? [] : [{ query, sign: isSubtracted ? -1 : 1 }]
  })
  const counts = await mapSideBySide(requests, async ({ query: { method, path, body }, sign }) => {
    const headers = { ...upstreamRequest.headers, 'content-type': 'application/json' }
    const counted = await readCount({
      context,
      upstreamRequest: { ...upstreamRequest, method, path, body, headers },
    })
    return { ...counted, count: sign * counted.count }
  }).catch(nullIfRefused)
  const [first] = counts ?? []
  if (counts === null || first === undefined) return answerRefused(listRequest)
  onPlan?.('union')
  // Items may be added or removed between two counts.
  const count = Math.max(
    0,
    counts.reduce((sum, one) => sum + one.count, 0),
  )
  return { ...first.response, body: json({ count }) }
}

/** Returns null if all items have to be read and filtered. */
async function answerPage(
  listRequest: ListRequest,
  planned: PlannedReading,
): Promise<BufferedResponse | null> {
  const { planContext } = planned
  // The plan first reads the ids of instances, and there may be many.
  if (readsInstances(planContext)) {
    const top = await answerTop(listRequest, planned, STEP_ITEMS)
    return top ?? answerByPlan(listRequest, planned, await createPlan(planContext))
  }
  const earlyLimit = topOf({ subqueries: 0, instances: countSingleInstances(planContext) }, listRequest)
  const early = earlyLimit > 0 ? await answerTop(listRequest, planned, earlyLimit) : null
  if (early !== null) return early
  const plan = await createPlan(planContext)
  const limit = plan.strategy === 'union' && earlyLimit === 0 ? topOf(sizeOf(plan), listRequest) : 0
  const top = limit > 0 ? await answerTop(listRequest, planned, limit) : null
  return top ?? answerByPlan(listRequest, planned, plan)
}

/**
 * Returns the number of granted instances that need a subquery each. A plan first reads the definitions of all of them, which a page
 * near the top of a list does not need.
 */
function countSingleInstances({ query, own, instances }: PlanContext): number {
  const isSingle = query.instance !== undefined && query.instances === undefined && own.instance === null
  return isSingle ? instances.granted.length : 0
}

/** Executes a plan. Returns null if all items have to be read and filtered. */
async function answerByPlan(
  listRequest: ListRequest,
  { postfilter, limits, paging, onPlan }: PlannedReading,
  plan: ListPlan,
): Promise<BufferedResponse | null> {
  const { context, upstreamRequest } = listRequest
  if (plan.strategy === 'scan') return null
  if (plan.strategy === 'denied') {
    onPlan?.('denied')
    // The engine validates the query, unless it is known to be valid.
    return plan.isValid
      ? emptyResponseOf(context.operation, upstreamRequest.method)
      : answerFiltered(listRequest, { postfilter: null, limits, paging })
  }
  const answer = context.operation.items?.form === 'count' ? countSubqueries : listSubqueries
  const response = await answer(listRequest, { plan, postfilter, limits, paging }).catch((error: unknown) => {
    // The engine gets the query as the caller sent it, and its error is returned.
    if (error instanceof ListRefusal) return answerRefused(listRequest)
    if (error instanceof UnknownOrderError) return null
    throw error
  })
  if (response !== null) onPlan?.(plan.strategy)
  return response
}

/** The number of subqueries of a plan, and of those for single instances. */
interface PlanSize {
  readonly subqueries: number
  readonly instances: number
}

function sizeOf({ subqueries, instances }: SubqueryPlan): PlanSize {
  return { subqueries: subqueries.length, instances: instances.length }
}

/** Returns how many items of the list are read before the subqueries are sent. Returns 0 if the subqueries cost less. */
function topOf({ subqueries, instances }: PlanSize, { context: { engine, operation } }: ListRequest): number {
  const isSlow = (observationsOf(engine).topTimes.get(operation.id) ?? 0) > INSTANCE_READ_MS * instances
  if (subqueries + (isSlow ? 0 : instances) <= MAX_PARALLEL_READS) return 0
  return Math.min(Math.max(STEP_ITEMS, (subqueries + instances) * FIRST_READ_ITEMS), MAX_READ_ITEMS)
}

/**
 * Returns whether reading the items of a short list may be cheaper than the requests of its plan. A condition on other members than
 * definitions and instances, for example on a value, may find few items.
 */
function mayBeFew(listRequest: ListRequest, planned: PlannedReading): boolean {
  const { engine, operation } = listRequest.context
  const query = prefilterOf(operation.items?.prefilter)
  const takesSeveral = query !== null && (query.by !== 'keys' || query.nullGroup !== undefined)
  const known = observationsOf(engine).longCounts.get(queryTextOf(listRequest)) ?? 0
  return takesSeveral && isOfAll(planned.planContext.own) && known <= mostFew(planned)
}

/** Counts a short list by reading its items. Returns null if the list is long. */
async function countFew(listRequest: ListRequest, planned: PlannedReading): Promise<BufferedResponse | null> {
  const response = await readWhole(listRequest)
  if (response.status !== 200) return response
  const count = bodyValue(jsonIn(response.body), 'count')
  if (typeof count === 'number' && count <= mostFew(planned)) {
    planned.onPlan?.('scan')
    return answerFiltered(listRequest, planned)
  }
  if (typeof count === 'number')
    observationsOf(listRequest.context.engine).longCounts.set(queryTextOf(listRequest), count)
  return null
}

/** Returns the largest number of items that are read for a count. A plan that reads the ids of instances costs more than other plans. */
function mostFew({ planContext, limits }: PlannedReading): number {
  return Math.min(readsInstances(planContext) ? MAX_READ_ITEMS : FEW_ITEMS, limits.scannedItems)
}

/**
 * Returns a page near the top of the list, which is read from the top while most items are visible. Returns null if this takes more
 * than `limit` items, or if the engine refuses the query.
 */
async function answerTop(
  listRequest: ListRequest,
  { postfilter, paging: { first, max }, onPlan, limits }: PlannedReading,
  limit: number,
): Promise<BufferedResponse | null> {
  const most = Math.min(limit, limits.scannedItems)
  if (Math.max(FIRST_READ_ITEMS, first) > most) return null
  const list = new StableScan((from, size) =>
    readAcceptedPage(listRequest, { postfilter, form: 'list', page: { from, size } }),
  )
  const shown: PageItem[] = []
  const { engine, operation } = listRequest.context
  const startMs = performance.now()
  let [seen, count, size] = [0, 0, FIRST_READ_ITEMS]
  for (let reads = 1; reads <= MAX_SEARCH_READS && count + size <= most; reads += 1) {
    const read = await list.next(size).catch(nullIfRefused)
    if (read === null) return null
    const { page, items, isLast } = read
    if (count === 0) observationsOf(engine).topTimes.set(operation.id, performance.now() - startMs)
    const visible = items.filter(({ isVisible }) => isVisible)
    // Items before the page are not kept.
    shown.push(...visible.slice(Math.max(0, first - seen)))
    seen += visible.length
    count += items.length
    const left = first + max - seen
    if (left <= 0 || isLast) {
      onPlan?.('scan')
      return responseOf('list', shown.slice(0, max), page.response)
    }
    // Visible items may be clustered, so the share of the last read predicts the size of the next.
    size = MIN_READ_ITEMS + Math.ceil(((1 + SPARE_SHARE) * left * items.length) / visible.length)
  }
  return null
}

async function answerFiltered(
  listRequest: ListRequest,
  { paging, ...filtering }: ListReading,
): Promise<BufferedResponse> {
  const { operation } = listRequest.context
  const form = operation.items?.form ?? 'list'
  const { first, max } = form === 'list' ? paging : { first: 0, max: Number.POSITIVE_INFINITY }
  const member = form === 'topic names' ? 'topicName' : undefined
  const read = await readVisible(listRequest, filtering, { form, member, first, wanted: first + max })
  if (read.seen === null) return read.response
  return responseOf(form, read.seen.slice(paging.first, paging.first + paging.max), read.response)
}

const ALL: Paging = { first: 0, max: Number.MAX_SAFE_INTEGER }

/** Returns the engine's error for a query that it refuses. A successful response is not sent, because its items were not decided. */
async function answerRefused(listRequest: ListRequest): Promise<BufferedResponse> {
  const response = await readWhole(listRequest)
  if (response.status >= 400) return response
  throw new GatewayError('GW_ITEMS_NOT_EXACT')
}

/** Returns the response to a query that finds nothing. */
export function emptyResponseOf(operation: Operation, method: string): BufferedResponse {
  const { items } = operation
  const empty =
    items?.form === 'count' ? { count: 0 } : items?.form === 'groups' ? { groups: [], groupUsers: [] } : []
  const marks = {
    ...(method === 'GET' && { 'cache-control': 'no-cache' }),
    ...(hasHal(operation) && { vary: 'Accept' }),
  }
  return { status: 200, headers: { ...marks, 'content-type': 'application/json' }, body: json(empty) }
}

/** Returns the response of a count. The headers are those of the list, whose form depends on `Accept`. */
function countResponse({ headers, ...response }: BufferedResponse, count: number): BufferedResponse {
  const { vary, ...others } = headers
  return {
    ...response,
    headers: vary === undefined || vary === 'Accept' ? others : headers,
    body: json({ count }),
  }
}

function responseOf(
  form: ResponseForm | 'list',
  seen: readonly PageItem[],
  response: BufferedResponse,
): BufferedResponse {
  if (form === 'count') return countResponse(response, seen.length)
  if (form === 'topic names') {
    const names = new Set(seen.map(({ item }) => String(item['topicName'])))
    return { ...response, body: json([...names].sort((one, other) => (one < other ? -1 : 1))) }
  }
  if (form !== 'single') return { ...response, body: joinItems(seen.map(({ bytes }) => bytes)) }
  const [only] = seen
  if (only === undefined) {
    const { 'content-type': _, ...headers } = response.headers
    return { status: 204, headers, body: Buffer.alloc(0) }
  }
  if (seen.length === 1) return { ...response, body: only.bytes }
  const body = {
    type: 'InvalidRequestException',
    message: 'Filter does not returns a valid single result',
    code: 0,
  }
  return { ...response, status: 400, body: json(body) }
}
