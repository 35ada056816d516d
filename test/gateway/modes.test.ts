import t from 'tap'
import { idsOf } from '../sandbox/asks.ts'
import { type GatewayOptions, openGateway } from './open-gateway.ts'

const RECORDS = { source: 'file', file: 'records.yaml' }

function authorization(mode: string): GatewayOptions {
  return { records: [], settings: { authorization: { mode, records: RECORDS } } }
}

function validation(mode: string): GatewayOptions {
  return { records: [], settings: { validation: { mode } } }
}

t.test('a report of authorization refuses nothing, and says what would be refused', async (t) => {
  const { ask, engine, log, parts } = await openGateway(t, authorization('report'))
  const [task] = await idsOf(engine.base, '/task?processDefinitionKey=review')
  t.match(await ask('nobody', `GET /task/${task}`), { status: 200, body: { id: task } })
  t.match(await ask('nobody', 'POST /history/cleanup'), { status: 200 })
  t.match(
    log.filter(({ msg }) => msg === 'would be refused'),
    [{ operation: 'getTask', level: 'warn' }, { operation: 'cleanupAsync' }],
  )
  t.match(
    await parts.metrics.text(),
    /gateway_refusals_total\{.*operation="getTask",stage="permit-report".*\} 1/,
  )
})

t.test('it leaves no rows out', async (t) => {
  const { ask } = await openGateway(t, authorization('report'))
  const all = await ask('demo', 'GET /task/count')
  for (const route of ['GET /task/count', 'POST /task/count']) {
    const { body, status } = await ask('mary', route, route.startsWith('POST') ? { body: {} } : {})
    t.same([status, body], [200, all.body], route)
  }
})

t.test('a record that was created and may not be read is given all the same', async (t) => {
  const { ask } = await openGateway(t, authorization('report'))
  const body = { type: 1, permissions: ['READ'], userId: 'a', resourceType: 7, resourceId: '*' }
  t.match(await ask('nobody', 'POST /authorization/create', { body }), { status: 200, body: { userId: 'a' } })
})

t.test('a look-up that fails stops no request', async (t) => {
  const { ask, log } = await openGateway(t, {
    ...authorization('report'),
    engine: ({ method }, response) =>
      response.writeHead(method === 'GET' ? 500 : 204, { 'content-type': 'application/json' }).end(),
  })
  t.match(await ask('nobody', 'PUT /task/x', { body: {} }), { status: 204 })
  t.ok(log.some(({ msg }) => msg === 'would be refused'))
})

t.test('a report of validation lets through what it would refuse', async (t) => {
  const { ask, log } = await openGateway(t, validation('report'))
  const hazard = await ask('demo', 'POST /task', { body: { orQueries: [{ assigneeExpression: 'x' }] } })
  t.match(hazard, { status: 200, forwarded: [{ method: 'POST' }] })
  const form = await ask('demo', 'POST /task/x/variables/v/data', {
    body: 'nothing of a form',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  })
  t.equal(form.forwarded.length, 1)
  t.match(
    log.filter(({ msg }) => msg === 'would be refused'),
    [{ operation: 'queryTasks' }, { operation: 'setBinaryTaskVariable' }],
  )
})

t.test('a body that cannot be read is refused in every mode: nothing of it could be decided', async (t) => {
  for (const mode of ['report', 'off']) {
    const { ask } = await openGateway(t, validation(mode))
    for (const body of ['{', '{"a":1,"a":2}', 'null'])
      t.match(await ask('demo', 'POST /task', { body }), { status: 400, forwarded: [] }, `${mode} ${body}`)
  }
})

t.test('with validation off the engine says what is wrong with a body', async (t) => {
  const { ask, log } = await openGateway(t, validation('off'))
  const body = { type: 1, permissions: ['READ'], resourceType: 7, resourceId: '*' }
  t.match(await ask('demo', 'POST /authorization/create', { body }), { status: 500, forwarded: [{}] })
  t.notOk(log.some(({ msg }) => msg === 'would be refused'))
})

t.test('a list in the place of a query is no accident of the gateway, whatever is checked', async (t) => {
  const { ask } = await openGateway(t, { settings: { validation: { mode: 'off' } } })
  for (const body of ['[]', '"text"', '1']) {
    const { status } = await ask('mary', 'POST /task', { body })
    t.not(status, 200, body)
  }
})

t.test('with authorization off nothing is looked up or left out', async (t) => {
  const { ask, engine } = await openGateway(t, authorization('off'))
  const [task] = await idsOf(engine.base, '/task')
  t.match(await ask('nobody', `GET /task/${task}`), { status: 200, forwarded: { length: 1 } })
  t.match(await ask('nobody', 'GET /task'), { status: 200, forwarded: [{ url: '/engine-rest/task' }] })
})

t.test('in no mode is a stranger let in, or a path read in two ways', async (t) => {
  for (const options of [authorization('off'), validation('off')]) {
    const { ask } = await openGateway(t, options)
    t.match(await ask(null, 'GET /task'), { status: 401, forwarded: [] })
    t.match(await ask('demo', 'GET /task/a%2Fb'), { status: 400, forwarded: [] })
    t.match(await ask('demo', 'GET /nosuch'), { status: 404, forwarded: [] })
  }
})

t.test('a hazard that is opened passes, and no other with it', async (t) => {
  const { ask } = await openGateway(t, { settings: { validation: { allow: ['expressions'] } } })
  t.match(await ask('demo', 'POST /task', { body: { assigneeExpression: '${x}' } }), { status: 200 })
  const java = { value: '', type: 'Object', valueInfo: { objectTypeName: 'java.lang.Runtime' } }
  t.match(await ask('demo', 'PUT /process-instance/x/variables/a', { body: java }), { status: 400 })
})

t.test('one engine may have a mode of its own', async (t) => {
  const { ask, engine } = await openGateway(t, {
    records: [],
    settings: {
      engines: {
        default: { nodes: ['http://127.0.0.1:1/engine-rest'] },
        second: {
          nodes: ['http://127.0.0.1:1/engine-rest'],
          authorization: { mode: 'off', records: RECORDS },
        },
      },
    },
  })
  t.equal((await ask('nobody', 'POST /history/cleanup')).status, 403)
  t.equal((await ask('nobody', 'POST /engine/second/history/cleanup')).status, 503)
  t.equal(engine.requests, 0)
})
