import t from 'tap'
import { BASE, openGateway } from '../../support/open-gateway.ts'

const DEFINITIONS = ['one', 'two', 'hidden'].map((key) => ({ id: `${key}:1`, key, tenantId: null }))

/** The two items of each definition start within the same second. */
const ITEMS = DEFINITIONS.flatMap(({ id, key }, at) =>
  [0, 1].map((half) => ({
    id: `${key}-${half}`,
    processDefinitionId: id,
    processDefinitionKey: key,
    processInstanceId: `i-${key}-${half}`,
    startTime: '2026-01-31T12:00:00+0000',
    tenantId: null,
    order: half * 10 + at,
  })),
)

const { ask } = await openGateway(t, {
  records: ['one', 'two'].map(
    (key) => `grant mary PROCESS_DEFINITION:${key} READ,READ_INSTANCE,READ_HISTORY`,
  ),
  engines: {
    seconds: { dateFormat: "yyyy-MM-dd'T'HH:mm:ssZ" },
    german: { dateFormat: 'dd.MM.yyyy HH:mm:ss' },
  },
  settings: {
    authorization: { records: { source: 'file', file: 'records.yaml' }, implied: { tasks: false } },
  },
  engine: ({ url }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://engine')
    const path = pathname.slice(BASE.length)
    const definition = searchParams.get('processDefinitionId')
    const found = ITEMS.filter((item) => definition === null || item.processDefinitionId === definition)
    const sorted = found.toSorted((one, other) => one.order - other.order)
    const first = Number(searchParams.get('firstResult') ?? 0)
    const page = sorted.slice(first, first + Number(searchParams.get('maxResults') ?? 100))
    const answer = path.startsWith('/history/activity-instance')
      ? page
      : path === '/process-definition'
        ? DEFINITIONS
        : []
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify(
        path.endsWith('/count') ? { count: path.startsWith('/history/') ? found.length : 0 } : answer,
      ),
    )
  },
})

t.test('a list is not merged by timestamps without milliseconds', async (t) => {
  const list = '/engine/seconds/history/activity-instance?sortBy=startTime&sortOrder=asc'
  const ids: unknown[] = []
  for (const first of [0, 2]) {
    const { status, body, forwarded } = await ask('mary', `GET ${list}&firstResult=${first}&maxResults=2`)
    t.equal(status, 200)
    t.notOk(
      forwarded.some(({ url }) => url.includes('/activity-instance') && url.includes('processDefinitionId=')),
    )
    ids.push(...(Array.isArray(body) ? body.map((item: unknown) => Object(item).id) : []))
  }
  t.same(ids, ['one-0', 'two-0', 'one-1', 'two-1'], 'in the order of the engine')
})

t.test(
  'a date in the configured format of its engine is sent, and refused for an engine with the default format',
  async (t) => {
    for (const [engine, status] of [
      ['german', 200],
      ['default', 400],
    ] as const) {
      const body = { dueBefore: '31.01.2026 12:00:00' }
      const { status: given, forwarded } = await ask('demo', `POST /engine/${engine}/task`, { body })
      t.equal(given, status, engine)
      t.equal(
        forwarded.some(({ url }) => url === `${BASE}/task`),
        status === 200,
      )
    }
  },
)

t.test('the engine validates the dates of a caller who sees no items', async (t) => {
  const body = { dueBefore: '31.01.2026 12:00:00' }
  for (const route of ['POST /engine/german/task', 'GET /engine/german/task?dueBefore=31.01.2026']) {
    const { forwarded } = await ask('nobody', route, route.startsWith('POST') ? { body } : {})
    t.ok(
      forwarded.some(({ url }) => url.startsWith(`${BASE}/task`)),
      route,
    )
  }
  const { forwarded } = await ask('nobody', 'POST /task', { body: {} })
  const sent = forwarded.filter(({ url }) => url === `${BASE}/task`)
  t.same(sent, [], 'with the default format the gateway judges the query itself')
})
