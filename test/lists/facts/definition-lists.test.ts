import t from 'tap'
import { createDefinitionLists } from '../../../src/lists/facts/definition-lists.ts'

interface Read {
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
}

/** Opens lists of an engine that responds with `answer`. `reads` contains its requests. */
function open({ answer }: { readonly answer: (read: Read) => unknown }) {
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
  })
  return { lists, reads, clock }
}

const definition = (id: string, tenantId: string | null = null) => ({ id, key: `key-${id}`, tenantId })

t.test('definitions are read by keys, a hundred in one request', async (t) => {
  const keys = Array.from({ length: 220 }, (_, at) => `k${at}`)
  const { lists, reads } = open({ answer: ({ query }) => [definition(query.get('keysIn') ?? '', 'acme')] })
  const found = await lists.definitions({ keys, isLatest: false, max: 200 })
  t.same(
    reads.map(({ path, query }) => [path, query.get('keysIn')?.split(',').length, query.get('maxResults')]),
    [
      ['/process-definition', 100, '201'],
      ['/process-definition', 100, '200'],
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

t.test('all definitions are read in one request, and one more than the limit is refused', async (t) => {
  const items = ['a', 'b', 'c'].map((id) => definition(id))
  const { lists, reads } = open({ answer: () => items })
  t.same(await lists.definitions({ keys: null, isLatest: false, max: 3 }), items)
  t.equal(await lists.definitions({ keys: null, isLatest: false, max: 2 }), null)
  t.same(
    reads.map(({ query }) => query.toString()),
    ['maxResults=4', 'maxResults=3'],
  )
})

t.test('only the latest version of each key and tenant is read if requested', async (t) => {
  const { lists, reads } = open({ answer: () => [definition('a')] })
  t.same(await lists.definitions({ keys: ['a'], isLatest: true, max: 3 }), [definition('a')])
  t.same(
    reads.map(({ query }) => query.toString()),
    ['maxResults=4&keysIn=a&latestVersion=true'],
  )
})

t.test('a definition without an id or a key, or a response that is not a list, is invalid', async (t) => {
  for (const answer of [[{ id: 'a' }], [{ key: 'a' }], null, {}]) {
    const { lists } = open({ answer: () => answer })
    await t.rejects(lists.definitions({ keys: null, isLatest: false, max: 5 }), {
      code: 'GW_UPSTREAM_INVALID',
    })
  }
})

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

/** Returns a history sorted by version and definition. A database sorts nulls first or last. */
function historyOf(instances: readonly Instance[], { isNullFirst }: { readonly isNullFirst: boolean }) {
  return ({ path, query, body }: Read) => {
    const { sorting, processDefinitionId } = Object(body)
    if (path === '/history/process-instance/count')
      return { count: instances.filter((one) => one.processDefinitionId === processDefinitionId).length }
    if (path !== '/history/process-instance') return null
    const [{ sortBy, sortOrder }, second] = sorting
    t.same([sortBy, second], ['definitionVersion', { sortBy: 'definitionId', sortOrder: 'asc' }])
    const lowest = isNullFirst ? -1 : Number.MAX_SAFE_INTEGER
    const version = (one: Instance) =>
      (sortOrder === 'desc' ? -1 : 1) * (one.processDefinitionVersion ?? lowest)
    const sorted = instances.toSorted(
      (one, other) =>
        version(one) - version(other) ||
        (one.processDefinitionId ?? '').localeCompare(other.processDefinitionId ?? ''),
    )
    const from = Number(query.get('firstResult'))
    return sorted.slice(from, from + Number(query.get('maxResults')))
  }
}

/** Returns the requested pages as `order first size`. */
function pagesIn(reads: readonly Read[]): readonly string[] {
  return reads
    .filter(({ path }) => !path.endsWith('/count'))
    .map(({ query, body }) => {
      const { sortOrder } = Object(body).sorting[0]
      return `${sortOrder} ${query.get('firstResult')} ${query.get('maxResults')}`
    })
}

const PRESENT = Array.from({ length: 50 }, (_, at) => running(at))

const goneOf = (id: string, length: number) => Array.from({ length }, () => gone(id))

for (const isNullFirst of [true, false])
  t.test(`deleted definitions are found if nulls are sorted ${isNullFirst ? 'first' : 'last'}`, async (t) => {
    const left = [...goneOf('c', 2500), ...goneOf('a', 2), ...goneOf('b', 30_000), ...goneOf('d', 1)]
    const { lists, reads } = open({ answer: historyOf([...PRESENT, ...left], { isNullFirst }) })
    t.same(
      await lists.deleted(),
      ['a', 'b', 'c', 'd'].map((id) => definition(id)),
      'each once, of no tenant that is known',
    )
    const order = isNullFirst ? 'asc' : 'desc'
    // All instances of a definition are skipped at once, however many it has.
    t.same(pagesIn(reads), [
      ...(isNullFirst ? [] : ['asc 0 1']),
      `${order} 0 1`,
      `${order} 2 1000`,
      `${order} 30002 1000`,
      `${order} 32502 1000`,
    ])
  })

t.test('if no definition was deleted, one item of each end of the list is enough', async (t) => {
  const { lists, reads } = open({ answer: historyOf(PRESENT, { isNullFirst: true }) })
  t.same(await lists.deleted(), [])
  t.same(pagesIn(reads), ['asc 0 1', 'desc 0 1'])
})

t.test('an instance of the history without its definition is an invalid response', async (t) => {
  for (const nameless of [
    { processDefinitionVersion: null },
    { processDefinitionId: 'a', processDefinitionVersion: null },
  ]) {
    const { lists } = open({ answer: historyOf([...PRESENT, nameless], { isNullFirst: true }) })
    await t.rejects(lists.deleted(), { code: 'GW_UPSTREAM_INVALID' })
  }
})

t.test('more than 1,000 deleted definitions are not listed', async (t) => {
  const left = Array.from({ length: 1500 }, (_, at) => gone(`d${at}`))
  t.equal(await open({ answer: historyOf(left, { isNullFirst: true }) }).lists.deleted(), null)
  const fewer = open({ answer: historyOf(left.slice(0, 1000), { isNullFirst: true }) })
  t.equal((await fewer.lists.deleted())?.length, 1000)
})

t.test('a result is reused for a minute, then during a new lookup, and a failure is not kept', async (t) => {
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
  isAway = true
  t.same(await lists.deleted(), [], 'nobody waits')
  await settled()
  isAway = false
  t.same(await lists.deleted(), [], 'nor hears of a failure')
  await settled()
  t.same(await lists.deleted(), [definition('a')])
  left.length = 0
  clock.ms += 600_001
  t.same(await lists.deleted(), [], 'what is ten minutes old serves no more')
})

t.test('callers share one lookup, and lookups take at most a twentieth of the time', async (t) => {
  const { lists, reads, clock } = open({
    answer: async (read) => {
      await settled()
      clock.ms += 10_000
      return historyOf([gone('a')], { isNullFirst: true })(read)
    },
  })
  const [one, other] = await Promise.all([lists.deleted(), lists.deleted()])
  t.equal(one, other)
  const looks = reads.length
  // One item, the count for its definition, and the items behind it.
  t.equal(looks, 3)
  clock.ms = 30_000 + 600_000
  await lists.deleted()
  await settled()
  t.equal(reads.length, looks)
  clock.ms += 1
  await lists.deleted()
  t.equal(reads.length, looks + 1)
})

function settled(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 5)
  })
}

t.test('instances have tenants of their own if the two counts differ', async (t) => {
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

/** Returns the item at each end of the list sorted by `endTime`. A database puts instances without it at one of the ends. */
const endsOf = (items: { readonly asc: unknown; readonly desc: unknown }) => ({
  answer: ({ query }: Read) => [query.get('sortOrder') === 'asc' ? items.asc : items.desc],
})
const ENDED = { endTime: '2026-01-01T00:00:00.000+0000' }

t.test('the order that puts nulls first is found from a running and an ended instance', async (t) => {
  const ascending = open(endsOf({ asc: { endTime: null }, desc: ENDED }))
  t.equal(await ascending.lists.nullsFirst(), 'asc')
  t.same(
    ascending.reads.map(({ query }) => [query.get('sortBy'), query.get('maxResults')]),
    [
      ['endTime', '1'],
      ['endTime', '1'],
    ],
  )
  t.equal(await open(endsOf({ asc: ENDED, desc: { endTime: null } })).lists.nullsFirst(), 'desc')
  ascending.clock.ms = 10 ** 12
  t.equal(await ascending.lists.nullsFirst(), 'asc')
  t.equal(ascending.reads.length, 2, 'no database changes it')
})

t.test('an instance without the member endTime is an invalid response', async (t) => {
  const { lists } = open(endsOf({ asc: ENDED, desc: { status: 'maintenance' } }))
  await t.rejects(lists.nullsFirst(), { code: 'GW_UPSTREAM_INVALID' })
})

t.test('if the order of nulls cannot be determined, it is read again after a minute', async (t) => {
  for (const items of [
    { asc: ENDED, desc: ENDED },
    { asc: { endTime: null }, desc: { endTime: null } },
  ]) {
    const { lists, reads, clock } = open(endsOf(items))
    t.equal(await lists.nullsFirst(), null)
    clock.ms = 60_000
    t.equal(await lists.nullsFirst(), null)
    t.equal(reads.length, 2)
    clock.ms = 60_001
    t.equal(await lists.nullsFirst(), null)
    t.equal(reads.length, 4)
  }
})
