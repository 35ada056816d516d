import t from 'tap'
import { BASE, openGateway } from '../../support/open-gateway.ts'

const RESULT = 'org.camunda.bpm.engine.rest.dto.repository.ActivityStatisticsResultDto'
const DEFINITION = { id: 'review:1:1', key: 'review', tenantId: null }
const row = (id: string, processInstanceId: string, more = {}) => ({ id, processInstanceId, ...more })

/** Responses of an engine without authorization, by path and, for executions, by activity. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  '/process-definition/key/review': DEFINITION,
  '/process-definition/review%3A1%3A1': DEFINITION,
  '/process-definition/key/review/statistics': [
    { '@class': RESULT, id: 'read', instances: 3, failedJobs: 0, incidents: [] },
    {
      '@class': RESULT,
      id: 'write',
      instances: 1,
      failedJobs: 2,
      incidents: [
        { incidentType: 'failedJob', incidentCount: 2 },
        { incidentType: 'own', incidentCount: 1 },
      ],
    },
    { '@class': RESULT, id: 'wait', instances: 1, failedJobs: 0, incidents: [] },
  ],
  '/execution read': [row('e1', 'i1'), row('e2', 'i1'), row('e3', 'i2')],
  '/execution write': [row('e4', 'i2')],
  '/execution wait': [row('e5', 'i2')],
  '/job': [
    row('j1', 'i1', { jobDefinitionId: 'jd', processDefinitionKey: 'review' }),
    row('j2', 'i2', { jobDefinitionId: 'jd', processDefinitionKey: 'review' }),
  ],
  '/job-definition': [{ id: 'jd', activityId: 'write' }],
  '/incident': [
    row('n1', 'i1', { activityId: 'write', incidentType: 'failedJob' }),
    row('n2', 'i2', { activityId: 'write', incidentType: 'failedJob' }),
    row('n3', 'i2', { activityId: 'write', incidentType: 'own' }),
  ],
  '/process-instance/count': { count: 2 },
}

const RECORDS = [
  'grant mary PROCESS_DEFINITION:review READ',
  'grant mary PROCESS_INSTANCE:i1 READ',
  'grant anna PROCESS_DEFINITION:review READ,READ_INSTANCE',
]
const MAX_ROWS = 10
const STATISTICS = 'GET /process-definition/key/review/statistics'

async function open(answers: Readonly<Record<string, unknown>>) {
  return openGateway(t, {
    records: RECORDS,
    settings: { limits: { scannedItems: MAX_ROWS } },
    engine: ({ url }, response) => {
      const { pathname, searchParams } = new URL(url, 'http://engine')
      const path = pathname.slice(BASE.length)
      const activity = searchParams.get('activityId')
      const ofNone = searchParams.has('withoutTenantId') ? answers[`${path}?withoutTenantId`] : undefined
      const answer = ofNone ?? answers[activity === null ? path : `${path} ${activity}`]
      response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer ?? {}))
    },
  })
}

t.test('activities are counted over the instances that the caller sees', async (t) => {
  const gateway = await open(ANSWERS)
  const { status, body } = await gateway.ask('mary', STATISTICS)
  t.equal(status, 200)
  t.same(body, [
    { '@class': RESULT, id: 'read', instances: 2, failedJobs: 0, incidents: [] },
    {
      '@class': RESULT,
      id: 'write',
      instances: 0,
      failedJobs: 1,
      incidents: [{ incidentType: 'failedJob', incidentCount: 1 }],
    },
  ])
})

t.test('a caller who sees every instance gets the counts of the engine', async (t) => {
  const gateway = await open(ANSWERS)
  const { body, forwarded } = await gateway.ask('anna', STATISTICS)
  t.same(body, ANSWERS['/process-definition/key/review/statistics'])
  t.notOk(forwarded.some(({ url }) => url.includes('/execution')))
})

t.test('instances of other tenants are not counted', async (t) => {
  const statistics = [{ '@class': RESULT, id: 'read', instances: 3, failedJobs: 0, incidents: [] }]
  const gateway = await open({
    ...ANSWERS,
    '/process-instance/count?withoutTenantId': { count: 1 },
    '/process-definition/key/review/statistics': statistics,
    '/execution read': [row('e1', 'i1'), row('e2', 'i1'), row('e3', 'i2', { tenantId: 'globex' })],
  })
  for (const query of ['', '?', '?incidents=true&failedJobs=true']) {
    const { body } = await gateway.ask('anna', STATISTICS + query)
    t.match(body, [{ id: 'read', instances: 2 }], query)
  }
})

t.test(
  'activity counts are refused if some instances are hidden and inactive executions cannot be told apart',
  async (t) => {
    const executions = [row('e1', 'i1'), row('e2', 'i1'), row('e3', 'i2'), row('ended', 'i1')]
    const gateway = await open({ ...ANSWERS, '/execution read': executions })
    const refused = await gateway.ask('mary', STATISTICS)
    t.match(refused, { status: 403, headers: { 'x-gateway-error': 'GW_ITEMS_NOT_EXACT' } })
  },
)

const activityOf = (id: string, instances: number) => ({ id, instances, failedJobs: 0, incidents: [] })
const idle = (count: number) => Array.from({ length: count }, (_, at) => activityOf(`a${at}`, 0))

async function outcomeOf(activities: readonly object[]) {
  const gateway = await open({ ...ANSWERS, '/process-definition/key/review/statistics': activities })
  const { status, headers } = await gateway.ask('mary', STATISTICS)
  return headers['x-gateway-error'] ?? status
}

t.test('activities and their instances are recounted only up to a limit', async (t) => {
  t.equal(await outcomeOf(idle(200)), 200)
  t.equal(await outcomeOf(idle(201)), 'GW_ITEMS_NOT_EXACT')
  // The limit `scannedItems` applies to the instances of all activities together.
  t.equal(await outcomeOf([activityOf('read', MAX_ROWS - 1), activityOf('wait', 1)]), 200)
  t.equal(await outcomeOf([activityOf('read', MAX_ROWS), activityOf('wait', 1)]), 'GW_ITEMS_NOT_EXACT')
})

t.test('two parameters for incidents are refused like by an engine, after the key is found', async (t) => {
  const gateway = await open(ANSWERS)
  const both = '?incidents=true&incidentsForType=own'
  for (const [user, route, status] of [
    ['anna', STATISTICS, 400],
    ['mary', STATISTICS, 400],
    ['ben', STATISTICS, 404],
    ['ben', 'GET /process-definition/statistics', 400],
  ] as const) {
    const given = await gateway.ask(user, route + both)
    t.equal(given.status, status, `${route} by ${user}`)
    t.notOk(given.forwarded.some(({ url }) => url.includes('/statistics')))
  }
})
