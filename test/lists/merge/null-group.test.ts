import t from 'tap'
import { countNullGroup, type NullGroupReading, readNullGroup } from '../../../src/lists/merge/null-group.ts'
import type { SubquerySort, Subquery } from '../../../src/lists/list-plan.ts'
import type { ListRequest, ListSource } from '../../../src/lists/list-request.ts'
import { OPERATIONS } from '../../../src/operations/all.ts'

type Nulls = 'first' | 'last'

const operation = OPERATIONS.find(({ template, method }) => template === '/history/task' && method === 'GET')

/** Returns an engine with a list in which some items lack a definition, sorted by a database that puts them first or last. */
function engineWith(
  lacking: number,
  having: number,
  nulls: Nulls,
): { list: ListRequest; reads: () => number; change: (lacking: number, having?: number) => void } {
  if (operation === undefined) throw new Error('the table has no list of tasks')
  let reads = 0
  let without = itemsLacking(lacking)
  let others = itemsHaving(having)
  const fetch: ListSource['upstream']['fetch'] = async ({ path }) => {
    reads += 1
    const { searchParams } = new URL(path, 'http://engine')
    const isFirst = (searchParams.get('sortOrder') === 'asc') === (nulls === 'first')
    const from = Number(searchParams.get('firstResult'))
    const items = (isFirst ? [...without, ...others] : [...others, ...without]).slice(
      from,
      from + Number(searchParams.get('maxResults')),
    )
    return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(items)) }
  }
  const principal = { userId: 'mary', groups: [], tenants: [] }
  return {
    list: {
      context: {
        engine: { upstream: { fetch } },
        operation,
        accessRequest: { principal, params: {}, query: new Map(), body: undefined },
      },
      upstreamRequest: { method: 'GET', path: '/history/task', headers: {}, body: null, retry: 'always' },
    },
    reads: () => reads,
    change: (nextLacking, nextHaving = having) => {
      without = itemsLacking(nextLacking)
      others = itemsHaving(nextHaving)
    },
  }
}

function readingOf(maxItems = 3000): NullGroupReading {
  return {
    nullGroup: {
      member: 'definition',
      all: [],
      sorted: [[sortedBy('asc'), sortedBy('desc')]],
      isCrossTenant: false,
    },
    postfilter: async (_, items) => items.map(() => true),
    maxItems,
  }
}

for (const nulls of ['first', 'last'] as const)
  for (const lacking of [0, 1, 3, 99, 100, 101, 999, 1000, 1001, 1099, 1100, 1101, 2500])
    for (const having of [0, 1, 17, 99, 100, 1500]) {
      const name = `${lacking} of ${lacking + having} rows, ${nulls}`
      t.test(`all items that lack a member are found: ${name}`, async (t) => {
        const items = await readNullGroup(engineWith(lacking, having, nulls).list, readingOf())
        t.same(
          items?.map(({ item }) => item['id']),
          Array.from({ length: lacking }, (_, at) => `l${at}`),
        )
        t.equal(await countNullGroup(engineWith(lacking, having, nulls).list, readingOf()), lacking)
      })
    }

t.test('many items are counted by few reads', async (t) => {
  for (const lacking of [201, 1200, 5000, 123_456]) {
    const { list, reads } = engineWith(lacking, 100_000, 'first')
    t.equal(await countNullGroup(list, readingOf()), lacking)
    t.ok(reads() <= 2 + 2 * Math.log2(lacking / 100), `${lacking}: ${reads()}`)
  }
})

t.test(
  'one or two reads are sufficient if the number of items is known, and a changed number is found',
  async (t) => {
    for (const read of [countNullGroup, readNullGroup])
      for (const lacking of [50, 350, 800]) {
        const engine = engineWith(lacking, 5000, 'first')
        const countOf = async () => {
          const found = await read(engine.list, readingOf())
          return Array.isArray(found) ? found.length : found
        }
        t.equal(await countOf(), lacking)
        const before = engine.reads()
        t.equal(await countOf(), lacking)
        const reads = read === countNullGroup && lacking > 400 ? 2 : 1
        t.equal(engine.reads() - before, reads, `${read.name} of ${lacking}`)
        for (const changed of [lacking + 700, lacking - 40, 0, 1]) {
          engine.change(changed)
          t.equal(await countOf(), changed, `${read.name} of ${changed} after ${lacking}`)
        }
      }
  },
)

t.test('other items that are added before these items are not counted', async (t) => {
  for (const read of [countNullGroup, readNullGroup])
    for (const lacking of [90, 350, 900]) {
      const engine = engineWith(lacking, 0, 'last')
      for (const having of [0, 1, 100, 5000]) {
        engine.change(lacking, having)
        const found = await read(engine.list, readingOf())
        const count = Array.isArray(found) ? found.length : found
        t.equal(count, lacking, `${read.name} of ${lacking} beside ${having}`)
      }
    }
})

t.test('more items than the limit are not returned', async (t) => {
  t.equal(await readNullGroup(engineWith(31, 5, 'last').list, readingOf(30)), null)
  t.equal((await readNullGroup(engineWith(30, 5, 'last').list, readingOf(30)))?.length, 30)
})

function sortedBy(sortOrder: SubquerySort['sortOrder']): Subquery {
  return { set: {}, constants: {}, sort: { sortBy: 'definition', sortOrder } }
}

function itemsLacking(count: number) {
  return Array.from({ length: count }, (_, at) => ({ id: `l${at}`, definition: null }))
}

function itemsHaving(count: number) {
  return Array.from({ length: count }, (_, at) => ({ id: `h${at}`, definition: `d${at}` }))
}
