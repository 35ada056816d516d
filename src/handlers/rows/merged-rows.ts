import { GatewayError } from '../../errors.ts'
import type { ListRow } from '../../policy/authz/entities/look-ups.ts'
import type { RowOrder } from '../../policy/authz/rows/row-plan.ts'
import { mapSideBySide } from './side-by-side.ts'

/** One row that the caller sees. */
export interface SeenRow {
  readonly row: ListRow
  readonly bytes: Buffer
}

/** The rows of several parts cannot be put in the engine's order. */
export class OrderUnknown extends Error {}

/** One part, page by page. `size` rows from `from` on: those that are visible, and how many were read. */
export type ReadPart = (
  from: number,
  size: number,
) => Promise<{ readonly seen: readonly SeenRow[]; readonly count: number }>

/** A row by its place in the order. */
interface PlacedRow extends SeenRow {
  readonly value: string | number
}

/**
 * The visible rows of several parts, merged in the order that each of them has. Rows of equal value stay in the order of
 * their parts, so that pages that follow each other neither repeat a row nor lose one.
 */
export class MergedRows {
  readonly #readers: readonly PartReader[]

  /** `order` null: one part alone keeps whatever order the engine gives it. `maxHidden`: more rows are not left out. */
  constructor(parts: readonly ReadPart[], order: RowOrder | null, maxHidden: number) {
    const budget = new Budget(maxHidden)
    this.#readers = parts.map((read) => new PartReader({ read, order, budget }))
  }

  /**
   * The first rows, as many as are wanted, and no more of each part than that takes.
   * @throws OrderUnknown; GatewayError GW_ROWS_NOT_EXACT where too many are left out
   */
  async *upTo(wanted: number): AsyncGenerator<SeenRow> {
    for (const reader of this.#readers) reader.expect(wanted / this.#readers.length)
    await mapSideBySide(this.#readers, (reader) => reader.head())
    for (let count = 0; count < wanted; count += 1) {
      const reader = await this.#first()
      const row = await reader?.head()
      if (row === null || row === undefined) return
      reader?.take()
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
  readonly read: ReadPart
  readonly order: RowOrder | null
  readonly budget: Budget
}

const MIN_READ = 20
const MAX_READ = 4000

/** Reads one part, further and further. */
class PartReader {
  readonly #reading: Reading
  #rows: readonly PlacedRow[] = []
  #next = 0
  #from = 0
  #size = MIN_READ
  #isRead = false

  constructor(reading: Reading) {
    this.#reading = reading
  }

  /** How many rows of it are likely to be taken. */
  expect(count: number): void {
    this.#size = Math.min(Math.max(Math.ceil(count) + 1, MIN_READ), MAX_READ)
  }

  /** The next row; null: there is none. */
  async head(): Promise<PlacedRow | null> {
    while (this.#next >= this.#rows.length && !this.#isRead) await this.#read()
    return this.#rows[this.#next] ?? null
  }

  take(): void {
    this.#next += 1
  }

  compare(one: PlacedRow, other: PlacedRow): number {
    const order = one.value < other.value ? -1 : one.value > other.value ? 1 : 0
    return this.#reading.order?.isDescending === true ? -order : order
  }

  async #read(): Promise<void> {
    const { read, order, budget } = this.#reading
    const last = this.#rows.at(-1)
    const page = await read(this.#from, this.#size)
    budget.leaveOut(page.count - page.seen.length)
    this.#rows = page.seen.map((seen) => ({ ...seen, value: order === null ? 0 : valueOf(seen.row, order) }))
    this.#check(last)
    this.#next = 0
    this.#from += page.count
    this.#isRead = page.count < this.#size
    this.#size = Math.min(this.#size * 2, MAX_READ)
  }

  /** A database may have an order of its own: parts that are not in the one that is known here are not merged. */
  #check(last: PlacedRow | undefined): void {
    let before = last
    for (const row of this.#rows) {
      if (before !== undefined && this.compare(before, row) > 0) throw new OrderUnknown()
      before = row
    }
  }
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
