import t from 'tap'
import { MergedRows, OrderUnknown, type ReadPart, type SeenRow } from '../../src/handlers/rows/merged-rows.ts'
import { Random } from '../differential/random.ts'

const BY_ID = { member: 'id', kind: 'id', isDescending: false } as const
const SEEDS = 40

interface PartRow {
  readonly id: string
  readonly priority: number | null
  readonly isVisible: boolean
}

/** A part as an engine pages it. `reads`: how many rows were read of it. */
function partOf(rows: readonly PartRow[], reads: number[] = []): ReadPart {
  return async (from, size) => {
    const page = rows.slice(from, from + size)
    reads.push(page.length)
    return { seen: page.filter(({ isVisible }) => isVisible).map(seenOf), count: page.length }
  }
}

function seenOf({ id, priority }: PartRow): SeenRow {
  return { row: { id, priority }, bytes: Buffer.from(id) }
}

async function idsIn(rows: AsyncIterable<SeenRow>): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const { bytes } of rows) ids.push(bytes.toString())
  return ids
}

function failureOf(merged: MergedRows): Promise<unknown> {
  return idsIn(merged.upTo(10)).catch((error: unknown) => error)
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

function sortedBy(rows: readonly PartRow[], order: (row: PartRow) => string | number): readonly PartRow[] {
  return rows.toSorted((one, other) => (order(one) < order(other) ? -1 : order(one) > order(other) ? 1 : 0))
}

t.test('pages of merged parts make up the whole list, without gap or repetition', async (t) => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = new Random(seed)
    const parts = partsOf(random).map((rows) => sortedBy(rows, ({ id }) => id))
    const whole = sortedBy(parts.flat(), ({ id }) => id).filter(({ isVisible }) => isVisible)
    const size = 5 + random.below(60)
    const paged: string[] = []
    for (let first = 0; first < whole.length + size; first += size) {
      const merged = new MergedRows(
        parts.map((rows) => partOf(rows)),
        BY_ID,
        10_000,
      )
      paged.push(...(await idsIn(merged.upTo(first + size))).slice(first))
    }
    const ids = whole.map(({ id }) => id)
    if (parts.length > 1) t.same(paged, ids, `seed ${seed}`)
    else t.same(paged.toSorted(), ids.toSorted(), `seed ${seed}`)
  }
})

t.test('so they do under a sort by values that are equal', async (t) => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = new Random(seed)
    const parts = partsOf(random).map((rows) => sortedBy(rows, ({ priority }) => -(priority ?? 0)))
    const order = { member: 'priority', kind: 'number', isDescending: true } as const
    const whole = await idsIn(
      new MergedRows(
        parts.map((rows) => partOf(rows)),
        order,
        10_000,
      ).upTo(10_000),
    )
    const size = 5 + random.below(60)
    const paged: string[] = []
    for (let first = 0; first < whole.length + size; first += size) {
      const merged = new MergedRows(
        parts.map((rows) => partOf(rows)),
        order,
        10_000,
      )
      paged.push(...(await idsIn(merged.upTo(first + size))).slice(first))
    }
    t.same(paged, whole, `seed ${seed}`)
  }
})

t.test('no more of a part is read than a page takes', async (t) => {
  const reads: number[] = []
  const rows = Array.from({ length: 5000 }, (_, index) => ({
    id: String(index).padStart(5, '0'),
    priority: 0,
    isVisible: true,
  }))
  const merged = new MergedRows([partOf(rows, reads), partOf([], reads)], BY_ID, 10)
  t.equal((await idsIn(merged.upTo(20))).length, 20)
  t.ok(reads.reduce((sum, one) => sum + one, 0) <= 60)
})

function rowOf(id: string, priority: number | null = 0): PartRow {
  return { id, priority, isVisible: true }
}

t.test('parts in another order, or with values of none, are not merged', async (t) => {
  const disordered = new MergedRows([partOf([rowOf('b'), rowOf('a')]), partOf([])], BY_ID, 10)
  t.ok((await failureOf(disordered)) instanceof OrderUnknown)
  const order = { member: 'priority', kind: 'number', isDescending: false } as const
  const nothing = new MergedRows([partOf([rowOf('a', null)]), partOf([])], order, 10)
  t.ok((await failureOf(nothing)) instanceof OrderUnknown)
})

t.test('a query is given up once too many rows are left out', async (t) => {
  const hidden = Array.from({ length: 30 }, (_, index) => ({ id: `${index}`, priority: 0, isVisible: false }))
  await t.rejects(idsIn(new MergedRows([partOf(hidden)], null, 29).upTo(10)), { code: 'GW_ROWS_NOT_EXACT' })
  t.same(await idsIn(new MergedRows([partOf(hidden)], null, 30).upTo(10)), [])
})
