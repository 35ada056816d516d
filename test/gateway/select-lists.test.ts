import t from 'tap'
import { BASE, openGateway } from './open-gateway.ts'

const DECISIONS = [
  { id: 'd1', decisionDefinitionKey: 'dish', tenantId: null },
  { id: 'd2', decisionDefinitionKey: 'dish', tenantId: 'globex' },
  { id: 'd3', decisionDefinitionKey: 'season', tenantId: null },
]
const INSTANCES = [
  { id: 'i1', definitionId: 'review:1', tenantId: null },
  { id: 'i2', definitionId: 'review:1', tenantId: 'globex' },
  { id: 'i3', definitionId: 'other:1', tenantId: null },
]
const DEFINITION = { id: 'review:1', key: 'review', tenantId: null }
const ANSWERS: Readonly<Record<string, unknown>> = {
  '/history/decision-instance': DECISIONS,
  '/process-instance': INSTANCES,
  '/process-instance/i1': INSTANCES[0],
  '/process-definition/review%3A1': DEFINITION,
  '/process-definition/other%3A1': { ...DEFINITION, id: 'other:1', key: 'other' },
}

const gateway = await openGateway(t, {
  records: [
    'grant mary DECISION_DEFINITION:dish READ_HISTORY',
    'grant mary PROCESS_DEFINITION:review READ_INSTANCE,UPDATE_INSTANCE',
    'grant mary BATCH:* CREATE',
    'grant anna PROCESS_DEFINITION:review READ_INSTANCE',
  ],
  engine: ({ url }, response) => {
    const [path = ''] = url.slice(BASE.length).split('?')
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(ANSWERS[path] ?? {}))
  },
})

async function sent(user: string, route: string, body: unknown) {
  const { status, forwarded, ...answer } = await gateway.ask(user, route, { body })
  const path = BASE + route.slice(route.indexOf(' ') + 1)
  const last = forwarded.find(({ url }) => url === path)
  return {
    status,
    said: answer.body,
    forwarded,
    body: last === undefined ? null : JSON.parse(last.body.toString()),
  }
}

const DELETE = 'POST /history/decision-instance/delete'

t.test('a query whose list takes no body is asked for in the query string', async (t) => {
  const historicDecisionInstanceQuery = {
    decisionDefinitionKeyIn: ['dish', 'season'],
    rootDecisionInstancesOnly: true,
    tenantIdIn: null,
    sorting: [],
  }
  const { body, forwarded } = await sent('mary', DELETE, { historicDecisionInstanceQuery })
  t.same(body, { historicDecisionInstanceIds: ['d1'] })
  const [asked] = forwarded
  t.equal(asked?.method, 'GET')
  const query = new URLSearchParams(asked?.url.split('?')[1])
  t.equal(query.get('decisionDefinitionKeyIn'), 'dish,season')
  t.equal(query.get('rootDecisionInstancesOnly'), 'true')
  t.notOk(query.has('sorting') || query.has('tenantIdIn'))
})

t.test('one that a query string cannot say is refused', async (t) => {
  for (const query of [{ unknown: 'x' }, { decisionDefinitionKeyIn: ['a,b'] }, { tenantIdIn: [] }]) {
    const { status, forwarded } = await sent('mary', DELETE, { historicDecisionInstanceQuery: query })
    t.same([status, forwarded], [403, []], JSON.stringify(query))
  }
})

const VARIABLES = 'POST /process-instance/variables-async'

t.test('ids of other tenants are left out where the engine leaves them out', async (t) => {
  const processInstanceIds = ['i1', 'i2', 'nosuch']
  const { body } = await sent('mary', VARIABLES, { processInstanceIds, variables: {} })
  t.same(body, { processInstanceIds: ['i1'], variables: {} })
})

t.test('where none is left it is the engine’s 400, before the permission', async (t) => {
  for (const user of ['mary', 'nobody']) {
    const { status, said, body } = await sent(user, VARIABLES, { processInstanceIds: ['i2'] })
    t.same([status, body], [400, null], user)
    t.match(said, { message: 'processInstanceIds is empty' })
  }
})

const SUSPEND = 'PUT /process-instance/suspended'

t.test('each of what a query selects is checked, and what was checked is what is sent', async (t) => {
  const asked = { suspended: true, processInstanceQuery: {} }
  const { body } = await sent('mary', SUSPEND, asked)
  t.same(body, { suspended: true, processInstanceIds: ['i1'] })
  const refused = await sent('anna', SUSPEND, asked)
  t.same([refused.status, refused.body], [403, null])
  const none = await sent('nobody', SUSPEND, asked)
  t.same([none.status, none.body], [400, null])
})
