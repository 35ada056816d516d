import t from 'tap'
import { BASE, openGateway } from '../support/open-gateway.ts'
import { cpuMs } from '../support/cpu-time.ts'

const FILTERS =
  '[{"id":"f1","properties":{"precise":1.10},"itemCount":3},{"id":"f2","properties":{},"itemCount":3}]'
const TASKS = [
  { id: 't1', processDefinitionId: 'review:1', tenantId: null },
  { id: 't2', processDefinitionId: 'review:1', tenantId: 'globex' },
  { id: 't3', processDefinitionId: 'other:1', tenantId: null },
]
const DEFINITIONS = [
  { id: 'review:1', key: 'review', tenantId: null },
  { id: 'other:1', key: 'other', tenantId: null },
]
const ANSWERS: Readonly<Record<string, string>> = {
  '/filter': FILTERS,
  '/filter/f1': '{"id":"f1","itemCount":3}',
  '/filter/f1/list': JSON.stringify(TASKS),
  '/filter/f2/list': '[]',
  '/process-definition': JSON.stringify(DEFINITIONS),
  '/process-definition/review%3A1': JSON.stringify(DEFINITIONS[0]),
  '/case-definition/count': '{"count":0}',
}

const gateway = await openGateway(t, {
  records: [
    'grant mary FILTER:* READ',
    'grant mary PROCESS_DEFINITION:review READ_TASK',
    'grant ben FILTER:f1 READ',
  ],
  settings: {
    authorization: { records: { source: 'file', file: 'records.yaml' }, implied: { tasks: false } },
  },
  engine: ({ url }, response) => {
    const [path = ''] = url.slice(BASE.length).split('?')
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(ANSWERS[path] ?? '[]')
  },
})

t.test('a filter is counted over the tasks that the caller sees', async (t) => {
  const { body } = await gateway.ask('mary', 'GET /filter/f1?itemCount=true')
  t.same(body, { id: 'f1', itemCount: 1 })
})

t.test('so is every filter of a list, and all else in it stays as it was', async (t) => {
  const { bytes } = await gateway.ask('mary', 'GET /filter?itemCount=true')
  t.equal(
    bytes.toString(),
    '[{"id":"f1","properties":{"precise":1.10},"itemCount":1},{"id":"f2","properties":{},"itemCount":0}]',
  )
})

t.test('who sees no task is told of none, and of no filter but the own', async (t) => {
  const { body } = await gateway.ask('ben', 'GET /filter?itemCount=true')
  t.match(body, [{ id: 'f1', itemCount: 0 }])
})

t.test('nothing is counted where no count is asked for', async (t) => {
  const { forwarded } = await gateway.ask('mary', 'GET /filter/f1')
  t.same(
    forwarded.map(({ url }) => url.slice(BASE.length)),
    ['/filter/f1'],
  )
})

t.test('many filters are counted in one go', async (t) => {
  const filters = Array.from({ length: 2500 }, (_, at) => ({ id: `f${at}`, name: 'Mine', itemCount: 3 }))
  const own = await openGateway(t, {
    records: ['grant anna FILTER:* READ'],
    settings: {
      authorization: { records: { source: 'file', file: 'records.yaml' }, implied: { tasks: false } },
    },
    engine: ({ url }, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(url.startsWith(`${BASE}/filter`) ? JSON.stringify(filters) : '{"count":0}')
    },
  })
  const start = cpuMs()
  const { body } = await own.ask('anna', 'GET /filter?itemCount=true')
  t.same(
    body,
    filters.map((filter) => ({ ...filter, itemCount: 0 })),
  )
  // A fraction of a second; where each count was put into the whole answer, it was ten.
  t.ok(cpuMs() - start < 4000)
})
