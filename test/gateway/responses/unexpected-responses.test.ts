import t from 'tap'
import { BASE, openGateway } from '../../support/open-gateway.ts'

// Responses that the gateway has to inspect before it sends them.

const RECORDS = [
  'grant mary PROCESS_DEFINITION:review READ_INSTANCE,READ',
  'grant mary GROUP:sales READ',
  'grant mary FILTER:f1 READ',
  'grant mary AUTHORIZATION:* READ',
  'grant mary TASK:* READ',
]
const READS = [
  'GET /process-instance',
  'GET /process-instance/count',
  'GET /identity/groups?userId=mary',
  'GET /filter?itemCount=true',
  'GET /process-definition/key/review/statistics',
  'OPTIONS /filter',
]
const ANSWERS: Readonly<Record<string, string>> = {
  '/identity/groups':
    '{"groups":[{"id":"sales","name":"Sales"},{"id":"board","name":"Board"}],"groupUsers":[]}',
  '/filter': '[{"id":"f1","owner":null,"itemCount":3},{"id":"f2","owner":null,"itemCount":3}]',
  '/filter/f1': '{"id":"f1","owner":null,"itemCount":3}',
  '/process-definition/key/review': '{"id":"review:1","key":"review","tenantId":null}',
  '/process-definition': '[{"id":"review:1","key":"review","tenantId":null}]',
  '/process-definition/review%3A1': '{"id":"review:1","key":"review","tenantId":null}',
  '/process-instance': '[{"id":"i1","definitionId":"review:1","tenantId":null}]',
  '/process-instance/count': '{"count":1}',
}
const settings = {
  authorization: { records: { source: 'file', file: 'records.yaml' }, implied: { tasks: false } },
}

t.test('a page instead of JSON gets 502 GW_UPSTREAM_INVALID', async (t) => {
  const gateway = await openGateway(t, {
    records: RECORDS,
    settings,
    engine: (_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>login</html>'),
  })
  for (const route of READS) {
    const { status, headers } = await gateway.ask('mary', route)
    t.same([status, headers['x-gateway-error']], [502, 'GW_UPSTREAM_INVALID'], route)
  }
})

t.test('HEAD gets the headers of GET without the body', async (t) => {
  const gateway = await openGateway(t, {
    records: RECORDS,
    settings,
    engine: ({ method, url }, response) => {
      const [path = ''] = url.slice(BASE.length).split('?')
      response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache' })
      response.end(method === 'HEAD' ? '' : (ANSWERS[path] ?? '[]'))
    },
  })
  const reads = READS.filter((route) => route.startsWith('GET'))
  // For an administrator, only filters are inspected. All other requests are sent to the engine unchanged.
  const asked = [
    ...reads.map((route) => ['mary', route] as const),
    ['demo', 'GET /filter?itemCount=true'] as const,
  ]
  for (const [user, route] of asked) {
    const got = await gateway.ask(user, route)
    const { status, headers, bytes } = await gateway.ask(user, route.replace('GET', 'HEAD'))
    t.same([got.status, status, bytes.length], [200, 200, 0], `${user}: ${route}`)
    t.equal(headers['content-length'], String(got.bytes.length), route)
    t.equal(headers['content-type'], got.headers['content-type'], route)
    t.equal(headers['cache-control'], undefined, `${route}: the engine marks no HEAD`)
  }
})

t.test('a byte order mark does not change the selection that a body makes', async (t) => {
  const gateway = await openGateway(t, {
    records: ['grant mary PROCESS_DEFINITION:review READ_INSTANCE,UPDATE_INSTANCE'],
    settings,
    engine: ({ url }, response) => {
      const [path = ''] = url.slice(BASE.length).split('?')
      const task = {
        id: 't1',
        processInstanceId: 'i1',
        processDefinitionId: 'review:1',
        processDefinitionKey: 'review',
        tenantId: null,
        workerId: null,
      }
      const answers: Readonly<Record<string, unknown>> = {
        '/external-task': [task],
        '/external-task/t1': task,
        '/process-instance': [{ id: 'i1', definitionId: 'review:1', tenantId: null }],
        '/process-instance/i1': { id: 'i1', definitionId: 'review:1', tenantId: null },
        '/process-definition': [{ id: 'review:1', key: 'review', tenantId: null }],
        '/process-definition/review%3A1': { id: 'review:1', key: 'review', tenantId: null },
      }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answers[path] ?? []))
    },
  })
  for (const body of ['{"retries":1,"externalTaskIds":["t1"]}', '{"retries":1,"processInstanceIds":["i1"]}'])
    for (const mark of ['', '\ufeff']) {
      const ask = { body: mark + body, headers: { 'content-type': 'application/json' } }
      const { status, forwarded } = await gateway.ask('mary', 'PUT /external-task/retries', ask)
      t.equal(status, 200, JSON.stringify(mark + body))
      t.match(forwarded.at(-1), { method: 'PUT', url: `${BASE}/external-task/retries` })
    }
})

t.test(
  'an OPTIONS response without content is passed on if the engine has no links in the accepted form',
  async (t) => {
    const { ask } = await openGateway(t, {
      records: RECORDS,
      settings,
      engine: (_request, response) =>
        response.writeHead(200, { allow: 'DELETE,OPTIONS', 'content-type': 'text/html' }).end(),
    })
    for (const route of ['OPTIONS /filter', 'OPTIONS /user/mary', 'OPTIONS /authorization']) {
      const { status, body, headers } = await ask('mary', route, { headers: { accept: 'text/html' } })
      t.match(
        [status, headers['allow'], headers['content-type']],
        [200, 'DELETE,OPTIONS', 'text/html'],
        route,
      )
      t.notOk(body, route)
    }
  },
)
