import type { ListItem } from '../../policy/authz/entities/look-ups.ts'
import { MAX_READ_ITEMS, MIN_READ_ITEMS } from '../limits.ts'

/** One item of a list, with the bytes that the engine wrote. */
export interface PageItem {
  readonly item: ListItem
  readonly bytes: Buffer
  readonly isVisible: boolean
}

export interface ListPage {
  readonly items: readonly PageItem[]
  /** Length of the response that contained them. Absent if there was no response. */
  readonly byteLength?: number
}

/**
 * Reads `size` items of a list from position `from`. A list without paging returns all its items, whatever `size` is.
 * @param idsOnly true if the bytes of the items are not kept, because only their identity counts
 */
export type ReadList<Page extends ListPage = ListPage> = (
  from: number,
  size: number,
  idsOnly?: boolean,
) => Promise<Page>

/** The result of one read in relation to the earlier reads. */
interface PageContinuation<Page extends ListPage> {
  /** The page as it was read. */
  readonly page: Page
  readonly items: readonly PageItem[]
  /** True if the list has no more items. */
  readonly isLast: boolean
  /** True if items were added or removed since the previous read. New items among `items` may belong before items that were already read. */
  readonly hasMoved: boolean
}

/**
 * A list that is read in several reads while other clients write to it. Each read begins at the last item of the previous read. If
 * another item is there, items were added or removed, and earlier positions are read until a known item is found. Therefore no item
 * is returned twice, and no item is lost that exists during all reads.
 */
export class StableScan<Page extends ListPage = ListPage> {
  readonly #read: ReadList<Page>
  #from: number
  /** Ids of the items that were read, in their order. */
  #known: readonly string[] = []

  constructor(read: ReadList<Page>, from = 0) {
    this.#read = read
    this.#from = from
  }

  /**
   * Reads the next `size` items.
   * @param idsOnly as for ReadList
   */
  async next(size: number, idsOnly = false): Promise<PageContinuation<Page>> {
    const known = new Set(this.#known)
    const last = this.#known.at(-1)
    let start = last === undefined ? this.#from : this.#from - 1
    let page = await this.#readFrom(start, size, idsOnly)
    const hasMoved = last !== undefined && page.items[0]?.item['id'] !== last
    if (hasMoved)
      // Reads further and further back until an item is known.
      for (let back = MIN_READ_ITEMS; start > 0 && back <= MAX_READ_ITEMS; back *= 2) {
        if (page.items.some((item) => isAmong(known, item))) break
        start = Math.max(0, this.#from - back)
        page = await this.#readFrom(start, size, idsOnly)
      }
    const end = this.#from + size
    this.#from = start + page.items.length
    const items = page.items.filter((item) => !isAmong(known, item))
    const ids = items.map(({ item: { id } }) => id).filter((id) => typeof id === 'string')
    this.#known = [...this.#known, ...ids].slice(-MAX_READ_ITEMS)
    return { page, items, isLast: this.#from !== end, hasMoved }
  }

  /** Reads from `start` to `size` items after those that were already read. */
  #readFrom(start: number, size: number, idsOnly: boolean): Promise<Page> {
    return this.#read(start, this.#from - start + size, idsOnly)
  }
}

function isAmong(ids: ReadonlySet<string>, { item: { id } }: PageItem): boolean {
  return typeof id === 'string' && ids.has(id)
}
