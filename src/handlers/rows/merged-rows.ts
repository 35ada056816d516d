import type { RowOrder } from '../../policy/authz/rows/row-plan.ts'
import type { MaybePromise } from '../../request/maybe-promise.ts'
import { Budget, PartReader, type PlacedRow } from './part-reader.ts'
import { startAll } from './part-starts.ts'
import { scanPage } from './scan-page.ts'
import { seekPage, type Sizes } from './seek-page.ts'
import { mapSideBySide } from './side-by-side.ts'
import type { ReadList, ReadRow } from './steady-list.ts'

/** Rows of all parts that are kept at once: a kilobyte each, or some. */
const MAX_HELD = 4000

/** `recent`: those of some seconds ago will do. */
export type SizesAge = 'recent' | 'now'

interface Merging {
  /** Null: one part after the other, each in whatever order the engine gives it. */
  readonly order: RowOrder | null
  /** More rows are not left out. */
  readonly maxHidden: number
}

interface Page {
  readonly first: number
  readonly max: number
  /** Where all rows of the first parts are visible. */
  readonly sizing?: Sizing
}

interface Sizing {
  /** How many rows the parts have; null: it cannot be told, or does not help. */
  readonly counts: (age: SizesAge) => Promise<Sizes | null>
  /** Where a page begins does not follow from how many there are. */
  readonly onUneven?: () => void
}

/**
 * The visible rows of several parts, merged in the order that each of them has. Rows of equal value stay in the order of
 * their parts, so that pages that follow each other neither repeat a row nor lose one.
 */
export class MergedRows {
  readonly #readers: readonly PartReader[]
  readonly #isMerged: boolean

  constructor(parts: readonly ReadList[], { order, maxHidden }: Merging) {
    const budget = new Budget(maxHidden)
    this.#isMerged = order !== null
    this.#readers = parts.map((read) => new PartReader({ read, order, budget }))
  }

  /** The rows of one page: far down, rows before it are counted and not read. @throws as `upTo` */
  async *page({ first, max, sizing }: Page): AsyncGenerator<ReadRow> {
    const isFar = this.#isMerged && first > Math.min(MAX_READ_OF_ALL, READ_OF_EACH * this.#readers.length)
    let at = isFar && sizing !== undefined ? await this.#seek({ first, max, ...sizing }) : 0
    for await (const row of this.upTo(first + max - at)) {
      at += 1
      if (at > first) yield row
    }
  }

  /** How many rows are before the readers. */
  async #seek({ first, max, counts, onUneven }: Omit<Page, 'sizing'> & Sizing): Promise<number> {
    let sizes = await counts('recent')
    for (; sizes !== null; sizes = sizes.isRecent ? await counts('now') : null) {
      const before = await seekPage(this.#readers, { ...sizes, first, max })
      if (before !== null) return before
      if (!sizes.isRecent) onUneven?.()
    }
    return (await scanPage(this.#readers, { first, max })) ?? startAll(this.#readers, [])
  }

  /**
   * The first rows, as many as are wanted, and no more of each part than that takes.
   * @throws OrderUnknown; GatewayError GW_ROWS_NOT_EXACT where too many are left out
   */
  async *upTo(wanted: number): AsyncGenerator<ReadRow> {
    const held = this.#isMerged ? this.#readers.length : 1
    const most = Math.max(MIN_SHARE, Math.floor(MAX_HELD / held))
    for (const reader of this.#readers) reader.expect(wanted / this.#readers.length, most)
    if (this.#isMerged) await mapSideBySide(this.#readers, (reader) => reader.head())
    let last: unknown
    let reader: PartReader | null = null
    for (let count = 0; count < wanted; ) {
      const next: MaybePromise<PartReader | null> = this.#next(reader)
      reader = next instanceof Promise ? await next : next
      const row = reader?.held ?? null
      if (row === null) return
      reader?.take()
      // A row that has gone from one part to another meanwhile stands in both.
      if (typeof row.row['id'] === 'string' && row.row['id'] === last) continue
      last = row.row['id']
      count += 1
      yield row
    }
  }

  /** The part whose row is next. One is waited for only where all is taken that was read of it: most rows are there. */
  #next(current: PartReader | null): MaybePromise<PartReader | null> {
    if (!this.#isMerged) return current?.held ? current : this.#firstLeft()
    return current?.held === null ? current.head().then(() => this.#least()) : this.#least()
  }

  /** Of the parts that have a row, the one whose row comes first. */
  #least(): PartReader | null {
    let first: PartReader | null = null
    let least: PlacedRow | null = null
    for (const reader of this.#readers) {
      const row = reader.held
      if (row === null || (least !== null && reader.compare(least, row) <= 0)) continue
      first = reader
      least = row
    }
    return first
  }

  async #firstLeft(): Promise<PartReader | null> {
    for (const reader of this.#readers) if ((await reader.head()) !== null) return reader
    return null
  }
}

/** Rows that are read rather than counted: of each part, and of all. */
const READ_OF_EACH = 50
const MAX_READ_OF_ALL = 1000
const MIN_SHARE = 20
