import t from 'tap'
import { BASE, openGateway, type Seen } from '../../support/open-gateway.ts'

const USER = '${currentUser()}'
const GROUPS = '${currentUserGroups()}'
const FILTERS: Readonly<Record<string, string>> = {
  mine: JSON.stringify({ assigneeExpression: USER, sorting: [{ sortBy: 'name', sortOrder: 'asc' }] }),
  dated: `{"candidateGroupsExpression":"${GROUPS}","dueBeforeExpression":"\${now()}","priority":null}`,
  precise: `{"ownerExpression":"${USER}","taskVariables":[{"name":"n","operator":"eq","value":9007199254740993}]}`,
  hidden: `{"assigneeExpression":"${USER}","orQueries":[{"taskVariables":[],"active":false}]}`,
  named: `{"ownerExpression":"${USER}"}`,
  other: '{"name":"a"}',
}

const RECORDS = [
  'grant mary TASK:* READ',
  'grant mary FILTER:* READ',
  'grant ben FILTER:* READ',
  'grant anna TASK:* READ',
  'grant anna FILTER:* READ',
]

const open = (authorization: Readonly<Record<string, unknown>>, records: readonly string[] = RECORDS) =>
  openGateway(t, {
    settings: {
      authorization: {
        records: { source: 'file', file: 'records.yaml' },
        implied: { tasks: false },
        tenants: 'ignore',
        ...authorization,
      },
    },
    records,
    engine: ({ url }, response) => {
      const { pathname, searchParams } = new URL(url.slice(BASE.length), 'http://engine')
      const { status = 200, body } = answerTo(pathname, searchParams)
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(body)
    },
  })

const HAL = {
  _links: { self: { href: '/task' } },
  _embedded: {
    processDefinition: [],
    task: ['t2', 't1'].map((id) => ({
      _links: {},
      _embedded: null,
      id,
      executionId: 'e',
      processInstanceId: 'p',
    })),
  },
  count: 2,
}
const NO_HAL = { ...HAL, _embedded: { task: [] }, count: 0 }
const VARIABLES = [
  '{"name":"a/b","value":1.0,"type":"Double","valueInfo":{},"taskId":null,"executionId":"p","processInstanceId":"p"}',
  '{"name":"a/b","value":2,"type":"Long","valueInfo":{},"taskId":"t1","executionId":"e","processInstanceId":"p"}',
]

function answerTo(path: string, query: URLSearchParams): { readonly status?: number; readonly body: string } {
  const id = /^\/filter\/(\w+)$/.exec(path)?.[1]
  if (id === 'broken') return { status: 500, body: '{"type":"Broken","message":"cannot be read"}' }
  if (id !== undefined) return { body: filterOf(id) }
  if (path === '/filter') return { body: `[${['mine', 'other'].map(filterOf).join()}]` }
  // An engine that does not know the caller cannot execute such a filter.
  if (/^\/filter\/(?!other)\w+\/\w+$/.test(path)) return { status: 500, body: '{"type":"Null"}' }
  return { body: tasksAt(path, query) }
}

function tasksAt(path: string, query: URLSearchParams): string {
  if (path.endsWith('/count')) return `{"count":${path.startsWith('/task') ? 4 : 1}}`
  if (path === '/variable-instance') return `[${VARIABLES.join()}]`
  const ids = query.get('taskIdIn')
  if (ids !== null) return JSON.stringify(ids.startsWith('-') ? NO_HAL : HAL)
  if (query.get('maxResults') === '3') return '[{"id":"t1"},{"id":"t2"}]'
  if (query.get('maxResults') === '0') return '[]'
  return path === '/task' ? '[{"id":"t1","processDefinitionId":null,"tenantId":null}]' : '[]'
}

function filterOf(id: string): string {
  const properties = id === 'named' ? '{"variables":[{"name":"a/b","label":"A"}]}' : '{}'
  return `{"id":"${id}","owner":null,"query":${FILTERS[id]},"properties":${properties}}`
}

const gateway = await open({})

/** Returns the requests for tasks that the engine received. */
function sentIn(seen: readonly Seen[]): unknown {
  return seen
    .map(({ method, url, body }) => ({ route: `${method} ${url.slice(BASE.length)}`, body: body.toString() }))
    .filter(({ route }) => /\/task|\/filter\/\w+\//.test(route))
}

const MINE = '{"sorting":[{"sortBy":"name","sortOrder":"asc"}],"assignee": "mary"}'

for (const mode of ['enforce', 'report', 'off'])
  t.test(`with the mode ${mode}, a filter that names the caller is executed for the caller`, async (t) => {
    const one = await open({ mode })
    const list = await one.ask('mary', 'GET /filter/mine/list?maxResults=2')
    t.equal(list.status, 200)
    t.same(sentIn(list.forwarded), [{ route: 'POST /task?maxResults=2', body: MINE }])
    t.equal(
      list.forwarded.filter(({ url }) => url.endsWith('/filter/mine')).length,
      1,
      'the filter is read once',
    )
    const single = await one.ask('mary', 'GET /filter/mine/singleResult')
    t.match(single, { status: 200, body: { id: 't1' } })
    const count = await one.ask('mary', 'POST /filter/mine/count', { body: { name: 'x' } })
    t.same(count.body, { count: 4 })
    t.same(sentIn(count.forwarded), [
      { route: 'POST /task/count', body: MINE.replace(',"assignee"', ',"name":"x","assignee"') },
    ])
    const other = await one.ask('mary', 'GET /filter/other/count')
    t.same(
      sentIn(other.forwarded),
      [{ route: 'GET /filter/other/count', body: '' }],
      'others are not changed',
    )
  })

t.test('other expressions of the stored query move to or-blocks, which the engine evaluates', async (t) => {
  const { forwarded } = await gateway.ask('mary', 'GET /filter/dated/list')
  t.same(sentIn(forwarded), [
    {
      route: 'POST /task',
      body: '{"priority":null,"candidateGroups": ["clerks"],"orQueries": [{"dueBeforeExpression":"${now()}"}]}',
    },
  ])
})

t.test('expressions of the request stay outside of or-blocks, where the engine refuses them', async (t) => {
  const body = { ownerExpression: USER }
  const { forwarded } = await gateway.ask('mary', 'POST /filter/mine/list', { body })
  t.same(sentIn(forwarded), [
    { route: 'POST /task', body: MINE.replace(/}$/, `,"ownerExpression": "${USER}"}`) },
  ])
})

t.test('numbers of the stored query keep their digits', async (t) => {
  const { forwarded } = await gateway.ask('mary', 'GET /filter/precise/list')
  t.same(sentIn(forwarded), [
    {
      route: 'POST /task',
      body: '{"taskVariables":[{"name":"n","operator":"eq","value":9007199254740993}],"owner": "mary"}',
    },
  ])
})

t.test('members that add data to tasks, which a filter ignores, are not sent', async (t) => {
  const body = { withTaskVariablesInReturn: true, withCommentAttachmentInfo: true }
  const { forwarded } = await gateway.ask('mary', 'POST /filter/mine/list', { body })
  t.same(sentIn(forwarded), [{ route: 'POST /task', body: MINE }])
})

t.test('an or-block of which the engine shows no condition refuses the filter', async (t) => {
  const { status, headers, forwarded } = await gateway.ask('mary', 'GET /filter/hidden/list')
  t.same([status, headers['x-gateway-error']], [403, 'GW_ITEMS_NOT_EXACT'])
  t.same(sentIn(forwarded), [])
})

t.test('for a caller without groups, the engine itself refuses the expression for groups', async (t) => {
  const { forwarded } = await gateway.ask('anna', 'GET /filter/dated/list')
  t.same(sentIn(forwarded), [{ route: 'GET /filter/dated/list', body: '' }])
})

t.test('a caller who sees no task gets an empty list', async (t) => {
  const { status, body } = await gateway.ask('ben', 'GET /filter/mine/list')
  t.same([status, body], [200, []])
})

t.test('a filter that the engine cannot read has its error, and is not executed', async (t) => {
  const { status, body, forwarded } = await gateway.ask('mary', 'GET /filter/broken/list')
  t.match({ status, body }, { status: 500, body: { type: 'Broken', message: 'cannot be read' } })
  t.same(sentIn(forwarded), [])
})

t.test(
  'the items of filters are counted for the caller, and the engine is not asked to count them',
  async (t) => {
    for (const mode of ['enforce', 'off']) {
      const one = await open({ mode })
      const { body, forwarded } = await one.ask('mary', 'GET /filter?itemCount=true&maxResults=5')
      t.match(body, [
        { id: 'mine', itemCount: 4 },
        { id: 'other', itemCount: 1 },
      ])
      t.notOk(forwarded.some(({ url }) => url.includes('itemCount')))
      t.match((await one.ask('mary', 'GET /filter/mine?itemCount=true')).body, { itemCount: 4 })
    }
  },
)

t.test('for a caller who sees some filters, the engine counts the items of no other filter', async (t) => {
  const one = await open({}, ['grant mary TASK:* READ', 'grant mary FILTER:other READ'])
  const { status, body, forwarded } = await one.ask('mary', 'GET /filter?itemCount=true&maxResults=5')
  t.match({ status, body }, { status: 200, body: [{ id: 'other', itemCount: 1 }] })
  t.notOk(forwarded.some(({ url }) => url.includes('itemCount')))
})

t.test('if the engine refuses a count, its error is the response', async (t) => {
  const { status, body } = await gateway.ask('anna', 'GET /filter/dated?itemCount=true')
  t.match({ status, body }, { status: 500, body: { type: 'Null' } })
})

const hal = { headers: { accept: 'application/hal+json' } }

t.test('a list in the HAL form has the order and the count of the query', async (t) => {
  const { status, body, forwarded } = await gateway.ask('demo', 'GET /filter/mine/list?maxResults=3', hal)
  t.match(
    { status, body },
    {
      status: 200,
      body: { _embedded: { processDefinition: [], task: [{ id: 't1' }, { id: 't2' }] }, count: 4 },
    },
  )
  t.match(sentIn(forwarded), [
    { route: 'POST /task?maxResults=3', body: MINE.replace('mary', 'demo') },
    { route: 'POST /task/count', body: MINE.replace('mary', 'demo') },
    { route: 'GET /task?taskIdIn=t1%2Ct2&maxResults=2', body: '' },
  ])
})

t.test(
  'a list in the HAL form embeds the variables that the filter names, from the nearest scope',
  async (t) => {
    const { bytes, forwarded } = await gateway.ask('demo', 'GET /filter/named/list?maxResults=3', hal)
    const [one, other] = JSON.parse(bytes.toString())._embedded.task
    const variable = { _embedded: null, name: 'a/b', valueInfo: {} }
    const local = {
      ...variable,
      _links: { self: { href: '/task/t1/localVariables/a%2Fb' } },
      value: 2,
      type: 'Long',
    }
    t.same(one._embedded, { variable: [local] })
    const href = '/process-instance/p/variables/a%2Fb'
    t.same(other._embedded, {
      variable: [{ ...variable, _links: { self: { href } }, value: 1, type: 'Double' }],
    })
    t.match(bytes.toString(), '"value":1.0,', 'numbers keep their digits')
    const read = forwarded.filter(({ url }) => url.includes('/variable-instance'))
    t.same(
      read.map(({ url, body }) => [url.slice(BASE.length), JSON.parse(body.toString())]),
      [
        [
          '/variable-instance?deserializeValues=false&maxResults=4',
          { variableName: 'a/b', variableScopeIdIn: ['t2', 'e', 'p', 't1'] },
        ],
      ],
    )
  },
)

t.test('an empty list in the HAL form has no links, and the count of the query', async (t) => {
  const { body } = await gateway.ask('demo', 'GET /filter/mine/list?maxResults=0', hal)
  t.same(body, { _links: {}, _embedded: {}, count: 4 })
})

t.test(
  'a list in the HAL form is refused for a caller who may not see everything that it embeds',
  async (t) => {
    const { status, forwarded } = await gateway.ask('mary', 'GET /filter/mine/list?maxResults=3', hal)
    t.equal(status, 403)
    t.same(sentIn(forwarded), [])
  },
)
