import type { PostForm } from '../../operations/prefilters.ts'
import type { BufferedResponse } from '../../request/buffered-response.ts'
import { countIn, jsonIn } from '../../request/engine-request.ts'
import { PAGING } from '../../request/paging.ts'
import type { Subquery } from '../list-plan.ts'
import type { ListRequest } from '../list-request.ts'
import { STEP_ITEMS } from '../limits.ts'
import { ListRefusal, nullIfRefused, readWhole } from '../postfilter/visible-items.ts'
import { mapSideBySide } from '../side-by-side.ts'
import { observationsOf, queryTextOf } from './list-observations.ts'
import type { SizesAge, SizeSource } from './merged-items.ts'
import type { Sizes } from './seek-page.ts'
import { subqueryRequestOf } from './subquery-request.ts'

interface SizeSourceInput {
  readonly subqueries: readonly Subquery[]
  readonly postForm: PostForm | null
  /** Number of items before the page. */
  readonly first: number
}

/** The sizes of the lists that a page is merged from. */
export interface SubquerySizes {
  /** Counts the subqueries before the other items are known. */
  readonly prepare: () => Promise<void>
  /** @param otherSize the number of items that are already read, and are merged with the subqueries */
  readonly withOthers: (otherSize: number) => SizeSource
}

export function createSubquerySizes(listRequest: ListRequest, input: SizeSourceInput): SubquerySizes {
  const { subqueries, postForm, first } = input
  const counts = subqueries.map((subquery) => countRequestOf(listRequest, subquery, postForm))
  const { unevenPages } = observationsOf(listRequest.context.engine)
  // Pages near each other share a key, and the first two of many subqueries are enough to distinguish callers.
  const page = [Math.round(4 * Math.log2(first)), counts.length, ...counts.slice(0, 2).map(queryTextOf)].join(
    ' ',
  )
  let prepared: Sizes | null = null
  const sizesOf = async (age: SizesAge): Promise<Sizes | null> =>
    unevenPages.has(page) ? null : (estimatedSizes(subqueries) ?? (await countedSizes(counts, age)))
  return {
    prepare: async () => void (prepared = await sizesOf('recent')),
    withOthers: (otherSize) => ({
      counts: async (age) => {
        const sized = age === 'recent' && prepared !== null ? prepared : await sizesOf(age)
        // Items that are already read may be anywhere in the order. They are skipped one by one, unless there are many.
        return sized === null || sized.isEstimate || otherSize <= STEP_ITEMS
          ? sized
          : { ...sized, sizes: [...sized.sizes, otherSize] }
      },
      onUneven: () => unevenPages.set(page, true),
    }),
  }
}

/** Returns the request that counts a subquery of a list. */
function countRequestOf(
  listRequest: ListRequest,
  subquery: Subquery,
  postForm: PostForm | null,
): ListRequest {
  const { context, upstreamRequest } = subqueryRequestOf(listRequest, subquery, countedBy(postForm))
  const [list = '', query] = upstreamRequest.path.split('?')
  const search = new URLSearchParams(query)
  for (const name of PAGING) search.delete(name)
  return { context, upstreamRequest: { ...upstreamRequest, path: `${list}/count?${search}` } }
}

/** Returns how subqueries that are listed in this way are counted: by GET if the POST has no count. */
export function countedBy(postForm: PostForm | null): PostForm | null {
  return postForm?.counts === false ? null : postForm
}

/** Returns sizes that are proportional to the estimated shares. Null if a subquery has no share. */
function estimatedSizes(subqueries: readonly Subquery[]): Sizes | null {
  const sizes = subqueries.flatMap(({ estimatedShare }) => estimatedShare ?? [])
  return sizes.length === subqueries.length ? { sizes, isEstimate: true, isRecent: false } : null
}

/** Returns the current or recent sizes. Null if the engine does not count the subqueries. */
async function countedSizes(counts: readonly ListRequest[], age: SizesAge): Promise<Sizes | null> {
  const counted = await mapSideBySide(counts, (request) => sizeOf(request, age)).catch(nullIfRefused)
  if (counted === null) return null
  const isRecent = counted.some((one) => one.isRecent)
  return { sizes: counted.map(({ size }) => size), isEstimate: false, isRecent }
}

/** Returns the number of items of a query. A query that had no items is always counted again, because a subquery without items is not read. */
export async function sizeOf(countRequest: ListRequest, age: SizesAge) {
  const { sizes } = observationsOf(countRequest.context.engine)
  const query = queryTextOf(countRequest)
  const known = age === 'recent' ? sizes.get(query) : undefined
  if (known !== undefined && known > 0) return { size: known, isRecent: true }
  const { count } = await readCount(countRequest)
  sizes.set(query, count)
  return { size: count, isRecent: false }
}

interface CountResult {
  readonly count: number
  readonly response: BufferedResponse
}

/**
 * Counts the items of a query.
 * @throws ListRefusal; GatewayError GW_UPSTREAM_INVALID if the response is not a count
 */
export async function readCount(countRequest: ListRequest): Promise<CountResult> {
  countRequest.context.accessRequest.checkDeadline?.()
  const response = await readWhole(countRequest)
  if (response.status !== 200) throw new ListRefusal(response)
  return { count: countIn(jsonIn(response.body)), response }
}
