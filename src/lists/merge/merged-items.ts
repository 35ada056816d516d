import { GatewayError } from '../../errors.ts'
import type { ListOrder } from '../list-plan.ts'
import { MAX_READ_BYTES } from '../../request/buffered-response.ts'
import { SubqueryReader, type PlacedItem } from './subquery-reader.ts'
import { startAll } from './reader-positions.ts'
import { scanPage } from './scan-page.ts'
import { seekPage, type Sizes } from './seek-page.ts'
import { mapSideBySide } from '../side-by-side.ts'
import type { ReadList, PageItem } from '../postfilter/stable-scan.ts'
import { FIRST_READ_ITEMS, MAX_READ_ITEMS, MIN_READ_ITEMS, STEP_ITEMS } from '../limits.ts'

/** `recent`: sizes that were counted some seconds ago are sufficient. */
export type SizesAge = 'recent' | 'now'

interface MergeOptions {
  /** Null if the subqueries are read one after another, each in the order of the engine. */
  readonly order: ListOrder | null
  /** Maximum number of hidden items that are left out. */
  readonly maxHidden: number
}

interface MergedPageRequest {
  readonly first: number
  readonly max: number
  /** Returns the sizes for a page far down the list. Present if every item of the subqueries is visible. */
  readonly sizing?: () => SizeSource
}

export interface SizeSource {
  /** Returns the sizes of the subqueries. Null if they cannot be determined, or do not help. */
  readonly counts: (age: SizesAge) => Promise<Sizes | null>
  /** Called if the start of a page does not follow from the sizes. */
  readonly onUneven?: () => void
}

/**
 * The visible items of several sorted subqueries, merged in their order. Items of equal value stay in the order of their
 * subqueries, so that successive pages neither repeat an item nor lose one.
 */
export class MergedItems {
  readonly #readers: readonly SubqueryReader[]
  readonly #isMerged: boolean
  /** The subqueries that are merged with each other. The groups are read one after another. */
  readonly #groups: readonly (readonly SubqueryReader[])[]

  constructor(subqueries: readonly ReadList[], { order, maxHidden }: MergeOptions) {
    const hiddenBudget = { left: maxHidden }
    this.#isMerged = order !== null
    this.#readers = subqueries.map((read) => new SubqueryReader({ read, order, hiddenBudget }))
    this.#groups = this.#isMerged ? [this.#readers] : this.#readers.map((reader) => [reader])
  }

  /**
   * Returns the items of one page. For a page far down the list, the items before it are counted instead of read.
   * @throws UnknownOrderError; GatewayError GW_ITEMS_NOT_EXACT if too many items are left out, or the page is too long
   */
  async page({ first, max, sizing }: MergedPageRequest): Promise<readonly PageItem[]> {
    const isFar = this.#isMerged && isFarDown(first, this.#readers.length)
    const before = isFar && sizing !== undefined ? await this.#seek({ first, max, ...sizing() }) : 0
    return this.#take(first - before, max)
  }

  /** Moves the readers to the page. Returns how many items are before the readers. */
  async #seek({
    first,
    max,
    counts,
    onUneven,
  }: Omit<MergedPageRequest, 'sizing'> & SizeSource): Promise<number> {
    let sizes = await counts('recent')
    for (; sizes !== null; sizes = sizes.isRecent ? await counts('now') : null) {
      const before = await seekPage(this.#readers, { ...sizes, first, max })
      if (before !== null) return before
      if (!sizes.isRecent) onUneven?.()
    }
    return (await scanPage(this.#readers, { first, max })) ?? startAll(this.#readers, [])
  }

  /** Returns the next `max` items after those that are skipped. It reads from each subquery only as much as that takes. */
  async #take(skipped: number, max: number): Promise<readonly PageItem[]> {
    const most = Math.max(
      MIN_READ_ITEMS,
      Math.floor((MAX_READ_ITEMS * this.#groups.length) / this.#readers.length),
    )
    for (const reader of this.#readers) reader.expect((skipped + max) / this.#readers.length, most)
    const taken: PageItem[] = []
    let [count, length] = [0, 0]
    let last: PageItem | null = null
    for (const readers of this.#groups) {
      if (count >= skipped + max) break
      await mapSideBySide(readers, (reader) => reader.head())
      for (let next = leastOf(readers); next !== null && count < skipped + max; next = leastOf(readers)) {
        const item = next.take()
        if (item !== null && !isSame(item, last)) {
          last = item
          count += 1
          if (count > skipped) {
            taken.push(item)
            length += item.bytes.length
          }
          if (length > MAX_READ_BYTES) throw new GatewayError('GW_ITEMS_NOT_EXACT')
        }
        // Most items are already in memory.
        if (next.held === null && count < skipped + max) await next.head()
      }
    }
    return taken
  }
}

/** Returns whether the items before a page of this number of merged subqueries are counted instead of read. */
export function isFarDown(first: number, subqueries: number): boolean {
  return first > Math.min(STEP_ITEMS, FIRST_READ_ITEMS * subqueries)
}

/** Returns whether two successive items are one. An item that has moved from one subquery to another meanwhile is in both. */
function isSame({ item: { id } }: PageItem, last: PageItem | null): boolean {
  return typeof id === 'string' && id === last?.item['id']
}

/** Returns the reader whose current item comes first. Null if no reader has an item. */
function leastOf(readers: readonly SubqueryReader[]): SubqueryReader | null {
  let first: SubqueryReader | null = null
  let least: PlacedItem | null = null
  for (const reader of readers) {
    const item = reader.held
    if (item === null || (least !== null && reader.compare(least, item) <= 0)) continue
    first = reader
    least = item
  }
  return first
}
