import { GatewayError } from '../../errors.ts'
import type { ListRow } from '../../policy/authz/entities/look-ups.ts'
import type { RowOrder } from '../../policy/authz/rows/row-plan.ts'
import { type ListPage, type ReadList, type ReadRow, SteadyList } from './steady-list.ts'

/** The rows of several parts cannot be put in the engine's order. */
export class OrderUnknown extends Error {}

/** A row by its place in the order. */
export interface PlacedRow extends ReadRow, RowPlace {}

export interface RowPlace {
  readonly value: string | number
}

/** Rows that have been read already, as a part. @throws OrderUnknown */
export function readSorted(rows: readonly ReadRow[], order: RowOrder): ReadList {
  const placed = rows.map((row) => ({ ...row, value: valueOf(row.row, order) }))
  const sorted = placed.toSorted((one, other) => compareIn(order, one, other))
  return async (from, size) => ({ rows: sorted.slice(from, from + size) })
}

/** Rows that may be left out before a query is given up. */
export class Budget {
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
  readonly read: ReadList
  readonly order: RowOrder | null
  readonly budget: Budget
}

const MIN_READ = 20
const MAX_READ = 4000
/** Of rows that are longer fewer are read at once, as far as those tell that were read before. */
const ROW_BYTES = 2048

interface Passed {
  readonly count: number
  readonly isAll: boolean
}

/** Reads one part, further and further. */
export class PartReader {
  readonly #reading: Reading
  #list: SteadyList
  #rows: readonly PlacedRow[] = []
  #next = 0
  #last: RowPlace | null = null
  #size = MIN_READ
  #most = MAX_READ
  #isRead = false
  #hidden = 0

  constructor(reading: Reading) {
    this.#reading = reading
    this.#list = new SteadyList(reading.read)
  }

  /** How many rows of it are likely to be taken, and how many at most are read at once. */
  expect(count: number, most: number): void {
    this.#most = Math.min(most, MAX_READ)
    this.#size = Math.min(Math.max(Math.ceil(count) + 1, MIN_READ), this.#most)
  }

  /** Begins anew at this place of the part. */
  startAt(from: number): void {
    this.#list = new SteadyList(this.#reading.read, from)
    this.#hold([])
    this.#last = null
    this.#isRead = false
  }

  /** Nothing is read of it: it has been counted, and has no row. */
  finish(): void {
    this.#isRead = true
  }

  /** Passes over the rows before a place, of those that one read gives. `isAll`: the next row is not one of them. */
  async passOver(isBefore: (place: RowPlace) => boolean): Promise<Passed> {
    let count = 0
    for (let row = await this.head(); row !== null && isBefore(row); row = this.held) {
      this.take()
      count += 1
    }
    return { count, isAll: this.#next < this.#rows.length || this.#isRead }
  }

  /** Passes over what one read gives: its places, none at the end. */
  async passPage(): Promise<readonly RowPlace[]> {
    while (this.held === null && !this.#isRead) await this.#read(true)
    const places = this.#rows.slice(this.#next).map(({ value }) => ({ value }))
    this.#hold([])
    return places
  }

  /** The next row of those that have been read; null: all of them are taken. */
  get held(): PlacedRow | null {
    return this.#rows[this.#next] ?? null
  }

  /** The next row; null: there is none. */
  async head(): Promise<PlacedRow | null> {
    while (this.held === null && !this.#isRead) await this.#read()
    return this.held
  }

  /** A page whose rows are all taken is let go before the next is read. */
  take(): void {
    this.#next += 1
    if (this.#next >= this.#rows.length) this.#hold([])
  }

  /** Rows of it that were left out. */
  get hidden(): number {
    return this.#hidden
  }

  compare(one: RowPlace, other: RowPlace): number {
    return compareIn(this.#reading.order, one, other)
  }

  async #read(isTold = false): Promise<void> {
    const { order, budget } = this.#reading
    const last = this.#last
    const { page, rows, isLast, hasMoved } = await this.#list.next(this.#size, isTold)
    const seen = rows.filter(({ isVisible }) => isVisible)
    this.#hidden += rows.length - seen.length
    budget.leaveOut(rows.length - seen.length)
    const placed = seen.map((row) => ({ ...row, value: order === null ? 0 : valueOf(row.row, order) }))
    // What has come in before the last row would stand in no order after it.
    this.#hold(hasMoved && last !== null ? placed.filter((row) => this.compare(last, row) <= 0) : placed)
    this.#check(last)
    this.#isRead = isLast
    this.#size = Math.min(this.#size * 2, Math.max(MIN_READ, mostOf(page, this.#most)))
  }

  #hold(rows: readonly PlacedRow[]): void {
    const last = rows.at(-1)
    if (last !== undefined) this.#last = { value: last.value }
    this.#rows = rows
    this.#next = 0
  }

  /** A database may have an order of its own: parts that are not in the one that is known here are not merged. */
  #check(last: RowPlace | null): void {
    let before = last
    for (const row of this.#rows) {
      if (before !== null && this.compare(before, row) > 0) throw new OrderUnknown()
      before = row
    }
  }
}

function mostOf({ rows, byteLength = 0 }: ListPage, most: number): number {
  return Math.min(most, Math.floor((most * ROW_BYTES * rows.length) / Math.max(1, byteLength)))
}

function compareIn(order: RowOrder | null, one: RowPlace, other: RowPlace): number {
  const found = one.value < other.value ? -1 : one.value > other.value ? 1 : 0
  return order?.isDescending === true ? -found : found
}

/** @throws OrderUnknown for a null, whose place the database chooses, and for what is no such value */
function valueOf(row: ListRow, order: RowOrder): string | number {
  const { kind } = order
  const value = row[order.member]
  if (kind === 'id' && typeof value === 'string') return value
  if (kind === 'number' && typeof value === 'number') return value
  const time = kind === 'time' ? order.dateFormat.toMs(value) : null
  if (time === null) throw new OrderUnknown()
  return time
}
