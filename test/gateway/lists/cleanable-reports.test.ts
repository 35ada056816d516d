import t from 'tap'
import { BASE, openGateway } from '../../support/open-gateway.ts'

const CLEANABLE_REPORT = '/history/process-definition/cleanable-process-instance-report'
const CLEANABLE = [
  { processDefinitionId: 'review:1', processDefinitionKey: 'review', tenantId: null },
  { processDefinitionId: 'mail:1', processDefinitionKey: 'mail', tenantId: null },
  { processDefinitionId: 'other:1', processDefinitionKey: 'other', tenantId: null },
]
const ENTRIES = [
  { id: '1', operationId: 'o1', entityType: 'User', category: 'Admin' },
  { id: '2', operationId: 'o2', entityType: 'Deployment', category: 'Operator', deploymentId: 'others' },
  { id: '3', operationId: 'o3', entityType: 'Deployment', category: 'Operator', deploymentId: 'gone' },
  { id: '4', operationId: 'o4', entityType: 'Deployment', category: 'Operator', deploymentId: 'nobodys' },
  { id: '5', operationId: 'o5', entityType: 'OperationLog', category: 'Operator', property: 'operationId' },
].map((entry) => ({ ...entry, processDefinitionId: null, processDefinitionKey: null }))
const ANSWERS: Readonly<Record<string, unknown>> = {
  '/history/user-operation': ENTRIES,
  '/process-definition': [],
  '/history/user-operation/count': { count: ENTRIES.length },
  '/deployment/others': { id: 'others', tenantId: 'globex' },
  '/deployment/nobodys': { id: 'nobodys', tenantId: null },
}

const { ask } = await openGateway(t, {
  records: [
    // One record has both permissions for one key. For the other keys, two records have one permission each.
    'grant mary PROCESS_DEFINITION:review READ,READ_HISTORY',
    'grant mary PROCESS_DEFINITION:mail READ',
    'grant mary PROCESS_DEFINITION:* READ_HISTORY',
    // The same with a revocation: the engine then decides each permission separately.
    'grant ben PROCESS_DEFINITION:mail READ',
    'grant ben PROCESS_DEFINITION:* READ_HISTORY',
    'revoke ben TASK:x READ',
    'grant anna PROCESS_DEFINITION:* READ',
    'grant anna PROCESS_DEFINITION:review READ_HISTORY',
    'everybody OPERATION_LOG_CATEGORY:* READ',
  ],
  engine: ({ url }, response) => {
    const [path = '', search] = url.slice(BASE.length).split('?')
    const answer = path.startsWith(CLEANABLE_REPORT)
      ? reportOf(path, new URLSearchParams(search))
      : ANSWERS[path]
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer ?? { type: 'RestException', message: 'none', code: null }))
  },
})

const REPORT = `GET ${CLEANABLE_REPORT}`

/** Returns the report as an engine does: definitions are selected by their keys, and all of them have no tenant. */
function reportOf(path: string, query: URLSearchParams): unknown {
  const keys = query.get('processDefinitionKeyIn')?.split(',')
  const rows = query.has('tenantIdIn')
    ? []
    : CLEANABLE.filter(({ processDefinitionKey: key }) => keys?.includes(key) ?? true)
  return path.endsWith('/count') ? { count: rows.length } : rows
}

t.test('the cleanable reports need both permissions in one record, unless revocations apply', async (t) => {
  for (const [user, keys] of [
    ['mary', ['review']],
    ['anna', []],
    ['ben', ['mail']],
    ['demo', ['review', 'mail', 'other']],
  ] as const) {
    const { body } = await ask(user, REPORT)
    t.match(
      body,
      keys.map((processDefinitionKey) => ({ processDefinitionKey })),
      user,
    )
    t.equal(Object(body).length, keys.length, user)
    if (user !== 'demo') t.same((await ask(user, `${REPORT}/count`)).body, { count: keys.length }, user)
  }
})

t.test('entries of the operation log with an unknown tenant are hidden from tenant members', async (t) => {
  const { body } = await ask('mary', 'GET /history/user-operation')
  t.match(body, [{ id: '1' }, { id: '4' }])
  t.equal(Object(body).length, 2)
  t.same((await ask('mary', 'GET /history/user-operation/count')).body, { count: 2 })
  t.equal(Object((await ask('demo', 'GET /history/user-operation')).body).length, ENTRIES.length)
})

t.test(
  'an invalid sort order of the schema log is refused even for a caller who may see no entries',
  async (t) => {
    for (const [query, message] of [
      ['sortBy=&sortOrder=', "Cannot set query parameter 'sortOrder' to value ''"],
      ['sortBy=x&sortOrder=asc', "Cannot set query parameter 'sortBy' to value 'x'"],
      ['sortBy=timestamp', 'Only a single sorting parameter specified. sortBy and sortOrder required'],
    ] as const) {
      const { status, body, forwarded } = await ask('nobody', `GET /schema/log?${query}`)
      t.same([status, body], [400, { type: 'InvalidRequestException', message, code: null }], query)
      t.same(forwarded, [], query)
    }
    t.match(await ask('nobody', 'GET /schema/log?sortBy=timestamp&sortOrder=asc'), { status: 200, body: [] })
  },
)
