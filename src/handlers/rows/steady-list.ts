import type { ListRow } from '../../policy/authz/entities/look-ups.ts'

/** One row of a list, as the engine wrote it. */
export interface ReadRow {
  readonly row: ListRow
  readonly bytes: Buffer
  readonly isVisible: boolean
}

export interface ListPage {
  readonly rows: readonly ReadRow[]
  /** Bytes of the answer that had them; absent: there was none. */
  readonly byteLength?: number
}

/**
 * Reads `size` rows of a list from `from` on. A list without paging answers all of it, however few are asked for.
 * @param isTold the rows' bytes are not kept: only which there are counts
 */
export type ReadList<Page extends ListPage = ListPage> = (
  from: number,
  size: number,
  isTold?: boolean,
) => Promise<Page>

/** What one read adds to those before it. */
interface Continued<Page extends ListPage> {
  /** As it was read. */
  readonly page: Page
  readonly rows: readonly ReadRow[]
  /** There are no more. */
  readonly isLast: boolean
  /** Rows have come or gone since the read before: new ones among `rows` may belong before those that were read. */
  readonly hasMoved: boolean
}

/** How far the place in a list that has moved is looked for. */
const MIN_BACK = 20
const MAX_BACK = 4000

/**
 * A list that is read in several reads while others write to it. Each read begins at the last row of the one before. Where
 * another row stands there, rows have come or gone: then rows before it are read again until one is known. So no row is
 * shown twice, and none is lost that is there all the time.
 */
export class SteadyList<Page extends ListPage = ListPage> {
  readonly #read: ReadList<Page>
  #from: number
  /** Ids of rows that were read, the last of them last. */
  #known: readonly string[] = []

  constructor(read: ReadList<Page>, from = 0) {
    this.#read = read
    this.#from = from
  }

  /** @param isTold as for ReadList */
  async next(size: number, isTold = false): Promise<Continued<Page>> {
    const last = this.#known.at(-1)
    const known = new Set(this.#known)
    const reading = { size, isTold }
    const found =
      last === undefined ? await this.#readAt(this.#from, reading) : await this.#readOn(last, known, reading)
    const { page, start, isLast, hasMoved = false } = found
    const rows = page.rows.filter((row) => !isAmong(known, row))
    this.#from = start + page.rows.length
    this.#known = [...this.#known, ...idsOf(rows)].slice(-MAX_BACK)
    return { page, rows, isLast, hasMoved }
  }

  async #readOn(last: string, known: ReadonlySet<string>, reading: Reading): Promise<Found<Page>> {
    const found = await this.#readAt(this.#from - 1, reading)
    if (found.page.rows[0]?.row['id'] === last) return found
    return { ...(await this.#searched(found, known, reading)), hasMoved: true }
  }

  /** Further and further back, until a row is known. */
  async #searched(first: Found<Page>, known: ReadonlySet<string>, reading: Reading): Promise<Found<Page>> {
    let found = first
    for (let back = MIN_BACK; found.start > 0 && back <= MAX_BACK; back *= 2) {
      if (found.page.rows.some((row) => isAmong(known, row))) break
      found = await this.#readAt(Math.max(0, this.#from - back), reading)
    }
    return found
  }

  /** So that rows are read as far as `size` beyond those before. */
  async #readAt(start: number, { size, isTold }: Reading): Promise<Found<Page>> {
    const asked = this.#from - start + size
    const page = await this.#read(start, asked, isTold)
    return { page, start, isLast: page.rows.length !== asked }
  }
}

interface Reading {
  readonly size: number
  readonly isTold: boolean
}

interface Found<Page extends ListPage> {
  readonly page: Page
  readonly start: number
  readonly isLast: boolean
  readonly hasMoved?: true
}

function isAmong(ids: ReadonlySet<string>, { row: { id } }: ReadRow): boolean {
  return typeof id === 'string' && ids.has(id)
}

function idsOf(rows: readonly ReadRow[]): readonly string[] {
  return rows.map(({ row: { id } }) => id).filter((id) => typeof id === 'string')
}
