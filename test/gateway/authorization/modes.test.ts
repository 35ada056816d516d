import t from 'tap'
import { idsOf } from '../../sandbox/asks.ts'
import { type Answer, type Ask, openGateway } from '../../support/open-gateway.ts'

const RECORDS = { source: 'file', file: 'records.yaml' }

function authorization(mode: string) {
  return { authorization: { mode, records: RECORDS } }
}

/** A gateway with one engine for each mode. The default engine enforces everything. */
const gateway = await openGateway(t, {
  engines: {
    'rights-reported': authorization('report'),
    'rights-off': authorization('off'),
    'shapes-reported': { validation: { mode: 'report' } },
    'shapes-off': { validation: { mode: 'off' } },
    opened: { validation: { allow: ['expressions'] } },
  },
})
const { engine, log, dependencies } = gateway
const [task = ''] = await idsOf(engine.base, '/task?processDefinitionKey=moving')

function ask(user: string, name: string, route: string, body?: Ask): Promise<Answer> {
  return gateway.ask(user, route.replace(' ', ` /engine/${name}`), body)
}

/** Returns the operations that were reported for one engine since the start. */
function reportedAt(name: string): readonly unknown[] {
  return log
    .filter((line) => line['msg'] === 'request would be refused' && line['engine'] === name)
    .map((line) => line['operation'])
}

t.test('authorization mode `report` refuses nothing and logs what would be refused', async (t) => {
  t.match(await ask('nobody', 'rights-reported', `GET /task/${task}`), { status: 200, body: { id: task } })
  t.match(await ask('nobody', 'rights-reported', 'POST /history/cleanup'), { status: 200 })
  t.same(reportedAt('rights-reported'), ['getTask', 'cleanupAsync'])
  t.match(
    await dependencies.metrics.text(),
    /gateway_refusals_total\{engine="rights-reported",operation="getTask",stage="permit-report",reason="404"\} 1/,
  )
})

t.test('a missing entity is reported, and the engine itself responds with 404', async (t) => {
  const answer = await ask('nobody', 'rights-reported', 'PUT /task/nosuch', { body: {} })
  t.match(answer, { status: 404, body: { message: 'No matching task with id nosuch' } })
  t.match(answer.forwarded.at(-1), { method: 'PUT' })
  t.same(reportedAt('rights-reported').slice(-1), ['updateTask'])
  t.match(
    await dependencies.metrics.text(),
    /gateway_refusals_total\{engine="rights-reported",operation="updateTask",stage="permit-report",reason="404"\} 1/,
  )
})

t.test('authorization mode `report` hides no items', async (t) => {
  const all = await gateway.ask('demo', 'GET /task/count')
  for (const [route, body] of [
    ['GET /task/count', {}],
    ['POST /task/count', { body: {} }],
  ] as const) {
    const answer = await ask('mary', 'rights-reported', route, body)
    t.same([answer.status, answer.body], [200, all.body], route)
  }
})

t.test(
  'a created record that the caller may not read is returned, and both refusals are reported',
  async (t) => {
    const body = { type: 1, permissions: ['READ'], userId: 'a', resourceType: 7, resourceId: '*' }
    const answer = await ask('nobody', 'rights-reported', 'POST /authorization/create', { body })
    t.match(answer, { status: 200, body: { userId: 'a' } })
    t.same(reportedAt('rights-reported').slice(-2), ['createAuthorization', 'createAuthorization'])
  },
)

t.test('validation mode `report` passes requests that would be refused', async (t) => {
  const hazard = { body: { orQueries: [{ assigneeExpression: 'x' }] } }
  t.match(await ask('demo', 'shapes-reported', 'POST /task', hazard), { status: 200 })
  const form = { body: 'nothing of a form', headers: { 'content-type': 'multipart/form-data; boundary=b' } }
  const sent = await ask('demo', 'shapes-reported', 'POST /task/x/variables/v/data', form)
  t.equal(sent.forwarded.length, 1)
  t.same(reportedAt('shapes-reported'), ['queryTasks', 'setBinaryTaskVariable'])
})

t.test('a report names the reason and quotes nothing of the body', async (t) => {
  const name = 'x'.repeat(100_000)
  const body = { taskVariables: [{ name: 'a', operator: name }] }
  t.match(await ask('demo', 'shapes-reported', 'POST /task', { body }), { status: Number })
  const line = log.findLast(({ msg }) => msg === 'request would be refused')
  t.match(line, { operation: 'queryTasks', would: 'the comparator of a task variable is not valid' })
})

t.test('an unreadable body is refused in every mode, because nothing can be decided about it', async (t) => {
  for (const name of ['shapes-reported', 'shapes-off', 'rights-off']) {
    for (const body of ['{', '{"a":1,"a":2}', 'null']) {
      const { status, forwarded } = await ask('demo', name, 'POST /task', { body })
      t.same([status, forwarded], [400, []], `${name} ${body}`)
    }
  }
})

t.test('with validation off, the engine validates the body', async (t) => {
  const body = { type: 1, permissions: ['READ'], resourceType: 7, resourceId: '*' }
  const { status, forwarded } = await ask('demo', 'shapes-off', 'POST /authorization/create', { body })
  t.same([status, forwarded.length], [500, 1])
  t.same(reportedAt('shapes-off'), [])
})

t.test('with validation off, a body that is not an object does not cause GW_INTERNAL', async (t) => {
  for (const body of ['[]', '"text"', '1']) {
    const { status, headers } = await ask('mary', 'shapes-off', 'POST /task', { body })
    t.ok(status >= 400)
    t.not(headers['x-gateway-error'], 'GW_INTERNAL', body)
  }
})

t.test('with authorization off, nothing is looked up or left out', async (t) => {
  t.match(await ask('nobody', 'rights-off', `GET /task/${task}`), { status: 200, forwarded: { length: 1 } })
  const all = await ask('nobody', 'rights-off', 'GET /task')
  t.match(all.forwarded, [{ url: '/engine-rest/task' }])
})

t.test('every mode refuses requests without credentials and ambiguous paths', async (t) => {
  for (const name of dependencies.engines.keys()) {
    const stranger = await gateway.ask(null, `GET /engine/${name}/task`)
    const twofold = await ask('demo', name, 'GET /task/a%2Fb')
    const unknown = await ask('demo', name, 'GET /nosuch')
    t.same([stranger.status, twofold.status, unknown.status], [401, 400, 404], name)
    t.same(
      [stranger, twofold, unknown].flatMap(({ forwarded }) => forwarded),
      [],
      name,
    )
  }
})

t.test('an allowed hazard passes, and other hazards are refused', async (t) => {
  const expression = { body: { assigneeExpression: '${x}' } }
  t.match(await ask('demo', 'opened', 'POST /task', expression), { status: 200 })
  t.match(await ask('demo', 'default', 'POST /task', expression), { status: 400 })
  const java = { body: { value: '', type: 'Object', valueInfo: { objectTypeName: 'java.lang.Runtime' } } }
  t.match(await ask('demo', 'opened', 'PUT /process-instance/x/variables/a', java), { status: 400 })
})

t.test('authorization mode `report` sends a request even if its lookup fails', async (t) => {
  const failing = await openGateway(t, {
    settings: authorization('report'),
    engine: ({ method }, response) =>
      response.writeHead(method === 'GET' ? 500 : 204, { 'content-type': 'application/json' }).end(),
  })
  t.match(await failing.ask('nobody', 'PUT /task/x', { body: {} }), { status: 204 })
  t.ok(failing.log.some(({ msg }) => msg === 'request would be refused'))
})
