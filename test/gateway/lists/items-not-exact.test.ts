import t from 'tap'
import { openGateway } from '../../support/open-gateway.ts'

const gateway = await openGateway(t, {
  records: [
    'grant mary PROCESS_DEFINITION:external READ_INSTANCE,UPDATE_INSTANCE,READ',
    'grant mary PROCESS_DEFINITION:review READ_INSTANCE,READ,CREATE_INSTANCE',
    'grant anna PROCESS_INSTANCE:x READ,UPDATE',
    'grant ben PROCESS_DEFINITION:external READ_INSTANCE,UPDATE_INSTANCE',
    'grant ben PROCESS_DEFINITION:review READ_INSTANCE',
  ],
})
const LOCK = 'POST /external-task/fetchAndLock'
const asked = (forwarded: readonly { readonly body: Buffer }[]) =>
  JSON.parse(forwarded[0]?.body.toString() ?? '{}').topics
const FETCH = { body: { workerId: 'w', maxTasks: 1, topics: [{ topicName: 'work', lockDuration: 1000 }] } }

t.test('the query of a caller who sees all items is sent unchanged', async (t) => {
  for (const route of [
    'GET /process-instance',
    'GET /external-task/topic-names',
    'GET /event-subscription',
  ]) {
    const { status, forwarded } = await gateway.ask('demo', route)
    t.equal(status, 200)
    t.match(forwarded, [{ method: 'GET', url: `/engine-rest${route.slice(4)}` }])
  }
})

t.test('a caller without any grant gets the empty form of each response', async (t) => {
  for (const [route, body] of [
    ['GET /external-task/topic-names', []],
    ['GET /event-subscription', []],
    ['POST /history/external-task-log', []],
  ] as const) {
    const answer = await gateway.ask('nobody', route, route.startsWith('POST') ? { body: {} } : {})
    t.match(answer, { status: 200 }, route)
    t.same(answer.body, body, route)
  }
})

t.test('no caller sees an item that their records do not name', async (t) => {
  for (const route of [
    'GET /process-instance',
    'GET /process-definition',
    'GET /external-task',
    'GET /execution',
  ]) {
    const { status, body } = await gateway.ask('mary', route)
    const text = JSON.stringify(body)
    t.ok(status === 200 || status === 403, route)
    t.notMatch(text, /moving|catching|tenantReview/, route)
  }
})

t.test('a caller who may not lock tasks locks none, because the engine gets no request', async (t) => {
  const { status, body, forwarded } = await gateway.ask('nobody', LOCK, FETCH)
  t.same([status, body, forwarded.filter(({ method }) => method === 'POST')], [200, [], []])
})

t.test('tasks are locked only if the caller may both read and lock them', async (t) => {
  const { forwarded } = await gateway.ask('ben', LOCK, FETCH)
  t.equal(forwarded.length, 1)
  t.same(JSON.parse(forwarded[0]?.body.toString() ?? ''), {
    workerId: 'w',
    maxTasks: 1,
    topics: [
      {
        topicName: 'work',
        lockDuration: 1000,
        processDefinitionKeyIn: ['external'],
        withoutTenantId: true,
      },
    ],
  })
})

t.test('a permission on single instances locks no tasks, because a topic cannot express it', async (t) => {
  const { status, body, forwarded } = await gateway.ask('anna', LOCK, FETCH)
  t.same([status, body, asked(forwarded)], [200, [], undefined])
})

t.test('a query for startable definitions returns the definitions that the caller may start', async (t) => {
  const all = await gateway.ask('mary', 'GET /process-definition/count')
  t.same(all.body, { count: 2 })
  const { body } = await gateway.ask('mary', 'GET /process-definition?startablePermissionCheck=%22TRUE%22')
  const keys = new Set(Array.isArray(body) ? body.map(({ key }) => key) : [])
  t.same([...keys], ['review'])
  for (const flag of ['1', '%20true', 'true%20', '%22true%22']) {
    const same = await gateway.ask('mary', `GET /process-definition?startablePermissionCheck=${flag}`)
    t.same(same.body, body, flag)
  }
  for (const flag of ['false', '%20false%20', '0', 'null']) {
    const whole = await gateway.ask('mary', `GET /process-definition/count?startablePermissionCheck=${flag}`)
    t.same(whole.body, { count: 2 }, flag)
  }
  const counted = await gateway.ask('mary', 'GET /process-definition/count?startablePermissionCheck=true')
  t.same(counted.body, { count: Array.isArray(body) ? body.length : -1 })
})
