import t, { type Test } from 'tap'
import { BASE, type OpenGateway, openGateway } from '../../support/open-gateway.ts'
import { listEngine, type ListWorld, type StoredItem } from '../../support/list-engine.ts'

const KEYS = Array.from({ length: 8 }, (_, at) => `k${at}`)
const DEFINITIONS = KEYS.map((key) => ({ id: `${key}:1`, key, tenantId: null }))
const ROWS = 4000

function rowOf(at: number): StoredItem {
  const definition = DEFINITIONS[at % DEFINITIONS.length] ?? null
  const id = String(at).padStart(5, '0')
  const shown = {
    id,
    processDefinitionId: definition?.id,
    processDefinitionKey: definition?.key,
    processInstanceId: `i${id}`,
    taskId: null,
    tenantId: null,
  }
  return { shown, definition, instanceId: `i${id}`, tenantId: null }
}

/** Creates a world with this number of items in each list. Consecutive items belong to the definitions in turn. */
function worldOf(count: number): ListWorld {
  const items = Array.from({ length: count }, (_, at) => rowOf(at))
  return {
    definitions: DEFINITIONS,
    items: {
      '/job': items,
      '/incident': items,
      '/variable-instance': items,
      '/execution': items,
      '/process-instance': items.map(instanceOf),
    },
  }
}

function instanceOf(item: StoredItem): StoredItem {
  const { definition, instanceId } = item
  const shown = { ...item.shown, id: String(instanceId), definitionId: definition?.id, definitionKey: null }
  return { ...item, shown }
}

/** Mary sees the items of seven of eight keys, Ben of the first six, the user `nobody` of the last five, and Anna of six instances. */
const RECORDS = [
  ...KEYS.slice(1).map((key) => `grant mary PROCESS_DEFINITION:${key} READ_INSTANCE`),
  ...KEYS.slice(0, 6).map((key) => `grant ben PROCESS_DEFINITION:${key} READ_INSTANCE`),
  ...KEYS.slice(3).map((key) => `grant nobody PROCESS_DEFINITION:${key} READ_INSTANCE`),
  ...[0, 1, 2, 3, 4, 5].map((at) => `grant anna PROCESS_INSTANCE:i0000${at} READ`),
]

function open(t: Test, world: () => ListWorld): Promise<OpenGateway> {
  return openGateway(t, { records: RECORDS, engine: listEngine(world) })
}

/** Returns the ids of a page, and the number of requests for the list and for its count. */
async function pageOf({ ask }: OpenGateway, user: string, route: string) {
  const { body, forwarded } = await ask(user, `GET ${route}`)
  const [list = ''] = route.split('?')
  const paths = forwarded.map(({ url }) => url.slice(BASE.length))
  const of = (path: string) => paths.filter((one) => one.split('?')[0] === path)
  return {
    ids: Array.isArray(body) ? body.map((item) => String(Object(item).id)) : [],
    lists: of(list).length,
    counts: of(`${list}/count`).length,
  }
}

function visibleTo(user: 'mary' | 'ben', count: number): readonly string[] {
  const isHidden = (at: number) => (user === 'mary' ? at % 8 === 0 : at % 8 > 5)
  return Array.from({ length: count }, (_, at) => at)
    .filter((at) => !isHidden(at))
    .map((at) => String(at).padStart(5, '0'))
}

t.test('a page near the beginning is read from the beginning if most items are visible', async (t) => {
  const gateway = await open(t, () => worldOf(ROWS))
  for (const first of [0, 200, 600]) {
    const { ids, lists, counts } = await pageOf(gateway, 'mary', `/job?firstResult=${first}&maxResults=50`)
    t.same(ids, visibleTo('mary', ROWS).slice(first, first + 50))
    t.ok(lists <= 2 && counts === 0, `${lists} reads from ${first}`)
  }
})

t.test('a far page is read from near its position in each subquery', async (t) => {
  const gateway = await open(t, () => worldOf(ROWS))
  const first = 2800
  const page = await pageOf(gateway, 'ben', `/job?firstResult=${first}&maxResults=50`)
  t.same(page.ids, visibleTo('ben', ROWS).slice(first, first + 50))
  t.equal(page.counts, 6)
  const next = await pageOf(gateway, 'ben', `/job?firstResult=${first + 50}&maxResults=50`)
  t.same(next.ids, visibleTo('ben', ROWS).slice(first + 50, first + 100))
  t.equal(next.counts, 0, 'what was counted lately is not counted again')
  const sorted = await pageOf(
    gateway,
    'ben',
    `/job?firstResult=${first}&maxResults=50&sortBy=jobId&sortOrder=desc`,
  )
  t.same(
    sorted.ids,
    visibleTo('ben', ROWS)
      .toReversed()
      .slice(first, first + 50),
  )
})

t.test('a far page is found without counts if the engine refuses them', async (t) => {
  const serve = listEngine(() => worldOf(ROWS))
  const gateway = await openGateway(t, {
    records: RECORDS,
    engine: (request, response) => {
      if (request.url.includes('/count?')) response.writeHead(500).end()
      else serve(request, response)
    },
  })
  const { ids, counts } = await pageOf(gateway, 'ben', '/job?firstResult=2800&maxResults=50')
  t.ok(counts > 0)
  t.same(ids, visibleTo('ben', ROWS).slice(2800, 2850))
})

t.test('positions are counted again after items have disappeared', async (t) => {
  let world = worldOf(ROWS)
  const gateway = await open(t, () => world)
  await pageOf(gateway, 'ben', '/job?firstResult=2900&maxResults=50')
  const left = (world.items['/job'] ?? []).filter(({ definition }) => definition?.key !== 'k5')
  world = { ...world, items: { ...world.items, '/job': left } }
  const visible = visibleTo('ben', ROWS).filter((id) => Number(id) % 8 !== 5)
  const page = await pageOf(gateway, 'ben', `/job?firstResult=${visible.length - 50}&maxResults=50`)
  t.same(page.ids, visible.slice(-50))
  t.equal(page.counts, 6)
})

t.test('an uneven distribution over the subqueries is remembered', async (t) => {
  // Sorts the jobs by definition, one definition after the other.
  const world = worldOf(ROWS)
  const jobs = world.items['/job'] ?? []
  const size = ROWS / DEFINITIONS.length
  const inTurn = DEFINITIONS.flatMap((_, part) => jobs.filter((_row, at) => at % DEFINITIONS.length === part))
  const renamed = inTurn.map((item, at) => ({
    ...item,
    shown: { ...item.shown, id: String(at).padStart(5, '0') },
  }))
  const gateway = await open(t, () => ({ ...world, items: { ...world.items, '/job': renamed } }))
  const ids = renamed.map(({ shown }) => shown['id'])
  const visible = ids.slice(0, 6 * size)
  const listsOf: number[] = []
  for (const first of [1500, 1500]) {
    const page = await pageOf(gateway, 'ben', `/job?firstResult=${first}&maxResults=50`)
    t.same(page.ids, visible.slice(first, first + 50))
    listsOf.push(page.lists)
  }
  const [lists = 0, again] = listsOf
  t.equal(again, lists - 6, 'one look at each part less')
})

t.test(
  'if most keys are visible, all items are counted and those of the hidden keys are subtracted',
  async (t) => {
    const gateway = await open(t, () => worldOf(ROWS))
    const { ask } = gateway
    for (const [user, hidden] of [
      ['mary', 1],
      ['ben', 2],
    ] as const) {
      t.same((await ask(user, 'GET /job/count')).body, { count: visibleTo(user, ROWS).length })
      const again = await pageOf(gateway, user, '/job/count')
      t.equal(again.lists, 1 + hidden, user)
    }
    const { body } = await ask('nobody', 'GET /job/count')
    t.same(body, { count: 5 * (ROWS / KEYS.length) }, 'and where three of eight are hidden')
    t.equal((await pageOf(gateway, 'nobody', '/job/count')).lists, 1 + 3)
  },
)

t.test('an individually granted instance is counted in addition to the items of most keys', async (t) => {
  const records = [...RECORDS, 'grant ben PROCESS_INSTANCE:i00006 READ']
  const { ask } = await openGateway(t, { records, engine: listEngine(() => worldOf(ROWS)) })
  t.same((await ask('ben', 'GET /job/count')).body, { count: visibleTo('ben', ROWS).length + 1 })
})

t.test('a short list is read once, however many instances are visible', async (t) => {
  const gateway = await open(t, () => worldOf(40))
  const whole = await pageOf(gateway, 'anna', '/incident')
  t.same(whole.ids, OF_SIX_INSTANCES)
  t.equal(whole.lists, 1)
})

const OF_SIX_INSTANCES = ['00000', '00001', '00002', '00003', '00004', '00005']

t.test('a list whose beginning is slow to read is not read again for few instances', async (t) => {
  const answer = listEngine(() => worldOf(ROWS))
  const gateway = await openGateway(t, {
    records: RECORDS,
    engine: (request, response) =>
      setTimeout(() => answer(request, response), request.url.includes('processInstanceId=') ? 0 : 50),
  })
  for (const reads of [2 + 6, 6]) {
    const page = await pageOf(gateway, 'anna', '/execution?maxResults=50')
    t.same(page.ids, OF_SIX_INSTANCES)
    t.equal(page.lists, reads)
  }
})

t.test('individually granted instances are queried by id and not searched in the list', async (t) => {
  const gateway = await open(t, () => worldOf(ROWS))
  const page = await pageOf(gateway, 'anna', '/variable-instance?maxResults=50')
  t.same(page.ids, OF_SIX_INSTANCES)
  t.equal(page.lists, 1)
})

/** Returns whether the caller with the last five keys sees the item. */
function isSeen({ definition }: StoredItem): boolean {
  return Number(definition?.key.slice(1)) > 2
}

t.test(
  'the beginning of a list is not read repeatedly if the visible items are close together',
  async (t) => {
    const world = worldOf(ROWS)
    const jobs = world.items['/job'] ?? []
    const seen = jobs.filter(isSeen)
    const hidden = jobs.filter((item) => !isSeen(item))
    const sorted = [...seen.slice(0, 40), ...hidden, ...seen.slice(40)].map((item, at) => ({
      ...item,
      shown: { ...item.shown, id: String(at).padStart(5, '0') },
    }))
    const gateway = await open(t, () => ({ ...world, items: { ...world.items, '/job': sorted } }))
    const page = await pageOf(gateway, 'nobody', '/job?maxResults=50')
    const visible = sorted.filter(isSeen).map(({ shown }) => shown.id)
    t.same(page.ids, visible.slice(0, 50))
    t.equal(page.lists, 2 + 5 + 2, 'the top, the parts, and what everybody sees')
  },
)
