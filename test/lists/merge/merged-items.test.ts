import t from 'tap'
import { MergedItems } from '../../../src/lists/merge/merged-items.ts'
import { UnknownOrderError } from '../../../src/lists/merge/subquery-reader.ts'
import { sum } from '../../../src/lists/merge/reader-positions.ts'
import { GatewayError } from '../../../src/errors.ts'
import { MAX_READ_BYTES } from '../../../src/request/buffered-response.ts'
import type { ReadList, PageItem } from '../../../src/lists/postfilter/stable-scan.ts'
import { Random } from '../../differential/random.ts'
import { seedsOf } from '../../support/requirements.ts'

const BY_ID = { member: 'id', kind: 'id', isDescending: false } as const
const SEEDS = 40

interface PartRow {
  readonly id: string
  readonly priority: number | null
  readonly isVisible: boolean
}

/** Returns a part that pages as an engine does. `reads` receives the number of items of each read. */
function partOf(items: readonly PartRow[], reads: number[] = []): ReadList {
  return async (from, size) => {
    const page = items.slice(from, from + size)
    reads.push(page.length)
    return { items: page.map(readOf) }
  }
}

function readOf({ id, priority, isVisible }: PartRow): PageItem {
  return { item: { id, priority }, bytes: Buffer.from(id), isVisible }
}

async function idsIn(items: Promise<readonly PageItem[]>): Promise<readonly string[]> {
  return (await items).map(({ bytes }) => bytes.toString())
}

function failureOf(merged: MergedItems): Promise<unknown> {
  return idsIn(merged.page({ first: 0, max: 10 })).catch((error: unknown) => error)
}

function partsOf(random: Random): readonly (readonly PartRow[])[] {
  return Array.from({ length: 1 + random.below(6) }, (_, part) =>
    Array.from({ length: random.below(120) }, (_row, index) => ({
      id: `${random.below(900)}-${part}-${index}`,
      priority: random.below(4),
      isVisible: random.below(5) > 0,
    })),
  )
}

/** Returns parts with more items, all of them visible. They are spread evenly, one part after the other, or over few values. */
function longPartsOf(random: Random): readonly (readonly PartRow[])[] {
  const kind = random.below(4)
  return Array.from({ length: 2 + random.below(4) }, (_, part) =>
    Array.from({ length: random.below(kind === 3 && part % 2 === 0 ? 6 : 600) }, (_row, index) => {
      const at =
        kind === 0 || kind === 3
          ? random.below(900)
          : kind === 1
            ? part * 100 + random.below(150)
            : random.below(3)
      return {
        id: `${String(at).padStart(3, '0')}-${random.below(900)}-${part}-${index}`,
        priority: random.below(4),
        isVisible: true,
      }
    }).toSorted((one, other) => (one.id < other.id ? -1 : 1)),
  )
}

function countsOf(parts: readonly (readonly PartRow[])[], isEstimate = false) {
  return async () => ({ sizes: parts.map(({ length }) => length), isEstimate, isRecent: false })
}

/** Returns the counts of an earlier time, when there were more or fewer items. None is 0: such a count is always current. */
function oldCountsOf(parts: readonly (readonly PartRow[])[], random: Random) {
  const sizes = parts.map(({ length }) => Math.max(1, Math.floor((length * random.below(200)) / 100)))
  return async () => ({ sizes, isEstimate: false, isRecent: false })
}

t.test('a far page has the same items as in the whole list', async (t) => {
  for (const seed of seedsOf(SEEDS)) {
    const random = new Random(seed)
    const parts = longPartsOf(random)
    const isById = random.below(2) === 0
    const order = {
      member: isById ? 'id' : 'priority',
      kind: isById ? 'id' : 'number',
      isDescending: false,
    } as const
    const sorted = parts.map((items) => sortedBy(items, (item) => item[isById ? 'id' : 'priority'] ?? 0))
    const lists = () => sorted.map((items) => partOf(items))
    const whole = await idsIn(
      new MergedItems(lists(), { order, maxHidden: 0 }).page({ first: 0, max: 10_000 }),
    )
    for (const first of [0, 0.2, 0.5, 0.9, 1, 1.2].map((share) => Math.floor(share * whole.length))) {
      const merged = new MergedItems(lists(), { order, maxHidden: 0 })
      const isOld = random.below(3) === 0
      const counts = isOld ? oldCountsOf(parts, random) : countsOf(parts, random.below(2) === 0)
      const page = await idsIn(merged.page({ first, max: 50, sizing: () => ({ counts }) }))
      t.same(page, whole.slice(first, first + 50), `seed ${seed}, from ${first} of ${whole.length}`)
    }
  }
})

t.test('a far page is found even if one part has few items, all of them late in the order', async (t) => {
  const random = new Random(2)
  const parts = [
    ...Array.from({ length: 5 }, (_, part) =>
      sortedBy(
        Array.from({ length: 2000 }, (_row, index) => rowOf(`${random.below(900_000)}-${part}-${index}`)),
        ({ id }) => id,
      ),
    ),
    Array.from({ length: 100 }, (_row, index) => rowOf(`x${String(index).padStart(3, '0')}`)),
  ]
  const whole = sortedBy(parts.flat(), ({ id }) => id).map(({ id }) => id)
  for (const first of [5000, 9000, 10_040]) {
    const reads: number[] = []
    const merged = new MergedItems(
      parts.map((items) => partOf(items, reads)),
      { order: BY_ID, maxHidden: 0 },
    )
    const page = await idsIn(merged.page({ first, max: 50, sizing: () => ({ counts: countsOf(parts) }) }))
    t.same(page, whole.slice(first, first + 50), `from ${first}`)
    t.ok(reads.length <= 2 * 6, `${reads.length} reads from ${first}`)
  }
})

t.test('few items are read before a page if the parts are spread evenly', async (t) => {
  const reads: number[] = []
  const random = new Random(1)
  const parts = Array.from({ length: 5 }, (_, part) =>
    sortedBy(
      Array.from({ length: 5000 }, (_row, index) => rowOf(`${random.below(900_000)}-${part}-${index}`)),
      ({ id }) => id,
    ),
  )
  for (const first of [5000, 12_500, 24_950]) {
    const merged = new MergedItems(
      parts.map((items) => partOf(items, reads)),
      { order: BY_ID, maxHidden: 0 },
    )
    t.equal(
      (await idsIn(merged.page({ first, max: 50, sizing: () => ({ counts: countsOf(parts) }) }))).length,
      50,
    )
  }
  t.ok(reads.length <= 3 * 5 * 3, `${reads.length} reads`)
  t.ok(sum(reads) <= 3 * 5 * 700, `${reads.join()} rows`)
})

t.test(
  'few items are read before a page even if one part has few items, all of them late in the order',
  async (t) => {
    const reads: number[] = []
    const random = new Random(2)
    const parts = [5000, 3, 5000, 0, 5000].map((count, part) =>
      sortedBy(
        Array.from({ length: count }, (_row, index) =>
          rowOf(`${count === 3 ? 890_000 + index : random.below(900_000)}-${part}-${index}`),
        ),
        ({ id }) => id,
      ),
    )
    const whole = sortedBy(parts.flat(), ({ id }) => id).map(({ id }) => id)
    for (const first of [5000, 7500, whole.length - 60]) {
      const merged = new MergedItems(
        parts.map((items) => partOf(items, reads)),
        { order: BY_ID, maxHidden: 0 },
      )
      const page = await idsIn(merged.page({ first, max: 50, sizing: () => ({ counts: countsOf(parts) }) }))
      t.same(page, whole.slice(first, first + 50), `from ${first}`)
    }
    t.ok(sum(reads) <= 3 * 3 * 700, `${reads.join()} rows`)
  },
)

t.test('a part that was just counted as empty is not read', async (t) => {
  const random = new Random(4)
  const parts = [2000, 0, 2000].map((count, part) =>
    sortedBy(
      Array.from({ length: count }, (_row, index) => rowOf(`${random.below(900_000)}-${part}-${index}`)),
      ({ id }) => id,
    ),
  )
  const whole = sortedBy(parts.flat(), ({ id }) => id).map(({ id }) => id)
  const reads = parts.map((): number[] => [])
  const merged = new MergedItems(
    parts.map((items, at) => partOf(items, reads[at])),
    { order: BY_ID, maxHidden: 0 },
  )
  const sizing = () => ({ counts: countsOf(parts) })
  t.same(await idsIn(merged.page({ first: 2000, max: 50, sizing })), whole.slice(2000, 2050))
  t.same(reads[1], [])
})

t.test('if the parts are spread unevenly, many items before a page are read at once', async (t) => {
  const reads: number[] = []
  const random = new Random(3)
  // Ids that begin with the name of an activity have such an order.
  const parts = Array.from({ length: 4 }, (_, part) =>
    sortedBy(
      Array.from({ length: 3000 }, (_row, index) =>
        rowOf(`${part < 2 ? 'a' : 'b'}:${random.below(900_000)}-${part}-${index}`),
      ),
      ({ id }) => id,
    ),
  )
  const whole = sortedBy(parts.flat(), ({ id }) => id).map(({ id }) => id)
  for (const first of [3000, 6000, 9000, whole.length - 50]) {
    let uneven = 0
    const merged = new MergedItems(
      parts.map((items) => partOf(items, reads)),
      { order: BY_ID, maxHidden: 0 },
    )
    const sizing = () => ({ counts: countsOf(parts), onUneven: () => void (uneven += 1) })
    t.same(await idsIn(merged.page({ first, max: 50, sizing })), whole.slice(first, first + 50))
    if (first === 3000 || first === 9000) t.equal(uneven, 1)
  }
  t.ok(reads.length <= 4 * 4 * 4, `${reads.join()} rows`)
})

t.test(
  'no bytes are kept of items before a page, and fewer items are read at once if they are long',
  async (t) => {
    for (const { rowBytes, most } of [
      { rowBytes: 100, most: 5000 },
      { rowBytes: 20 * 2048, most: 204 },
    ]) {
      const read: number[] = []
      const told: number[] = []
      const parts = [0, 6000].map((start): ReadList => {
        const items = Array.from({ length: 6000 }, (_, at) => rowOf(`${start + at}`.padStart(5, '0')))
        return async (from, size, isTold = false) => {
          const page = items.slice(from, from + size).map(readOf)
          ;(isTold ? told : read).push(page.length)
          const shown = page.map((item) => (isTold ? { ...item, bytes: Buffer.alloc(0) } : item))
          return { items: shown, byteLength: page.length * rowBytes }
        }
      })
      const merged = new MergedItems(parts, { order: BY_ID, maxHidden: 0 })
      const page = merged.page({ first: 9000, max: 3, sizing: () => ({ counts: UNCOUNTED }) })
      t.same(await idsIn(page), ['09000', '09001', '09002'])
      t.ok(sum(told) > 9000 && sum(read) < 100, `${sum(told)} without bytes, ${sum(read)} with them`)
      // The first read of a part does not know the length of its items.
      t.ok(Math.max(...told.slice(2)) <= most + 1, `${told.join()} rows`)
    }
  },
)

const UNCOUNTED = async (): Promise<null> => null

t.test('sizes are prepared only for a page far down the list', async (t) => {
  const items = Array.from({ length: 900 }, (_, at) => rowOf(`${at}`.padStart(4, '0')))
  let prepared = 0
  const sizing = () => {
    prepared += 1
    return { counts: UNCOUNTED }
  }
  for (const [first, times] of [
    [0, 0],
    [200, 0],
    [201, 1],
  ] as const) {
    const merged = new MergedItems([partOf(items), partOf([])], { order: BY_ID, maxHidden: 0 })
    t.same(await idsIn(merged.page({ first, max: 1, sizing })), [`${first}`.padStart(4, '0')])
    t.equal(prepared, times)
  }
})

t.test('items that disappear while those before a page are read do not move the page', async (t) => {
  const items = Array.from({ length: 4000 }, (_, at) => rowOf(`${at}`.padStart(4, '0')))
  const odd = items.filter((_, at) => at % 2 === 1)
  let even = items.filter((_, at) => at % 2 === 0)
  let read = 0
  const busy: ReadList = async (from, size) => {
    const page = even.slice(from, from + size).map(readOf)
    read += 1
    // This is much more than the margin before the page at which reading begins.
    if (read === 1) even = even.slice(100)
    return { items: page }
  }
  const merged = new MergedItems([busy, partOf(odd)], { order: BY_ID, maxHidden: 0 })
  const page = await idsIn(merged.page({ first: 1000, max: 10, sizing: () => ({ counts: UNCOUNTED }) }))
  const left = sortedBy([...even, ...odd], ({ id }) => id).map(({ id }) => id)
  t.same(page, left.slice(1000, 1010))
})

t.test('few items are read even if items have disappeared since they were counted', async (t) => {
  const reads: number[] = []
  const random = new Random(1)
  const parts = Array.from({ length: 5 }, (_, part) =>
    sortedBy(
      Array.from({ length: 2000 }, (_row, index) => rowOf(`${random.below(900_000)}-${part}-${index}`)),
      ({ id }) => id,
    ),
  )
  const whole = sortedBy(parts.flat(), ({ id }) => id).map(({ id }) => id)
  const merged = new MergedItems(
    parts.map((items) => partOf(items, reads)),
    { order: BY_ID, maxHidden: 0 },
  )
  const counts = async (age: string) => ({
    sizes: age === 'now' ? parts.map(({ length }) => length) : [2000, 2100, 2000, 2500, 2000],
    isEstimate: false,
    isRecent: age === 'recent',
  })
  t.same(await idsIn(merged.page({ first: 9950, max: 50, sizing: () => ({ counts }) })), whole.slice(9950))
  t.ok(sum(reads) <= 2000, `${reads.join()} rows`)
})

t.test('parts that cannot be counted or that hide items are read from the beginning', async (t) => {
  const items = Array.from({ length: 900 }, (_, at) => rowOf(`${at}`.padStart(4, '0')))
  const hiding = items.map((item, at) => ({ ...item, isVisible: at % 3 > 0 }))
  const order = { order: BY_ID, maxHidden: 1000 }
  const uncounted = new MergedItems([partOf(items), partOf([])], order)
  t.same(await idsIn(uncounted.page({ first: 500, max: 2, sizing: () => ({ counts: UNCOUNTED }) })), [
    '0500',
    '0501',
  ])
  const seen = hiding.filter(({ isVisible }) => isVisible).map(({ id }) => id)
  const merged = new MergedItems([partOf(hiding), partOf([])], order)
  t.same(
    await idsIn(merged.page({ first: 500, max: 2, sizing: () => ({ counts: countsOf([hiding, []]) }) })),
    seen.slice(500, 502),
  )
})

t.test('a page near the beginning is read without counting', async (t) => {
  const items = Array.from({ length: 1100 }, (_, at) => rowOf(`${at}`.padStart(4, '0')))
  const isCounted = async (first: number, others: number): Promise<boolean> => {
    const parts = [items, ...Array.from({ length: others }, () => [])]
    let counted = false
    const counts = async () => {
      counted = true
      return countsOf(parts)()
    }
    const merged = new MergedItems(
      parts.map((part) => partOf(part)),
      { order: BY_ID, maxHidden: 0 },
    )
    t.same(await idsIn(merged.page({ first, max: 1, sizing: () => ({ counts }) })), [
      `${first}`.padStart(4, '0'),
    ])
    return counted
  }
  t.same([await isCounted(200, 1), await isCounted(201, 1)], [false, true], 'of two parts')
  t.same([await isCounted(1000, 30), await isCounted(1001, 30)], [false, true], 'of many parts')
})

function sortedBy(items: readonly PartRow[], order: (item: PartRow) => string | number): readonly PartRow[] {
  return items.toSorted((one, other) => (order(one) < order(other) ? -1 : order(one) > order(other) ? 1 : 0))
}

t.test('pages of merged parts form the whole list, without gaps or repetitions', async (t) => {
  for (const seed of seedsOf(SEEDS)) {
    const random = new Random(seed)
    const parts = partsOf(random).map((items) => sortedBy(items, ({ id }) => id))
    const whole = sortedBy(parts.flat(), ({ id }) => id).filter(({ isVisible }) => isVisible)
    const size = 5 + random.below(60)
    const paged: string[] = []
    for (let first = 0; first < whole.length + size; first += size) {
      const merged = new MergedItems(
        parts.map((items) => partOf(items)),
        { order: BY_ID, maxHidden: 10_000 },
      )
      paged.push(...(await idsIn(merged.page({ first: 0, max: first + size }))).slice(first))
    }
    const ids = whole.map(({ id }) => id)
    if (parts.length > 1) t.same(paged, ids, `seed ${seed}`)
    else t.same(paged.toSorted(), ids.toSorted(), `seed ${seed}`)
  }
})

t.test('pages of merged parts form the whole list if the values of the sort are equal', async (t) => {
  for (const seed of seedsOf(SEEDS)) {
    const random = new Random(seed)
    const parts = partsOf(random).map((items) => sortedBy(items, ({ priority }) => -(priority ?? 0)))
    const order = { member: 'priority', kind: 'number', isDescending: true } as const
    const whole = await idsIn(
      new MergedItems(
        parts.map((items) => partOf(items)),
        { order, maxHidden: 10_000 },
      ).page({ first: 0, max: 10_000 }),
    )
    const size = 5 + random.below(60)
    const paged: string[] = []
    for (let first = 0; first < whole.length + size; first += size) {
      const merged = new MergedItems(
        parts.map((items) => partOf(items)),
        { order, maxHidden: 10_000 },
      )
      paged.push(...(await idsIn(merged.page({ first: 0, max: first + size }))).slice(first))
    }
    t.same(paged, whole, `seed ${seed}`)
  }
})

t.test('no more of a part is read than a page needs', async (t) => {
  const reads: number[] = []
  const items = Array.from({ length: 5000 }, (_, index) => ({
    id: String(index).padStart(5, '0'),
    priority: 0,
    isVisible: true,
  }))
  const merged = new MergedItems([partOf(items, reads), partOf([], reads)], { order: BY_ID, maxHidden: 10 })
  t.equal((await idsIn(merged.page({ first: 0, max: 20 }))).length, 20)
  t.ok(sum(reads) <= 60)
})

function rowOf(id: string, priority: number | null = 0): PartRow {
  return { id, priority, isVisible: true }
}

t.test('parts in another order or with null values are not merged', async (t) => {
  const disordered = new MergedItems([partOf([rowOf('b'), rowOf('a')]), partOf([])], {
    order: BY_ID,
    maxHidden: 10,
  })
  t.ok((await failureOf(disordered)) instanceof UnknownOrderError)
  const order = { member: 'priority', kind: 'number', isDescending: false } as const
  const nothing = new MergedItems([partOf([rowOf('a', null)]), partOf([])], { order, maxHidden: 10 })
  t.ok((await failureOf(nothing)) instanceof UnknownOrderError)
})

t.test('a query is refused once too many items are left out', async (t) => {
  const hidden = Array.from({ length: 30 }, (_, index) => ({ id: `${index}`, priority: 0, isVisible: false }))
  await t.rejects(
    idsIn(new MergedItems([partOf(hidden)], { order: null, maxHidden: 29 }).page({ first: 0, max: 10 })),
    {
      code: 'GW_ITEMS_NOT_EXACT',
    },
  )
  t.same(
    await idsIn(
      new MergedItems([partOf(hidden)], { order: null, maxHidden: 30 }).page({ first: 0, max: 10 }),
    ),
    [],
  )
})

t.test('parts without an order are read one after the other', async (t) => {
  const reads: number[] = []
  const some = Array.from({ length: 30 }, (_, index) => rowOf(`${index}`))
  const merged = new MergedItems([partOf(some, reads), partOf(some, reads)], { order: null, maxHidden: 0 })
  t.equal((await idsIn(merged.page({ first: 0, max: 10 }))).length, 10)
  t.same(reads, [20])
})

/** Parts whose items change between any two reads, and all items that ever existed. */
class BusyParts {
  readonly ever: PartRow[]
  #parts: readonly (readonly PartRow[])[]
  readonly #random: Random
  readonly #isAllVisible: boolean
  #next = 0

  constructor(parts: readonly (readonly PartRow[])[], random: Random, isAllVisible: boolean) {
    this.#parts = parts
    this.#isAllVisible = isAllVisible
    this.#random = random
    this.ever = parts.flat()
  }

  get now(): readonly PartRow[] {
    return this.#parts.flat()
  }

  get sizes(): readonly number[] {
    return this.#parts.map(({ length }) => length)
  }

  lists(): readonly ReadList[] {
    return this.#parts.map(
      (_, part): ReadList =>
        async (from, size) => {
          const page = (this.#parts[part] ?? []).slice(from, from + size)
          this.#write()
          return { items: page.map(readOf) }
        },
    )
  }

  /** Removes some adjacent items at a random position of each part, and adds others. */
  #write(): void {
    this.#parts = this.#parts.map((items) => {
      const at = this.#random.below(items.length + 1)
      const left = items.toSpliced(at, this.#random.below(2) * this.#random.below(15))
      const made = Array.from({ length: this.#random.below(2) * this.#random.below(15) }, () => ({
        id: `${this.#random.below(900)}-new-${(this.#next += 1)}`,
        priority: this.#random.below(4),
        isVisible: this.#isAllVisible || this.#random.below(5) > 0,
      }))
      this.ever.push(...made)
      return sortedBy([...left, ...made], ({ id }) => id)
    })
  }
}

/** Returns how many of the sorted ids are before this one. */
function rankIn(ids: readonly string[], id: string): number {
  let [low, high] = [0, ids.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ids[middle] ?? '') < id) low = middle + 1
    else high = middle
  }
  return low
}

t.test('items that exist all the time are on their page while other items come and go', async (t) => {
  for (const seed of seedsOf(5 * SEEDS)) {
    const random = new Random(seed)
    const isFar = seed % 4 === 0
    const parts = new BusyParts(
      isFar ? longPartsOf(random) : partsOf(random).map((items) => sortedBy(items, ({ id }) => id)),
      random,
      isFar,
    )
    const before = parts.now
    const isWhole = !isFar && random.below(2) === 0
    const first = isWhole ? 0 : isFar ? random.below(before.length + 1) : random.below(100)
    const size = isWhole ? 10_000 : 5 + random.below(60)
    const merged = new MergedItems(parts.lists(), { order: BY_ID, maxHidden: 10_000 })
    const page = await idsIn(
      merged.page({
        first,
        max: size,
        sizing: () => ({ counts: async () => ({ sizes: parts.sizes, isEstimate: false, isRecent: false }) }),
      }),
    )
    const after = new Set(parts.now)
    const standing = before
      .filter((item) => after.has(item) && item.isVisible)
      .map(({ id }) => id)
      .toSorted()
    const ever = parts.ever
      .filter(({ isVisible }) => isVisible)
      .map(({ id }) => id)
      .toSorted()
    const [everIds, pageIds] = [new Set(ever), new Set(page)]
    // The page that an engine returns at any moment of the reading meets the same conditions.
    t.same(
      page,
      [...new Set(page)].toSorted((one, other) => (one < other ? -1 : 1)),
      `seed ${seed}: in order and once`,
    )
    t.ok(page.length <= size && page.every((id) => everIds.has(id)), `seed ${seed}: visible`)
    const due = standing.filter((id) => rankIn(standing, id) >= first && rankIn(ever, id) < first + size)
    t.same(
      due.filter((id) => !pageIds.has(id)),
      [],
      `seed ${seed}: none is lost`,
    )
    const possible = new Set(
      ever.filter((id) => rankIn(ever, id) >= first && rankIn(standing, id) < first + size),
    )
    t.same(
      page.filter((id) => !possible.has(id)),
      [],
      `seed ${seed}: none is of another page`,
    )
  }
})

t.test('an item that moves from one part to another during the reading is returned once', async (t) => {
  const merged = new MergedItems([partOf([rowOf('a'), rowOf('b')]), partOf([rowOf('b')])], {
    order: BY_ID,
    maxHidden: 0,
  })
  t.same(await idsIn(merged.page({ first: 0, max: 10 })), ['a', 'b'])
})

t.test('a page with more bytes than the gateway reads is refused', async (t) => {
  const bytes = Buffer.alloc(MAX_READ_BYTES / 4)
  const pageOf = (count: number) => {
    const items = Array.from({ length: count }, (_, at) => ({
      item: { id: `${at}` },
      bytes,
      isVisible: true,
    }))
    const read: ReadList = async (from, size) => ({ items: items.slice(from, from + size) })
    return new MergedItems([read], { order: null, maxHidden: 0 }).page({ first: 0, max: 10 })
  }
  t.equal((await pageOf(4)).length, 4)
  await t.rejects(pageOf(5), new GatewayError('GW_ITEMS_NOT_EXACT'))
})
