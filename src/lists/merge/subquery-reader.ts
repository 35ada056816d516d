import { GatewayError } from '../../errors.ts'
import type { ListItem } from '../../policy/authz/entities/look-ups.ts'
import type { ListOrder } from '../list-plan.ts'
import { type ListPage, type ReadList, type PageItem, StableScan } from '../postfilter/stable-scan.ts'
import { MAX_READ_ITEMS, MIN_READ_ITEMS, READ_BYTES } from '../limits.ts'

/** The items of several subqueries cannot be merged in the engine's order. */
export class UnknownOrderError extends Error {}

/** An item with its place in the order. */
export interface PlacedItem extends PageItem, ItemPlace {}

export interface ItemPlace {
  readonly value: string | number
}

/**
 * Returns items that are already read in the form of a subquery.
 * @throws UnknownOrderError
 */
export function readSorted(items: readonly PageItem[], order: ListOrder): ReadList {
  const placed = items.map((read) => ({ ...read, value: valueOf(read.item, order) }))
  const sorted = placed.toSorted(comparisonOf(order))
  return async (from, size) => ({ items: sorted.slice(from, from + size) })
}

interface SubqueryReaderOptions {
  readonly read: ReadList
  readonly order: ListOrder | null
  /** How many more items of all subqueries together may be left out. */
  readonly hiddenBudget: { left: number }
}

interface SkipResult {
  readonly count: number
  readonly isAll: boolean
}

/** Reads one subquery, page by page. */
export class SubqueryReader {
  readonly compare: Comparison
  readonly #reading: SubqueryReaderOptions
  #list: StableScan
  #items: readonly PlacedItem[] = []
  #next = 0
  #last: ItemPlace | null = null
  #size = MIN_READ_ITEMS
  #most = MAX_READ_ITEMS
  #isRead = false
  #hidden = 0

  constructor(reading: SubqueryReaderOptions) {
    this.compare = comparisonOf(reading.order)
    this.#reading = reading
    this.#list = new StableScan(reading.read)
  }

  /** Sets how many items of the subquery are likely to be taken, and how many are read at once at most. */
  expect(count: number, most: number): void {
    this.#most = Math.min(most, MAX_READ_ITEMS)
    this.#size = Math.min(Math.max(Math.ceil(count) + 1, MIN_READ_ITEMS), this.#most)
  }

  /** Restarts at a position of the subquery. */
  startAt(from: number): void {
    this.#list = new StableScan(this.#reading.read, from)
    this.#hold([])
    this.#last = null
    this.#isRead = false
  }

  /** Marks the subquery as read. It was counted and has no item. */
  finish(): void {
    this.#isRead = true
  }

  /** Skips the items before a place, as far as one read gives them. `isAll` is true if all items before the place are skipped. */
  async passOver(isBefore: (place: ItemPlace) => boolean): Promise<SkipResult> {
    let count = 0
    for (let item = await this.head(); item !== null && isBefore(item); item = this.held) {
      this.take()
      count += 1
    }
    return { count, isAll: this.#next < this.#items.length || this.#isRead }
  }

  /** Skips the items of one read and returns their places. Returns no places at the end of the subquery. */
  async passPage(): Promise<readonly ItemPlace[]> {
    while (this.held === null && !this.#isRead) await this.#read(true)
    const places = this.#items.slice(this.#next).map(({ value }) => ({ value }))
    this.#hold([])
    return places
  }

  /** The next item that is already read. Null if all of them are taken. */
  get held(): PlacedItem | null {
    return this.#items[this.#next] ?? null
  }

  /** Returns the next item, or null at the end. */
  async head(): Promise<PlacedItem | null> {
    while (this.held === null && !this.#isRead) await this.#read()
    return this.held
  }

  /** Takes the next item that is already read. A page whose items are all taken is released before the next page is read. */
  take(): PlacedItem | null {
    const item = this.held
    this.#next += 1
    if (this.#next >= this.#items.length) this.#hold([])
    return item
  }

  /** Number of items of the subquery that were left out. */
  get hidden(): number {
    return this.#hidden
  }

  async #read(idsOnly = false): Promise<void> {
    const { order, hiddenBudget } = this.#reading
    const last = this.#last
    const { page, items, isLast, hasMoved } = await this.#list.next(this.#size, idsOnly)
    const seen = items.filter(({ isVisible }) => isVisible)
    this.#hidden += items.length - seen.length
    hiddenBudget.left -= items.length - seen.length
    if (hiddenBudget.left < 0) throw new GatewayError('GW_ITEMS_NOT_EXACT')
    const placed = seen.map((read) => ({ ...read, value: order === null ? 0 : valueOf(read.item, order) }))
    // An item that was inserted before the last item is not in order any more, so it is left out.
    this.#hold(hasMoved && last !== null ? placed.filter((item) => this.compare(last, item) <= 0) : placed)
    checkOrder(last, this.#items, this.compare)
    this.#isRead = isLast
    this.#size = Math.min(this.#size * 2, Math.max(MIN_READ_ITEMS, mostOf(page, this.#most)))
  }

  #hold(items: readonly PlacedItem[]): void {
    const last = items.at(-1)
    if (last !== undefined) this.#last = { value: last.value }
    this.#items = items
    this.#next = 0
  }
}

/**
 * Checks that the items are in the known order. A database may have another order, and such subqueries are not merged.
 * @throws UnknownOrderError
 */
function checkOrder(last: ItemPlace | null, items: readonly ItemPlace[], compare: Comparison): void {
  let before = last
  for (const item of items) {
    if (before !== null && compare(before, item) > 0) throw new UnknownOrderError()
    before = item
  }
}

/** Returns how many items are read at once. A read that may have a part of the items may have the same part of the bytes. */
function mostOf({ items, byteLength = 0 }: ListPage, most: number): number {
  return Math.min(
    most,
    Math.floor((most / MAX_READ_ITEMS) * READ_BYTES * (items.length / Math.max(1, byteLength))),
  )
}

type Comparison = (one: ItemPlace, other: ItemPlace) => number

function comparisonOf(order: ListOrder | null): Comparison {
  const sign = order?.isDescending === true ? -1 : 1
  return (one, other) => (one.value < other.value ? -sign : one.value > other.value ? sign : 0)
}

/**
 * Returns the value by which an item is sorted.
 * @throws UnknownOrderError for null, whose position depends on the database, and for a value of another type
 */
function valueOf(item: ListItem, order: ListOrder): string | number {
  const { kind } = order
  const value = item[order.member]
  if (kind === 'id' && typeof value === 'string') return value
  if (kind === 'number' && typeof value === 'number') return value
  const time = kind === 'time' ? order.dateFormat.toMs(value) : null
  if (time === null) throw new UnknownOrderError()
  return time
}
