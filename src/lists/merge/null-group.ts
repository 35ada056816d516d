import type { Postfilter } from '../item-decision.ts'
import type { Subquery, NullGroup } from '../list-plan.ts'
import type { ListRequest } from '../list-request.ts'
import { findEnd } from './find-end.ts'
import { observationsOf, queryTextOf } from './list-observations.ts'
import { createReader, type ReaderOptions, subqueryRequestOf } from './subquery-request.ts'
import type { PageItem } from '../postfilter/stable-scan.ts'
import { passAll } from '../postfilter/visible-items.ts'
import { mapSideBySide } from '../side-by-side.ts'
import { FEW_ITEMS, FIRST_READ_ITEMS, STEP_ITEMS } from '../limits.ts'

/** Items that every caller sees because they lack a member. If the list is sorted by this member, they are together at one end of it. */
export interface NullGroupReading extends Omit<ReaderOptions, 'postForm'> {
  readonly nullGroup: NullGroup
  /** Maximum number of these items that are read. */
  readonly maxItems: number
}

/** Returns how many of them there are. Null if they must be decided one by one and are too many. */
export async function countNullGroup(
  listRequest: ListRequest,
  reading: NullGroupReading,
): Promise<number | null> {
  const { nullGroup } = reading
  if (nullGroup.isCrossTenant) return (await readNullGroup(listRequest, reading))?.length ?? null
  const counts = await mapSideBySide(nullGroup.sorted, (orders) => countFirst(listRequest, reading, orders))
  return counts.reduce((sum, one) => sum + one, 0)
}

/** Counts the items that lack the member. They come first in one of the orders. */
async function countFirst(
  listRequest: ListRequest,
  reading: NullGroupReading,
  orders: readonly Subquery[],
): Promise<number> {
  for (const subquery of orders) {
    const counted = { ...reading, postfilter: passAll }
    const lackingFrom = async (from: number, size: number) =>
      (await readLacking(listRequest, subquery, counted, { from, size })).count
    const recent = recentCount(listRequest, subquery)
    const size = recent.count < FIRST_READ_ITEMS ? FIRST_READ_ITEMS : FEW_ITEMS
    // The first read begins at the top: in the other order, these items are at the end of the list.
    const few = await lackingFrom(0, size)
    const likely = Math.max(size, recent.count - FEW_ITEMS / 2)
    const count = few < size ? few : await findEnd(lackingFrom, { known: size, likely, size: FEW_ITEMS })
    recent.set(count)
    if (count > 0) return count
  }
  return 0
}

/** Returns the visible items in no particular order. Null if there are too many. */
export async function readNullGroup(
  listRequest: ListRequest,
  reading: NullGroupReading,
): Promise<readonly PageItem[] | null> {
  const { sorted } = reading.nullGroup
  const lists = await mapSideBySide(sorted, (orders) => readFirst(listRequest, reading, orders))
  const items: PageItem[] = []
  for (const list of lists) {
    if (list === null) return null
    items.push(...list)
  }
  return items.length > reading.maxItems ? null : items
}

async function readFirst(
  listRequest: ListRequest,
  reading: NullGroupReading,
  orders: readonly Subquery[],
): Promise<readonly PageItem[] | null> {
  const { maxItems } = reading
  for (const subquery of orders) {
    const recent = recentCount(listRequest, subquery)
    // All of them come from one read: items of equal value may change their places between two reads.
    for (const size of [FIRST_READ_ITEMS, FEW_ITEMS, STEP_ITEMS, maxItems + 1]) {
      if (size <= Math.min(recent.count, maxItems)) continue
      const { count, visible } = await readLacking(listRequest, subquery, reading, { from: 0, size })
      if (count < size) recent.set(count)
      if (count === 0) break
      if (count < size) return visible
      if (size > maxItems) return null
    }
  }
  return []
}

/** How many of these items a read has found within a minute, so that the next read is long enough. 0 if none has. */
function recentCount(listRequest: ListRequest, subquery: Subquery) {
  const { sizes } = observationsOf(listRequest.context.engine)
  const query = `null group ${queryTextOf(subqueryRequestOf(listRequest, subquery, null))}`
  return { count: sizes.get(query) ?? 0, set: (count: number) => void sizes.set(query, count) }
}

/**
 * Reads the items of a page before the first item that has the member, and decides only these. In the other order, some of them may
 * be at the end of the page.
 */
async function readLacking(
  listRequest: ListRequest,
  subquery: Subquery,
  reading: NullGroupReading,
  { from, size }: { readonly from: number; readonly size: number },
): Promise<{ readonly count: number; readonly visible: readonly PageItem[] }> {
  let count = 0
  let hasEnded = false
  const postfilter: Postfilter = async (template, items) => {
    const end = items.findIndex((item) => typeof item[reading.nullGroup.member] === 'string')
    const lacking = hasEnded ? [] : end < 0 ? items : items.slice(0, end)
    hasEnded ||= end >= 0
    count += lacking.length
    const visible = await reading.postfilter(template, lacking)
    return items.map((_, at) => visible[at] === true)
  }
  const read = createReader(listRequest, subquery, { ...reading, postForm: null, postfilter })
  const { items } = await read(from, size)
  return { count, visible: items.filter(({ isVisible }) => isVisible) }
}
