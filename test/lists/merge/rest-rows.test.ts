import t from 'tap'
import { countRest, type Resting, restRows } from '../../../src/lists/merge/rest-rows.ts'
import type { PartSort, QueryPart } from '../../../src/lists/list-plan.ts'

type Nulls = 'first' | 'last'

/** Returns a list in which some items lack a definition, as a database sorts it that puts them first or last. */
function resting(lacking: number, having: number, nulls: Nulls, maxRows = 3000): Resting {
  const without = Array.from({ length: lacking }, (_, at) => ({ id: `l${at}`, definition: null }))
  const others = Array.from({ length: having }, (_, at) => ({ id: `h${at}`, definition: `d${at}` }))
  return {
    rest: {
      member: 'definition',
      all: [],
      sorted: [[sortedBy('asc'), sortedBy('desc')]],
      isMixed: false,
    },
    keep: async (_, rows) => rows.map(() => true),
    maxRows,
    read: async (part, { keep, from, size }) => {
      const isAscending = part.sort?.sortOrder === 'asc'
      const isFirst = isAscending === (nulls === 'first')
      const rows = (isFirst ? [...without, ...others] : [...others, ...without]).slice(from, from + size)
      const kept = await keep('/history/task', rows)
      return { rows: rows.map((row, at) => ({ row, bytes: Buffer.from(''), isVisible: kept[at] === true })) }
    },
  }
}

for (const nulls of ['first', 'last'] as const)
  for (const lacking of [0, 1, 3, 199, 200, 201, 1199, 1200, 1201, 2500])
    for (const having of [0, 1, 17, 199, 200, 1500]) {
      const name = `${lacking} of ${lacking + having} rows, ${nulls}`
      t.test(`all items that lack a member are found: ${name}`, async (t) => {
        const rows = await restRows(resting(lacking, having, nulls))
        t.same(
          rows?.map(({ row }) => row['id']),
          Array.from({ length: lacking }, (_, at) => `l${at}`),
        )
        t.equal(await countRest(resting(lacking, having, nulls)), lacking)
      })
    }

t.test('many items are counted by few reads', async (t) => {
  for (const lacking of [201, 1200, 5000, 123_456]) {
    let reads = 0
    const all = resting(lacking, 100_000, 'first')
    const count = await countRest({ ...all, read: (...asked) => ((reads += 1), all.read(...asked)) })
    t.equal(count, lacking)
    t.ok(reads <= 2 + 2 * Math.log2(lacking / 100), `${lacking}: ${reads}`)
  }
})

t.test('more items than the limit are not returned', async (t) => {
  t.equal(await restRows(resting(31, 5, 'last', 30)), null)
  t.equal((await restRows(resting(30, 5, 'last', 30)))?.length, 30)
})

function sortedBy(sortOrder: PartSort['sortOrder']): QueryPart {
  return { set: {}, known: {}, sort: { sortBy: 'definition', sortOrder } }
}
