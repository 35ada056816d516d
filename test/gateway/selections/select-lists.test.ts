import type { ServerResponse } from 'node:http'
import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { BASE, openGateway, type Seen } from '../../support/open-gateway.ts'

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
const EXTERNAL_TASKS = [
  { id: 'e1', processInstanceId: 'i1', processDefinitionKey: 'review', tenantId: null },
  { id: 'e2', processInstanceId: 'i2', processDefinitionKey: 'review', tenantId: 'globex' },
]
const DEFINITION = { id: 'review:1', key: 'review', tenantId: null }
const ANSWERS: Readonly<Record<string, unknown>> = {
  '/history/decision-instance': DECISIONS,
  '/external-task': EXTERNAL_TASKS,
  '/migration/validate': { instructionReports: [], variableReports: {} },
  '/process-instance': INSTANCES,
  '/process-instance/i1': INSTANCES[0],
  '/process-definition/review%3A1': DEFINITION,
  '/process-definition': [DEFINITION, { ...DEFINITION, id: 'other:1', key: 'other' }],
}

const SETUP = {
  records: [
    'grant mary DECISION_DEFINITION:dish READ_HISTORY',
    'grant mary PROCESS_DEFINITION:review READ_INSTANCE,UPDATE_INSTANCE',
    'grant mary BATCH:* CREATE',
    'grant anna PROCESS_DEFINITION:review READ_INSTANCE',
    'grant ben PROCESS_DEFINITION:* READ',
  ],
  engine: ({ url, body }: Seen, response: ServerResponse) => {
    const [path = ''] = url.slice(BASE.length).split('?')
    const isRefused = body.includes('"active":"x"')
    response.writeHead(isRefused ? 400 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isRefused ? SAID : (ANSWERS[path] ?? {})))
  },
} as const
const SAID = { type: 'InvalidRequestException', message: 'engine: cannot be read', code: null }
const gateway = await openGateway(t, SETUP)
const unvalidated = await openGateway(t, { ...SETUP, settings: { validation: { mode: 'off' } } })

async function sent(user: string, route: string, body: unknown, { ask } = gateway) {
  const { status, forwarded, ...answer } = await ask(user, route, { body })
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

t.test('a query whose list takes no body is sent in the query string', async (t) => {
  const historicDecisionInstanceQuery = {
    decisionDefinitionKeyIn: ['dish', 'season'],
    rootDecisionInstancesOnly: true,
    tenantIdIn: null,
    sorting: [{ sortBy: 'evaluationTime', sortOrder: 'asc' }],
    decisionDefinitionName: 1.5,
    withoutTenantId: 'False',
    evaluatedAfter: ' ',
  }
  const { body, forwarded } = await sent('mary', DELETE, { historicDecisionInstanceQuery })
  t.same(body, { historicDecisionInstanceIds: ['d1'] })
  // The keys that the caller may see: first the items without a tenant, then those of the caller's tenants.
  for (const [at, tenants] of [['true'], ['false', 'acme']].entries()) {
    const asked = forwarded[at]
    t.equal(asked?.method, 'GET')
    const query = new URLSearchParams(asked?.url.split('?')[1])
    t.equal(query.get('decisionDefinitionKeyIn'), 'dish')
    t.equal(query.get('rootDecisionInstancesOnly'), 'true')
    t.equal(query.get('decisionDefinitionName'), '1.5')
    t.same([query.get('withoutTenantId'), query.get('tenantIdIn')], [tenants[0], tenants[1] ?? null])
    t.notOk(['sorting', 'evaluatedAfter'].some((name) => query.has(name)))
  }
})

t.test('a query that a query string cannot express is refused', async (t) => {
  for (const query of [
    { unknown: 'x' },
    { decisionDefinitionKeyIn: ['a,b'] },
    { tenantIdIn: [] },
    { tenantIdIn: [''] }, // a query string with this value would select everything
    { tenantIdIn: ['acme', null] },
    { evaluatedAfter: 5 },
    { sorting: [null] },
  ]) {
    const { status, forwarded } = await sent('mary', DELETE, { historicDecisionInstanceQuery: query })
    t.same([status, forwarded], [403, []], JSON.stringify(query))
  }
})

const VARIABLES = 'POST /process-instance/variables-async'

t.test('ids of other tenants are left out if the engine leaves them out', async (t) => {
  const processInstanceIds = ['i1', 'i2', 'nosuch']
  const { body } = await sent('mary', VARIABLES, { processInstanceIds, variables: {} })
  t.same(body, { processInstanceIds: ['i1'], variables: {} })
})

t.test('a selection with no ids left gets the engine’s 400 before the permission check', async (t) => {
  for (const user of ['mary', 'nobody']) {
    const { status, said, body } = await sent(user, VARIABLES, { processInstanceIds: ['i2'] })
    t.same([status, body], [400, null], user)
    t.match(said, { message: 'processInstanceIds is empty' })
  }
})

t.test('the audit line of an empty selection does not name the check that it precedes', async (t) => {
  const { ask, log } = gateway
  for (const [ids, audit] of [
    [['i1'], { status: 403, rule: 'check 0', missing: [{ permission: 'CREATE' }, {}] }],
    [['i2'], { status: 400, rule: 'nothing is selected', missing: undefined }],
  ] as const) {
    await ask('nobody', VARIABLES, { body: { processInstanceIds: ids } })
    await new Promise(setImmediate)
    t.match(log.filter(({ stream }) => stream === 'audit').at(-1), {
      decision: 'refused',
      stage: 'permit',
      ...audit,
    })
  }
})

const SUSPEND = 'PUT /process-instance/suspended'

t.test('each item that a query selects is checked, and exactly the checked ids are sent', async (t) => {
  const asked = { suspended: true, processInstanceQuery: {} }
  const { body } = await sent('mary', SUSPEND, asked)
  t.same(body, { suspended: true, processInstanceIds: ['i1'] })
  const refused = await sent('anna', SUSPEND, asked)
  t.same([refused.status, refused.body], [403, null])
  const none = await sent('nobody', SUSPEND, asked)
  t.same([none.status, none.body], [400, null])
})

/** Values that are neither an object nor null. */
const NO_QUERIES = ['x', '', 5, 0, true, false, [], [{}], ['x']]
const IDS = { processInstanceIds: ['i1'], historicDecisionInstanceIds: ['d1'], historicBatchIds: ['b1'] }

t.test('a value that is not a query selects nothing and gets 400 for every caller', async (t) => {
  const operations = OPERATIONS.filter(({ selectors }) => selectors !== undefined)
  t.ok(operations.length > 20)
  for (const { method, template, selectors } of operations)
    for (const selector of Object.keys(selectors?.queries ?? {}))
      for (const query of NO_QUERIES)
        for (const user of ['mary', 'nobody', 'demo']) {
          const route = `${method} ${template.replace(':id', 'review:1')}`
          const beside = query === 'x' ? IDS : {}
          const { status, said, forwarded } = await sent(user, route, { ...beside, [selector]: query })
          t.same([status, forwarded], [400, []], `${user} ${route} ${JSON.stringify(query)}`)
          t.match(said, {
            message: `The request body does not match the operation: $.${selector}: is not an object`,
          })
          const bold = await sent(user, route, { ...beside, [selector]: query }, unvalidated)
          t.ok(bold.status >= 400 && bold.body === null, `unvalidated ${user} ${route} ${bold.status}`)
        }
})

t.test('ids are a list of scalars or null', async (t) => {
  for (const [route, member, selector] of [
    [DELETE, 'historicDecisionInstanceIds', 'historicDecisionInstanceQuery'],
    ['POST /history/batch/set-removal-time', 'historicBatchIds', 'historicBatchQuery'],
    [VARIABLES, 'processInstanceIds', 'processInstanceQuery'],
  ] as const)
    for (const ids of ['x', 5, {}, [{}], [['x']]])
      for (const user of ['mary', 'demo']) {
        const { status, forwarded } = await sent(user, route, { [member]: ids, [selector]: {} })
        t.same([status, forwarded], [400, []], `${user} ${route} ${JSON.stringify(ids)}`)
      }
  const beside = { historicDecisionInstanceIds: ['d1', null], historicDecisionInstanceQuery: {} }
  t.match(await sent('mary', DELETE, beside), { status: 403, body: null })
})

t.test(
  'members of a query that the engine would not read get 400, even if its list could be asked for them',
  async (t) => {
    for (const query of [
      { decisionDefinitionKey: ['dish'] },
      { decisionDefinitionKey: {} },
      { decisionDefinitionKeyIn: 'dish' },
      { decisionDefinitionKeyIn: [['dish']] },
      { rootDecisionInstancesOnly: 'x' },
      { rootDecisionInstancesOnly: [true] },
      { evaluatedAfter: 'x' },
      { includeInputs: 'x' },
      { disableBinaryFetching: [] },
      { sorting: 'x' },
      { sorting: ['x'] },
      { sorting: {} },
      { sorting: [{ sortBy: 'evaluationTime' }] },
      { sorting: [{ sortBy: 'x', sortOrder: 'asc' }] },
      { sortBy: null },
      { sortBy: 'evaluationTime' },
    ])
      for (const { ask } of [gateway, unvalidated]) {
        const historicDecisionInstanceQuery = query
        const { status, forwarded } = await ask('mary', DELETE, { body: { historicDecisionInstanceQuery } })
        t.same([status, forwarded], [400, []], JSON.stringify(query))
      }
  },
)

t.test('a query that the engine’s list does not read gets the error of the engine', async (t) => {
  const processInstanceQuery = { active: 'x' }
  const query = { processInstanceQuery, variables: {} }
  const { status, said, body } = await sent('mary', VARIABLES, query, unvalidated)
  t.same([status, said, body], [400, SAID, null])
  // The error precedes the permission check.
  for (const asked of [gateway, unvalidated])
    t.match(await sent('nobody', VARIABLES, { processInstanceQuery }, asked), { status: 400, body: null })
})

/** Returns the status, the bytes of the last request, which follows the lookups, and the number of requests. */
async function bytesSent(user: string, route: string, body: string, { ask } = gateway) {
  const { status, forwarded } = await ask(user, route, { body })
  return { status, bytes: forwarded.at(-1)?.body.toString(), count: forwarded.length }
}

t.test(
  'a body from which nothing is left out is sent byte by byte, without a lookup if everything is visible',
  async (t) => {
    const reporting = await openGateway(t, {
      ...SETUP,
      settings: { authorization: { mode: 'report', records: { source: 'file', file: 'records.yaml' } } },
    })
    const all =
      '{ "variables":{}, "processInstanceQuery" : {"variables":[]},"processInstanceIds":["i2","nosuch"] }'
    const whole = { status: 200, bytes: all, count: 1 }
    t.same(await bytesSent('demo', VARIABLES, all), whole, 'who sees everything')
    t.same(await bytesSent('mary', VARIABLES, all, reporting), whole, 'where nothing is refused')
    // Null among the ids is sent as it is.
    const own = '{ "processInstanceIds":["i1",null] }'
    t.match(await bytesSent('mary', VARIABLES, own), { status: 200, bytes: own })
  },
)

t.test('an id that is named twice, or both named and found, is sent once', async (t) => {
  const processInstanceIds = ['i1', 'i2', 'i1']
  const { body } = await sent('mary', VARIABLES, { processInstanceIds, processInstanceQuery: {} })
  t.same(body, { processInstanceIds: ['i1'] })
})

t.test('null among the ids is refused if a query adds ids or if ids are left out', async (t) => {
  for (const beside of [{ processInstanceQuery: {} }, { processInstanceIds: ['i1', 'i2', null] }]) {
    const body = { processInstanceIds: ['i1', null], ...beside }
    t.match(await sent('mary', VARIABLES, body), { status: 403, body: null }, JSON.stringify(beside))
  }
})

const RETRIES = 'POST /external-task/retries-async'

t.test('an empty list of ids next to a list with ids is not an empty selection', async (t) => {
  const asked = { retries: 3, externalTaskIds: ['e1'], processInstanceIds: ['i2'] }
  const { status, body } = await sent('mary', RETRIES, asked)
  t.same([status, body], [200, { retries: 3, externalTaskIds: ['e1'], processInstanceIds: [] }])
  const none = await sent('mary', RETRIES, { ...asked, externalTaskIds: [] })
  t.same([none.status, none.body], [400, null])
})

t.test('a caller without the permission is refused if the selection cannot be determined', async (t) => {
  for (const [status, body] of [
    [503, ''],
    [500, 'no JSON'],
    [200, '{}'],
  ] as const) {
    const broken = await openGateway(t, {
      ...SETUP,
      engine: (_request, response) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(body),
    })
    const answer = await sent('anna', VARIABLES, { processInstanceQuery: {} }, broken)
    t.match(answer, { status: 403, said: { type: 'AuthorizationException' } }, `${status} ${body}`)
  }
})

t.test(
  'a permission that the engine checks before it selects is refused before an empty selection',
  async (t) => {
    const plan = { sourceProcessDefinitionId: 'review:1', targetProcessDefinitionId: 'other:1' }
    const asked = { migrationPlan: { ...plan, instructions: [] }, processInstanceQuery: {} }
    const unread = await sent('nobody', 'POST /migration/execute', asked)
    t.match(unread, { status: 403, said: { type: 'AuthorizationException' }, body: null })
    const unmigrated = await sent('ben', 'POST /migration/execute', asked)
    t.match(unmigrated, { status: 400, said: { message: /process instance ids is empty$/ }, body: null })
  },
)

t.test('a selection is not empty if only one of the last of many ids matches', async (t) => {
  const { ask } = await openGateway(t, {
    ...SETUP,
    engine: ({ url }, response) => {
      const ids = new URL(url, 'http://engine').searchParams.get('decisionInstanceIdIn')?.split(',') ?? []
      const found = DECISIONS.filter(({ id }) => ids.includes(id))
      response.setHeader('content-type', 'application/json').end(JSON.stringify(found))
    },
  })
  // The gateway looks up this number of ids at once.
  const others = Array.from({ length: 100 }, (_, index) => `x${index}`)
  const askFor = (historicDecisionInstanceIds: readonly string[]) =>
    ask('nobody', 'POST /history/decision-instance/set-removal-time', {
      body: { historicDecisionInstanceIds, clearedRemovalTime: true },
    })
  t.match(await askFor([...others, 'd1']), { status: 403, body: { type: 'AuthorizationException' } })
  t.match(await askFor([...others, 'd2']), { status: 400, body: { message: /is empty/ } })
})
