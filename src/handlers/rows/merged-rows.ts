import { GatewayError } from '../../errors.ts'
import type { ListRow } from '../../policy/authz/entities/look-ups.ts'
import type { RowOrder } from '../../policy/authz/rows/row-plan.ts'
import { mapSideBySide } from './side-by-side.ts'
import { type ReadList, type ReadRow, SteadyList } from './steady-list.ts'

/** The rows of several parts cannot be put in the engine's order. */
export class OrderUnknown extends Error {}

/** Rows that have been read already, as a part. @throws OrderUnknown */
export function readSorted(rows: readonly ReadRow[], order: RowOrder): ReadList {
  const placed = rows.map((row) => ({ ...row, value: valueOf(row.row, order) }))
  const sorted = placed.toSorted((one, other) => compareIn(order, one, other))
  return async (from, size) => ({ rows: sorted.slice(from, from + size) })
}

/** A row by its place in the order. */
interface PlacedRow extends ReadRow, Place {}

interface Place {
  readonly value: string | number
}

/**
 * The visible rows of several parts, merged in the order that each of them has. Rows of equal value stay in the order of
 * their parts, so that pages that follow each other neither repeat a row nor lose one.
 */
export class MergedRows {
  readonly #readers: readonly PartReader[]
  readonly #isMerged: boolean

  /** `order` null: one part after the other, each in whatever order the engine gives it. `maxHidden`: more rows are not left out. */
  constructor(parts: readonly ReadList[], order: RowOrder | null, maxHidden: number) {
    const budget = new Budget(maxHidden)
    this.#isMerged = order !== null
    this.#readers = parts.map((read) => new PartReader({ list: new SteadyList(read), order, budget }))
  }

  /**
   * The first rows, as many as are wanted, and no more of each part than that takes.
   * @throws OrderUnknown; GatewayError GW_ROWS_NOT_EXACT where too many are left out
   */
  async *upTo(wanted: number): AsyncGenerator<ReadRow> {
    const most = Math.max(MIN_READ, Math.floor(MAX_HELD / this.#readers.length))
    for (const reader of this.#readers) reader.expect(wanted / this.#readers.length, most)
    if (this.#isMerged) await mapSideBySide(this.#readers, (reader) => reader.head())
    let last: unknown
    for (let count = 0; count < wanted; ) {
      const reader = await this.#first()
      const row = await reader?.head()
      if (row === null || row === undefined) return
      reader?.take()
      // A row that has gone from one part to another meanwhile stands in both.
      if (typeof row.row['id'] === 'string' && row.row['id'] === last) continue
      last = row.row['id']
      count += 1
      yield row
    }
  }

  async #first(): Promise<PartReader | null> {
    let first: PartReader | null = null
    let least: PlacedRow | null = null
    for (const reader of this.#readers) {
      const row = await reader.head()
      if (row === null || (least !== null && reader.compare(least, row) <= 0)) continue
      first = reader
      least = row
      if (!this.#isMerged) break
    }
    return first
  }
}

/** Rows that may be left out before a query is given up. */
class Budget {
  #left: number

  constructor(rows: number) {
    this.#left = rows
  }

  leaveOut(count: number): void {
    this.#left -= count
    if (this.#left < 0) throw new GatewayError('GW_ROWS_NOT_EXACT')
  }
}

interface Reading {
  readonly list: SteadyList
  readonly order: RowOrder | null
  readonly budget: Budget
}

const MIN_READ = 20
const MAX_READ = 4000
/** Rows of all parts that are kept at once: some kilobytes each. */
const MAX_HELD = 8000

/** Reads one part, further and further. */
class PartReader {
  readonly #reading: Reading
  #rows: readonly PlacedRow[] = []
  #next = 0
  #last: Place | null = null
  #size = MIN_READ
  #most = MAX_READ
  #isRead = false

  constructor(reading: Reading) {
    this.#reading = reading
  }

  /** How many rows of it are likely to be taken, and how many at most are read at once. */
  expect(count: number, most: number): void {
    this.#most = Math.min(most, MAX_READ)
    this.#size = Math.min(Math.max(Math.ceil(count) + 1, MIN_READ), this.#most)
  }

  /** The next row; null: there is none. */
  async head(): Promise<PlacedRow | null> {
    while (this.#next >= this.#rows.length && !this.#isRead) await this.#read()
    return this.#rows[this.#next] ?? null
  }

  /** A page whose rows are all taken is let go before the next is read. */
  take(): void {
    this.#next += 1
    if (this.#next >= this.#rows.length) this.#hold([])
  }

  compare(one: Place, other: Place): number {
    return compareIn(this.#reading.order, one, other)
  }

  async #read(): Promise<void> {
    const { list, order, budget } = this.#reading
    const last = this.#last
    const { rows, isLast, hasMoved } = await list.next(this.#size)
    const seen = rows.filter(({ isVisible }) => isVisible)
    budget.leaveOut(rows.length - seen.length)
    const placed = seen.map((row) => ({ ...row, value: order === null ? 0 : valueOf(row.row, order) }))
    // What has come in before the last row would stand in no order after it.
    this.#hold(hasMoved && last !== null ? placed.filter((row) => this.compare(last, row) <= 0) : placed)
    this.#check(last)
    this.#isRead = isLast
    this.#size = Math.min(this.#size * 2, this.#most)
  }

  #hold(rows: readonly PlacedRow[]): void {
    const last = rows.at(-1)
    if (last !== undefined) this.#last = { value: last.value }
    this.#rows = rows
    this.#next = 0
  }

  /** A database may have an order of its own: parts that are not in the one that is known here are not merged. */
  #check(last: Place | null): void {
    let before = last
    for (const row of this.#rows) {
      if (before !== null && this.compare(before, row) > 0) throw new OrderUnknown()
      before = row
    }
  }
}

function compareIn(order: RowOrder | null, one: Place, other: Place): number {
  const found = one.value < other.value ? -1 : one.value > other.value ? 1 : 0
  return order?.isDescending === true ? -found : found
}

/** @throws OrderUnknown for a null, whose place the database chooses, and for what is no such value */
function valueOf(row: ListRow, { member, kind }: RowOrder): string | number {
  const value = row[member]
  if (kind === 'id' && typeof value === 'string') return value
  if (kind === 'number' && typeof value === 'number') return value
  const time = kind === 'time' && typeof value === 'string' ? Date.parse(value) : Number.NaN
  if (Number.isNaN(time)) throw new OrderUnknown()
  return time
}
