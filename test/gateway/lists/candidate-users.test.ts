import t from 'tap'
import { isRecord } from '../../../src/request/value.ts'
import { BASE, openGateway, type Seen } from '../../support/open-gateway.ts'

/** The groups of users in the directory of the engine. */
const AT_ENGINE: Readonly<Record<string, readonly string[]>> = { carl: ['accounting'] }
const FILTERS: Readonly<Record<string, unknown>> = {
  mine: { candidateUser: 'mary', name: 'a' },
  others: { candidateUser: 'carl' },
}
const TASK = { id: 't1', owner: null, assignee: null, processDefinitionId: 'review:1', tenantId: null }

const gateway = await openGateway(t, {
  settings: {
    authorization: {
      records: { source: 'file', file: 'records.yaml' },
      implied: { tasks: false },
      tenants: 'ignore',
    },
  },
  records: ['grant mary TASK:* READ', 'grant mary FILTER:* READ'],
  engine: ({ url }, response) => {
    const { pathname, searchParams } = new URL(url.slice(BASE.length), 'http://engine')
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answerTo(pathname, searchParams)))
  },
})

function answerTo(path: string, query: URLSearchParams): unknown {
  if (path === '/group') return (AT_ENGINE[query.get('member') ?? ''] ?? []).map((id) => ({ id }))
  const filter = /^\/filter\/(\w+)$/.exec(path)?.[1]
  if (filter !== undefined) return { id: filter, query: FILTERS[filter], itemCount: 7 }
  if (path.endsWith('/count')) return { count: 1 }
  return path === '/task' ? [TASK] : []
}

/** Returns the last task query that the engine received. */
function queryIn(seen: readonly Seen[]): unknown {
  const last = seen.findLast(({ url }) => /^\/(?:task|filter\/\w+\/)/.test(url.slice(BASE.length)))
  const body: unknown = JSON.parse(last?.body.toString() || '{}')
  return { path: last?.url.slice(BASE.length), body: isRecord(body) ? body : {} }
}

const OF_MARY = { candidateUser: 'mary', candidateGroups: ['clerks'] }

t.test('a candidate user whom the engine does not know has the groups of the file', async (t) => {
  const get = await gateway.ask('mary', 'GET /task?candidateUser=mary&maxResults=5')
  t.equal(get.status, 200)
  t.match(queryIn(get.forwarded), { path: '/task?maxResults=5', body: { orQueries: [OF_MARY] } })
  const count = await gateway.ask('mary', 'GET /task/count?candidateUser=mary&includeAssignedTasks=true')
  t.match(queryIn(count.forwarded), {
    path: '/task/count',
    body: { orQueries: [{ ...OF_MARY, includeAssignedTasks: true }] },
  })
  const post = await gateway.ask('mary', 'POST /task', { body: { orQueries: [{ candidateUser: 'mary' }] } })
  t.match(queryIn(post.forwarded), { path: '/task', body: { orQueries: [OF_MARY] } })
})

t.test('a name in escapes, and a byte order mark, do not hide a candidate user', async (t) => {
  for (const body of ['{"candidate\\u0055ser":"mary"}', '\uFEFF{"candidateUser":"mary"}']) {
    const { forwarded } = await gateway.ask('mary', 'POST /task', { body })
    t.match(queryIn(forwarded), { body: { orQueries: [OF_MARY] } })
  }
})

t.test(
  'groups that only the engine knows do not count: the tasks of the user are selected by id',
  async (t) => {
    const { forwarded } = await gateway.ask('mary', 'POST /task/count', { body: { candidateUser: 'carl' } })
    t.same(queryIn(forwarded), { path: '/task/count', body: { orQueries: [{ taskIdIn: ['t1'] }] } })
  },
)

t.test('a query that cannot be exact is refused, and does not reach the engine', async (t) => {
  const body = { candidateUser: 'carl', involvedUser: 'mary' }
  const answer = await gateway.ask('mary', 'POST /task', { body })
  t.equal(answer.status, 403)
  t.equal(answer.headers['x-gateway-error'], 'GW_ITEMS_NOT_EXACT')
  t.same(
    answer.forwarded.filter(({ method }) => method === 'POST'),
    [],
  )
})

t.test(
  'a stored filter is executed with the groups of the file, and its count and item count too',
  async (t) => {
    const list = await gateway.ask('mary', 'POST /filter/mine/list?maxResults=2', { body: { name: 'b' } })
    t.match(queryIn(list.forwarded), {
      path: '/task?maxResults=2',
      body: { name: 'b', orQueries: [OF_MARY] },
    })
    const single = await gateway.ask('mary', 'GET /filter/mine/singleResult')
    t.match(single.body, { id: 't1' })
    const count = await gateway.ask('mary', 'GET /filter/mine/count')
    t.match(queryIn(count.forwarded), { path: '/task/count', body: { name: 'a', orQueries: [OF_MARY] } })
    const { body } = await gateway.ask('mary', 'GET /filter/mine?itemCount=true')
    t.match(body, { itemCount: 1 })
  },
)

t.test('a single result in the HAL form is refused if the query of the filter must change', async (t) => {
  const answer = await gateway.ask('demo', 'GET /filter/mine/singleResult', {
    headers: { accept: 'application/hal+json' },
  })
  t.equal(answer.status, 403)
})
