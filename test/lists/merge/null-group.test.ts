import t from 'tap'
import { countNullGroup, type NullGroupReading, readNullGroup } from '../../../src/lists/merge/null-group.ts'
import type { SubquerySort, Subquery } from '../../../src/lists/list-plan.ts'

type Nulls = 'first' | 'last'

/** Returns a list in which some items lack a definition, as a database sorts it that puts them first or last. */
function resting(lacking: number, having: number, nulls: Nulls, maxRows = 3000): NullGroupReading {
  const without = Array.from({ length: lacking }, (_, at) => ({ id: `l${at}`, definition: null }))
  const others = Array.from({ length: having }, (_, at) => ({ id: `h${at}`, definition: `d${at}` }))
  return {
    nullGroup: {
      member: 'definition',
      all: [],
      sorted: [[sortedBy('asc'), sortedBy('desc')]],
      isCrossTenant: false,
    },
    postfilter: async (_, items) => items.map(() => true),
    maxItems: maxRows,
    read: (part, keep) => async (from, size) => {
      const isAscending = part.sort?.sortOrder === 'asc'
      const isFirst = isAscending === (nulls === 'first')
      const items = (isFirst ? [...without, ...others] : [...others, ...without]).slice(from, from + size)
      const kept = await keep('/history/task', items)
      return {
        items: items.map((item, at) => ({ item, bytes: Buffer.from(''), isVisible: kept[at] === true })),
      }
    },
  }
}

for (const nulls of ['first', 'last'] as const)
  for (const lacking of [0, 1, 3, 99, 100, 101, 999, 1000, 1001, 1099, 1100, 1101, 2500])
    for (const having of [0, 1, 17, 99, 100, 1500]) {
      const name = `${lacking} of ${lacking + having} rows, ${nulls}`
      t.test(`all items that lack a member are found: ${name}`, async (t) => {
        const items = await readNullGroup(resting(lacking, having, nulls))
        t.same(
          items?.map(({ item }) => item['id']),
          Array.from({ length: lacking }, (_, at) => `l${at}`),
        )
        t.equal(await countNullGroup(resting(lacking, having, nulls)), lacking)
      })
    }

t.test('many items are counted by few reads', async (t) => {
  for (const lacking of [201, 1200, 5000, 123_456]) {
    let reads = 0
    const all = resting(lacking, 100_000, 'first')
    const count = await countNullGroup({ ...all, read: (...asked) => ((reads += 1), all.read(...asked)) })
    t.equal(count, lacking)
    t.ok(reads <= 2 + 2 * Math.log2(lacking / 100), `${lacking}: ${reads}`)
  }
})

t.test('more items than the limit are not returned', async (t) => {
  t.equal(await readNullGroup(resting(31, 5, 'last', 30)), null)
  t.equal((await readNullGroup(resting(30, 5, 'last', 30)))?.length, 30)
})

function sortedBy(sortOrder: SubquerySort['sortOrder']): Subquery {
  return { set: {}, constants: {}, sort: { sortBy: 'definition', sortOrder } }
}
