import { GatewayError } from '../../errors.ts'
import type { ListRequest } from '../list-request.ts'
import type { Postfilter } from '../item-decision.ts'
import type { SubqueryPlan, Subquery } from '../list-plan.ts'
import type { BufferedResponse } from '../../request/buffered-response.ts'
import { joinItems } from '../../request/json-items.ts'
import type { Paging } from '../../request/paging.ts'
import {
  createReader,
  type FirstResponse,
  type ReaderOptions,
  subqueryRequestOf,
} from './subquery-request.ts'
import { findEnd } from './find-end.ts'
import { isFarDown, MergedItems } from './merged-items.ts'
import { readSorted } from './subquery-reader.ts'
import { countedBy, createSubquerySizes, readCount, sizeOf } from './subquery-sizes.ts'
import { countNullGroup, readNullGroup } from './null-group.ts'
import { mapSideBySide } from '../side-by-side.ts'
import type { PageItem } from '../postfilter/stable-scan.ts'
import { json, passAll, readAcceptedPage } from '../postfilter/visible-items.ts'
import { FEW_ITEMS, MAX_PARALLEL_READS, SPARE_SHARE, STEP_ITEMS, type ListLimits } from '../limits.ts'

/** A fact from which the plan was made is no longer true. */
export class OutdatedPlanError extends Error {}

/**
 * Counts each subquery. Returns null if too many items must be decided one by one.
 * @throws ListRefusal, OutdatedPlanError
 */
export async function countSubqueries(
  listRequest: ListRequest,
  listing: Omit<SubqueryListInput, 'paging'>,
): Promise<BufferedResponse | null> {
  const { plan, postfilter, limits } = listing
  const { subqueries, instances, excluded, nullGroup, postForm, isCurrent } = plan
  const firstResponse: FirstResponse = {}
  const countSubquery = createSubqueryCount(listRequest, { postForm, firstResponse })
  // Items may be added or removed between two counts.
  const responseOf = (count: number) => withBody(firstResponse, json({ count: Math.max(0, count) }))
  const isMany = nullGroup !== null && !nullGroup.isCrossTenant && subqueries.length > MAX_PARALLEL_READS
  if (
    isMany &&
    (await recentSum(listRequest, nullGroup.all, postForm)) <= Math.min(FEW_ITEMS, limits.scannedItems)
  ) {
    const few = {
      plan: { ...plan, subqueries: nullGroup.all, instances: [], nullGroup: null },
      postfilter,
      limits,
      firstResponse,
    }
    return responseOf((await readItems(listRequest, few, Number.POSITIVE_INFINITY)).length)
  }
  const reading = { postfilter, maxItems: limits.scannedItems, idsOnly: true, firstResponse }
  const added = [...subqueries, ...instances].map((subquery) => () => countSubquery(subquery))
  const subtracted = excluded.map((subquery) => async () => -(await countSubquery(subquery)))
  const ofNullGroup = nullGroup === null ? [] : [() => countNullGroup(listRequest, { ...reading, nullGroup })]
  const ofPlan = isCurrent === undefined ? [] : [() => checkPlan(isCurrent)]
  // The check and the null group take several requests, one after another, so they begin first.
  const all = [...ofPlan, ...ofNullGroup, ...added, ...subtracted]
  const counts = await mapSideBySide(all, (count) => count())
  return counts.includes(null) ? null : responseOf(counts.reduce<number>((sum, one) => sum + (one ?? 0), 0))
}

/** Returns 0, the number of items that the check adds. */
async function checkPlan(isCurrent: () => Promise<boolean>): Promise<number> {
  if (await isCurrent()) return 0
  throw new OutdatedPlanError()
}

/** Returns about how many items the subqueries have. They may have been counted a minute ago. */
async function recentSum(
  listRequest: ListRequest,
  subqueries: readonly Subquery[],
  postForm: ReaderOptions['postForm'],
): Promise<number> {
  const sizes = await mapSideBySide(subqueries, (subquery) =>
    sizeOf(subqueryRequestOf(listRequest, subquery, countedBy(postForm)), 'recent'),
  )
  return sizes.reduce((sum, { size }) => sum + size, 0)
}

/**
 * Returns a function that counts a subquery. If its list does not fit into a GET, and the POST has no count, the function searches
 * for the end of the list.
 */
function createSubqueryCount(
  listRequest: ListRequest,
  { postForm, firstResponse }: Pick<ReaderOptions, 'postForm'> & { readonly firstResponse: FirstResponse },
): (subquery: Subquery) => Promise<number> {
  /** Items for one unit of the estimated share, from the subquery that was counted last. */
  let itemsOfOne = 0
  return async (subquery) => {
    const { estimatedShare } = subquery
    if (estimatedShare === undefined || postForm?.counts !== false) {
      const { count, response } = await readCount(
        subqueryRequestOf(listRequest, subquery, countedBy(postForm)),
      )
      firstResponse.head ??= { status: response.status, headers: response.headers }
      return count
    }
    const read = createReader(listRequest, subquery, {
      postForm,
      postfilter: passAll,
      idsOnly: true,
      firstResponse,
    })
    const lengthAt = async (from: number, size: number) => (await read(from, size)).items.length
    const likely = Math.floor((1 - SPARE_SHARE) * itemsOfOne * estimatedShare)
    const length = await findEnd(lengthAt, { known: 0, likely, size: STEP_ITEMS })
    itemsOfOne = length / estimatedShare
    return length
  }
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
 * @throws ListRefusal, UnknownOrderError; GatewayError GW_ITEMS_NOT_EXACT
 */
export async function listSubqueries(
  listRequest: ListRequest,
  listing: SubqueryListInput,
): Promise<BufferedResponse | null> {
  const { plan, postfilter, paging } = listing
  const [only, ...others] = [...plan.subqueries, ...plan.instances]
  const isSingle = others.length === 0 && plan.nullGroup === null
  if (isSingle && only !== undefined && (plan.isExact || paging.first === 0)) {
    const { constants } = only
    const subqueryRequest = subqueryRequestOf(listRequest, only, plan.postForm)
    const { response, items } = await readAcceptedPage(subqueryRequest, {
      postfilter,
      form: 'list',
      constants,
      page: null,
    })
    // The engine's first page is also the caller's if all items on it are visible.
    if (items.every(({ isVisible }) => isVisible)) return response
  }
  return isSingle || plan.order !== null ? listMerged(listRequest, listing) : null
}

async function listMerged(
  listRequest: ListRequest,
  { plan, postfilter, paging, limits: { scannedItems: maxItems } }: SubqueryListInput,
): Promise<BufferedResponse | null> {
  const { nullGroup, order, postForm } = plan
  const subqueries = [...plan.subqueries, ...plan.instances]
  const firstResponse: FirstResponse = {}
  const reading = { postForm, postfilter, member: order?.member, firstResponse }
  const sizes = plan.isExact
    ? createSubquerySizes(listRequest, { subqueries, postForm, first: paging.first })
    : null
  const isFar = order !== null && isFarDown(paging.first, subqueries.length + 1)
  // The counts do not need the null group, so they need not wait for it.
  const [others] =
    nullGroup === null
      ? [[]]
      : await Promise.all([
          readNullGroup(listRequest, { ...reading, nullGroup, maxItems }),
          isFar ? sizes?.prepare() : undefined,
        ])
  if (others === null) return null
  const readers = subqueries.map((subquery) => createReader(listRequest, subquery, reading))
  if (order !== null && others.length > 0) readers.push(readSorted(others, order))
  const merged = new MergedItems(readers, { order: readers.length > 1 ? order : null, maxHidden: maxItems })
  const items = await merged.page({
    ...paging,
    ...(sizes !== null && { sizing: () => sizes.withOthers(others.length) }),
  })
  return withBody(firstResponse, joinItems(items.map(({ bytes }) => bytes)))
}

/**
 * Returns the visible items of all subqueries, one subquery after another. Each item has only its id and `member`.
 * @throws ListRefusal; GatewayError GW_ITEMS_NOT_EXACT if too many items are left out
 */
export async function readItems(
  listRequest: ListRequest,
  {
    plan,
    postfilter,
    limits: { scannedItems: maxItems },
    member,
    firstResponse,
  }: Omit<SubqueryListInput, 'paging'> & Pick<ReaderOptions, 'member' | 'firstResponse'>,
  wanted: number,
): Promise<readonly PageItem[]> {
  const { nullGroup, postForm } = plan
  const reading = { postForm, postfilter, member, idsOnly: true, firstResponse }
  const others =
    nullGroup === null ? [] : await readNullGroup(listRequest, { ...reading, nullGroup, maxItems })
  if (others === null) throw new GatewayError('GW_ITEMS_NOT_EXACT')
  const readers = [...plan.subqueries, ...plan.instances].map((subquery) =>
    createReader(listRequest, subquery, reading),
  )
  const merged = new MergedItems(readers, { order: null, maxHidden: maxItems })
  const items = await merged.page({ first: 0, max: Math.max(0, wanted - others.length) })
  return [...others.slice(0, wanted), ...items]
}

/** Returns null if there was no response. */
function withBody({ head }: FirstResponse, body: Buffer): BufferedResponse | null {
  return head === undefined ? null : { ...head, body }
}
