import { GatewayError } from '../../errors.ts'
import type { ListOrder } from '../list-plan.ts'
import type { MaybePromise } from '../../request/maybe-promise.ts'
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
  /** Prepares the sizes for a page far down the list. Present if every item of the subqueries is visible. */
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

  constructor(subqueries: readonly ReadList[], { order, maxHidden }: MergeOptions) {
    let left = maxHidden
    const onHidden = (count: number): void => {
      left -= count
      if (left < 0) throw new GatewayError('GW_ROWS_NOT_EXACT')
    }
    this.#isMerged = order !== null
    this.#readers = subqueries.map((read) => new SubqueryReader({ read, order, onHidden }))
  }

  /**
   * Yields the items of one page. For a page far down the list, the items before it are counted instead of read.
   * @throws as `upTo`
   */
  async *page({ first, max, sizing }: MergedPageRequest): AsyncGenerator<PageItem> {
    const isFar = this.#isMerged && first > Math.min(STEP_ITEMS, FIRST_READ_ITEMS * this.#readers.length)
    let at = isFar && sizing !== undefined ? await this.#seek({ first, max, ...sizing() }) : 0
    for await (const item of this.upTo(first + max - at)) {
      at += 1
      if (at > first) yield item
    }
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

  /**
   * Yields the first `wanted` items. It reads from each subquery only as much as that takes.
   * @throws UnknownOrderError; GatewayError GW_ROWS_NOT_EXACT if too many items are left out
   */
  async *upTo(wanted: number): AsyncGenerator<PageItem> {
    const pages = this.#isMerged ? this.#readers.length : 1
    const most = Math.max(MIN_READ_ITEMS, Math.floor(MAX_READ_ITEMS / pages))
    for (const reader of this.#readers) reader.expect(wanted / this.#readers.length, most)
    if (this.#isMerged) await mapSideBySide(this.#readers, (reader) => reader.head())
    let last: unknown
    let reader: SubqueryReader | null = null
    for (let count = 0; count < wanted; ) {
      const next: MaybePromise<SubqueryReader | null> = this.#next(reader)
      reader = next instanceof Promise ? await next : next
      const held = reader?.held ?? null
      if (held === null) return
      reader?.take()
      // An item that has moved from one subquery to another meanwhile is in both.
      if (typeof held.item['id'] === 'string' && held.item['id'] === last) continue
      last = held.item['id']
      count += 1
      yield held
    }
  }

  /** Returns the reader of the next item. It waits only if all items that were read from a subquery are taken: most items are already in memory. */
  #next(current: SubqueryReader | null): MaybePromise<SubqueryReader | null> {
    if (!this.#isMerged) return current?.held ? current : this.#firstLeft()
    return current?.held === null ? current.head().then(() => this.#least()) : this.#least()
  }

  /** Returns the reader whose current item comes first. */
  #least(): SubqueryReader | null {
    let first: SubqueryReader | null = null
    let least: PlacedItem | null = null
    for (const reader of this.#readers) {
      const item = reader.held
      if (item === null || (least !== null && reader.compare(least, item) <= 0)) continue
      first = reader
      least = item
    }
    return first
  }

  async #firstLeft(): Promise<SubqueryReader | null> {
    for (const reader of this.#readers) if ((await reader.head()) !== null) return reader
    return null
  }
}
