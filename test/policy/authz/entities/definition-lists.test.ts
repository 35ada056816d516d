import t from 'tap'
import { createDefinitionLists } from '../../../../src/policy/authz/entities/definition-lists.ts'

interface Read {
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
}

/** Lists before an engine that answers with `answer`; `reads` is what it was asked. */
function open({ answer, maxRows = 10_000 }: { answer: (read: Read) => unknown; maxRows?: number }) {
  const reads: Read[] = []
  const clock = { ms: 0 }
  const lists = createDefinitionLists({
    read: async (target, body) => {
      const { pathname, searchParams } = new URL(target, 'http://engine')
      const read = { path: pathname, query: searchParams, body }
      reads.push(read)
      return answer(read)
    },
    nowMs: () => clock.ms,
    maxRows,
  })
  return { lists, reads, clock }
}

const definition = (id: string, tenantId: string | null = null) => ({ id, key: `key-${id}`, tenantId })

t.test('definitions are asked for by keys, so many at once as a request line takes', async (t) => {
  const keys = Array.from({ length: 120 }, (_, at) => `k${at}`)
  const { lists, reads } = open({ answer: ({ query }) => [definition(query.get('keysIn') ?? '', 'acme')] })
  const found = await lists.definitions(keys, 200)
  t.same(
    reads.map(({ path, query }) => [path, query.get('keysIn')?.split(',').length, query.get('maxResults')]),
    [
      ['/process-definition', 50, '201'],
      ['/process-definition', 50, '200'],
      ['/process-definition', 20, '199'],
    ],
  )
  t.same(
    reads.flatMap(({ query }) => query.get('keysIn')?.split(',')),
    keys,
  )
  t.same(
    found?.map(({ tenantId }) => tenantId),
    ['acme', 'acme', 'acme'],
  )
})

t.test('all definitions are one question, and one more than the bound is too many', async (t) => {
  const rows = ['a', 'b', 'c'].map((id) => definition(id))
  const { lists, reads } = open({ answer: () => rows })
  t.same(await lists.definitions(null, 3), rows)
  t.equal(await lists.definitions(null, 2), null)
  t.same(
    reads.map(({ query }) => query.toString()),
    ['maxResults=4', 'maxResults=3'],
  )
})

t.test(
  'a definition without an id or a key, and an answer that is no list, are none of the engine',
  async (t) => {
    for (const answer of [[{ id: 'a' }], [{ key: 'a' }], null, {}]) {
      const { lists } = open({ answer: () => answer })
      await t.rejects(lists.definitions(null, 5), { code: 'GW_UPSTREAM_INVALID' })
    }
  },
)

interface Instance {
  readonly processDefinitionId?: string
  readonly processDefinitionKey?: string
  readonly processDefinitionVersion: number | null
}

const running = (at: number): Instance => ({
  processDefinitionId: `p${at}`,
  processDefinitionKey: 'p',
  processDefinitionVersion: 1,
})
const gone = (id: string): Instance => ({
  processDefinitionId: id,
  processDefinitionKey: `key-${id}`,
  processDefinitionVersion: null,
})

/** A history sorted by the version, where a database puts nulls at the end that it likes. */
function historyOf(instances: readonly Instance[], { isNullFirst }: { readonly isNullFirst: boolean }) {
  return ({ path, query }: Read) => {
    if (path !== '/history/process-instance' || query.get('sortBy') !== 'definitionVersion') return null
    const lowest = isNullFirst ? -1 : Number.MAX_SAFE_INTEGER
    const sorted = instances.toSorted(
      (one, other) => (one.processDefinitionVersion ?? lowest) - (other.processDefinitionVersion ?? lowest),
    )
    if (query.get('sortOrder') === 'desc') sorted.reverse()
    const from = Number(query.get('firstResult'))
    return sorted.slice(from, from + Number(query.get('maxResults')))
  }
}

const PRESENT = Array.from({ length: 50 }, (_, at) => running(at))

for (const isNullFirst of [true, false])
  t.test(`deleted definitions are found where nulls are ${isNullFirst ? 'first' : 'last'}`, async (t) => {
    const left = [gone('a'), gone('b'), gone('a'), ...Array.from({ length: 2500 }, () => gone('c'))]
    const { lists, reads } = open({ answer: historyOf([...PRESENT, ...left], { isNullFirst }) })
    const found = await lists.deleted()
    t.same(
      found?.toSorted((one, other) => one.id.localeCompare(other.id)),
      ['a', 'b', 'c'].map((id) => definition(id)),
      'each once, of no tenant that is known',
    )
    // One row says that this end has none; at the other all of them are read, and the row behind them.
    t.equal(reads.length, 1 + 4)
  })

t.test('where all definitions are there, one row of each end says so', async (t) => {
  const { lists, reads } = open({ answer: historyOf(PRESENT, { isNullFirst: true }) })
  t.same(await lists.deleted(), [])
  t.same(
    reads.map(({ query }) => [query.get('sortOrder'), query.get('maxResults')]),
    [
      ['asc', '1'],
      ['desc', '1'],
    ],
  )
})

t.test('rows that name no definition are of none', async (t) => {
  const nameless = [
    { processDefinitionVersion: null },
    { processDefinitionId: 'a', processDefinitionVersion: null },
  ]
  const { lists } = open({ answer: historyOf([...PRESENT, ...nameless], { isNullFirst: true }) })
  t.same(await lists.deleted(), [])
})

t.test('a history with too much to look through is not looked through', async (t) => {
  const left = Array.from({ length: 5000 }, () => gone('a'))
  const { lists, reads } = open({ answer: historyOf(left, { isNullFirst: true }), maxRows: 2500 })
  t.equal(await lists.deleted(), null)
  t.same(
    reads.map(({ query }) => Number(query.get('firstResult'))),
    [0, 1, 1001, 2001],
  )
})

t.test('what was found is remembered for a minute, and a failure is not', async (t) => {
  const left: Instance[] = []
  let isAway = true
  const { lists, reads, clock } = open({
    answer: (read) => {
      if (isAway) throw new Error('away')
      return historyOf(left, { isNullFirst: true })(read)
    },
  })
  await t.rejects(lists.deleted(), { message: 'away' })
  isAway = false
  t.same(await lists.deleted(), [])
  const before = reads.length
  left.push(gone('a'))
  clock.ms = 60_000
  t.same(await lists.deleted(), [])
  t.equal(reads.length, before)
  clock.ms = 60_001
  t.same(await lists.deleted(), [definition('a')])
})

t.test('a failure that comes late does not drop what was found since', async (t) => {
  const refusals: ((error: Error) => void)[] = []
  const { lists, reads, clock } = open({
    answer: () =>
      refusals.length === 0 ? new Promise((_resolve, reject) => refusals.push(reject)) : ([] as unknown),
  })
  const first = lists.deleted()
  clock.ms = 60_001
  t.same(await lists.deleted(), [])
  const before = reads.length
  refusals[0]?.(new Error('late'))
  await t.rejects(first, { message: 'late' })
  await lists.deleted()
  t.equal(reads.length, before)
})

t.test('instances have tenants of their own where two counts differ', async (t) => {
  for (const [ofNone, expected] of [
    [5, false],
    [4, true],
  ] as const) {
    const { lists, reads } = open({
      answer: ({ body }) => ({ count: Object.hasOwn(Object(body), 'withoutTenantId') ? ofNone : 5 }),
    })
    t.equal(await lists.hasOwnTenants(['a', 'b']), expected)
    t.same(reads[0], {
      path: '/process-instance/count',
      query: new URLSearchParams(),
      body: { processDefinitionWithoutTenantId: true, processDefinitionKeyIn: ['a', 'b'] },
    })
    await lists.hasOwnTenants(null)
    t.same(reads[2]?.body, { processDefinitionWithoutTenantId: true })
  }
  for (const answer of [null, [], { count: '5' }])
    await t.rejects(open({ answer: () => answer }).lists.hasOwnTenants(null), { code: 'GW_UPSTREAM_INVALID' })
})

/** The end of the list sorted by `endTime` at which a database puts what has none. */
const endsOf = (rows: { readonly asc: unknown; readonly desc: unknown }) => ({
  answer: ({ query }: Read) => [query.get('sortOrder') === 'asc' ? rows.asc : rows.desc],
})
const ENDED = { endTime: '2026-01-01T00:00:00.000+0000' }

t.test(
  'the order that puts nulls first is told by an instance that runs beside one that has ended',
  async (t) => {
    const ascending = open(endsOf({ asc: { endTime: null }, desc: ENDED }))
    t.equal(await ascending.lists.nullsFirst(), 'asc')
    t.same(
      ascending.reads.map(({ query }) => [query.get('sortBy'), query.get('maxResults')]),
      [
        ['endTime', '1'],
        ['endTime', '1'],
      ],
    )
    t.equal(await open(endsOf({ asc: ENDED, desc: {} })).lists.nullsFirst(), 'desc')
    ascending.clock.ms = 10 ** 12
    t.equal(await ascending.lists.nullsFirst(), 'asc')
    t.equal(ascending.reads.length, 2, 'no database changes it')
  },
)

t.test('while nothing tells it, it is asked again after a minute', async (t) => {
  for (const rows of [
    { asc: ENDED, desc: ENDED },
    { asc: { endTime: null }, desc: { endTime: null } },
  ]) {
    const { lists, reads, clock } = open(endsOf(rows))
    t.equal(await lists.nullsFirst(), null)
    clock.ms = 60_000
    t.equal(await lists.nullsFirst(), null)
    t.equal(reads.length, 2)
    clock.ms = 60_001
    t.equal(await lists.nullsFirst(), null)
    t.equal(reads.length, 4)
  }
})
