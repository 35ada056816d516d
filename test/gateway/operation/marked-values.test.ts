import t, { type Test } from 'tap'
import { until } from '../../support/cache-harness.ts'
import { startCollector } from '../../support/collector.ts'
import { authorizationOf, BASE, openGateway, type OpenGateway } from '../../support/open-gateway.ts'
import { nextBytes, openSocket } from '../../support/raw.ts'
import { connectTools } from '../../support/tool-client.ts'
import { handshake } from '../../support/web-socket-node.ts'

/** A value that a request contains in one place. Operators must not find it. */
const MARK = 'Marked'

/** Where a value is, and the request with it. `user` is an administrator unless it is named. */
interface Plant {
  readonly place: string
  readonly route: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly user?: string
}

const START = 'POST /process-definition/key/review/start'
const MULTIPART = { 'content-type': 'multipart/form-data; boundary=b' }

function part(head: string, content: string): string {
  return `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n--b--\r\n`
}

function typed(type: string, value: unknown, valueInfo?: unknown): object {
  return { variables: { amount: { type, value, valueInfo } } }
}

function model(xml: string): string {
  return part('name="a.bpmn"; filename="a.bpmn"', xml)
}

/** Every plant must be refused by the gateway. `%` is the marked value. */
const REFUSED: readonly Plant[] = [
  { place: 'the value of an integer', route: START, body: typed('Integer', '%') },
  { place: 'the value of a boolean', route: START, body: typed('Boolean', '%') },
  { place: 'the value of a date', route: START, body: typed('Date', '%') },
  { place: 'the value of a double', route: START, body: typed('Double', '%') },
  { place: 'the value of bytes', route: START, body: typed('Bytes', '%-') },
  { place: 'a type', route: START, body: typed('%', 1) },
  { place: 'a type with a wrong value', route: START, body: typed('Object', { a: '%' }) },
  { place: 'the name of a class', route: START, body: typed('Object', '{}', { objectTypeName: '%' }) },
  {
    place: 'the name of a variable with a hazard',
    route: START,
    body: { variables: { '%': { type: 'Object', value: '', valueInfo: { objectTypeName: 'a' } } } },
  },
  { place: 'the name of a variable that is no object', route: START, body: { variables: { '%': 1 } } },
  { place: 'a list in a query', route: 'POST /task', body: { taskIdIn: '%' } },
  { place: 'a number in a query', route: 'POST /task', body: { priority: '%' } },
  { place: 'a flag in a query', route: 'POST /task', body: { unassigned: '%' } },
  { place: 'a date in a query', route: 'POST /task', body: { dueAfter: '%' } },
  { place: 'an alternative of a query', route: 'POST /task', body: { orQueries: [{ priority: '%' }] } },
  { place: 'a sort criterion', route: 'POST /task', body: { sorting: [{ sortBy: '%', sortOrder: 'asc' }] } },
  {
    place: 'the operator of a filter',
    route: 'POST /task',
    body: { processVariables: [{ name: 'a', operator: '%', value: 1 }] },
  },
  {
    place: 'the name of a filter that has no order',
    route: 'POST /task',
    body: { processVariables: [{ name: '%', operator: 'gt', value: true }] },
  },
  { place: 'the name of an expression', route: 'POST /task', body: { '%Expression': 'a' } },
  { place: 'an expression', route: 'POST /task', body: { assigneeExpression: '%' } },
  { place: 'a parameter with an expression', route: 'GET /task?assigneeExpression=%' },
  { place: 'the name of a parameter', route: 'GET /task?%Expression=a' },
  { place: 'an integer parameter', route: 'GET /task?priority=%' },
  { place: 'a boolean parameter', route: 'GET /task?unassigned=%' },
  { place: 'a date parameter', route: 'GET /task?dueAfter=%' },
  { place: 'a variable parameter', route: 'GET /task?processVariables=%' },
  { place: 'a page parameter', route: 'GET /task?maxResults=%' },
  { place: 'a sort parameter', route: 'GET /task?sortBy=-%&sortOrder=asc' },
  { place: 'a sort order', route: 'GET /task?sortBy=name&sortOrder=%' },
  { place: 'a permission', route: 'GET /authorization/check?permissionName=%&resourceName=a&resourceType=7' },
  { place: 'JSON that is cut', route: START, body: '{"variables":{"a":{"value":"%' },
  { place: 'JSON with a wrong token', route: START, body: '{"a": %}' },
  { place: 'a repeated member', route: START, body: '{"%":1,"%":2}' },
  { place: 'a range of types', route: 'GET /task', headers: { accept: '%;;q' } },
  { place: 'a type of a body', route: START, body: 'a', headers: { 'content-type': 'text/%' } },
  { place: 'an expectation', route: START, body: '{}', headers: { expect: '%' } },
  { place: 'a key', route: START, body: '{}', headers: { 'idempotency-key': '% %' } },
  { place: 'a bearer token', route: 'GET /task', headers: { authorization: 'Bearer %.%.%' } },
  { place: 'a password', route: 'GET /task', headers: { authorization: authorizationOf('demo', 'no %') } },
  {
    place: 'a boundary',
    route: 'POST /deployment/create',
    headers: { 'content-type': 'multipart/form-data; boundary="%"' },
    body: 'x',
  },
  {
    place: 'the name of a part',
    route: 'POST /deployment/create',
    headers: MULTIPART,
    body: part('name="=?utf-8?q?%?="', 'a'),
  },
  {
    place: 'the name of a file',
    route: 'POST /deployment/create',
    headers: MULTIPART,
    body: part('name="a"; filename*=utf-8\'\'%', 'a'),
  },
  {
    place: 'a doctype',
    route: 'POST /deployment/create',
    headers: MULTIPART,
    body: model('<!DOCTYPE a SYSTEM "%"><a/>'),
  },
  {
    place: 'a password of a new user',
    route: 'POST /identity/verify',
    body: { username: 1, password: { a: '%' } },
  },
  {
    place: 'an id in a body',
    route: 'POST /process-definition/suspended',
    body: '{"processDefinitionKey":"%"}',
    user: 'nobody',
  },
  {
    place: 'a user in a body',
    route: 'POST /authorization/create',
    body: { type: 0, permissions: [], userId: '%', resourceType: 7 },
  },
  {
    place: 'a permission in a body',
    route: 'POST /authorization/create',
    body: { type: 1, permissions: ['%'], userId: 'a', resourceType: 7 },
  },
  {
    place: 'a message name of a caller without permission',
    route: 'POST /message',
    body: { messageName: '%', processInstanceId: 'a', tenantId: 'b' },
  },
  { place: 'the id of an engine', route: 'GET /engine/%/task' },
]

/** Returns the plant with its own value. */
function planted(plant: Plant, index: number): { readonly plant: Plant; readonly mark: string } {
  const mark = `${MARK}${String(index)}x`
  return { mark, plant: JSON.parse(JSON.stringify(plant).replaceAll('%', mark)) }
}

/** Returns every line, span and metric in which a value occurs. */
async function traces(
  { log, dependencies }: OpenGateway,
  spans: readonly object[],
): Promise<(mark: string) => readonly string[]> {
  const metrics = (await dependencies.metrics.text()).split('\n')
  const all = [...[...log, ...spans].map((one) => JSON.stringify(one)), ...metrics]
  return (mark) => all.filter((line) => line.includes(mark))
}

const collector = await startCollector(t)
const observed = {
  traces: { endpoint: collector.url, sampleRatio: '100%' },
  audit: { reasons: true, logins: true },
}

t.test('no value of a refused request is in a log line, an audit line, a span or a metric', async (t) => {
  const gateway = await openGateway(t, { settings: observed })
  const all = REFUSED.map(planted)
  for (const { plant } of all) {
    const { user = 'demo', route, place } = plant
    const answer = await gateway.ask(user, route, plant)
    t.ok(answer.status >= 400 || answer.status === 200, `${place}: ${answer.status}`)
  }
  await gateway.dependencies.traces?.flush()
  await until(() => gateway.log.filter(({ durationMs }) => durationMs !== undefined).length >= all.length)
  const linesWith = await traces(gateway, collector.spans)
  for (const { plant, mark } of all) t.same(linesWith(mark).filter(isNoDocumentedMember), [], plant.place)
})

/** The pages of the logs name these members: the path of a request without an operation, and the change of a record. */
function isNoDocumentedMember(line: string): boolean {
  return (
    !line.includes(`"path":"${BASE}/engine/${MARK}`) &&
    !/"change":\{"action":"create".*"permissions"/.test(line)
  )
}

t.test('no value of a request in report mode is in a log line', async (t) => {
  const gateway = await openGateway(t, {
    settings: { ...observed, validation: { mode: 'report' } },
  })
  const all = REFUSED.filter(({ route }) => route === START || route.endsWith('/task')).map(planted)
  for (const { plant } of all) await gateway.ask('demo', plant.route, plant)
  t.ok(gateway.log.some(({ msg }) => msg === 'request would be refused'))
  const linesWith = await traces(gateway, [])
  for (const { plant, mark } of all) t.same(linesWith(mark), [], plant.place)
})

/** Responses of nodes that the gateway cannot use. */
const BROKEN: Readonly<Record<string, (mark: string) => readonly [number, Record<string, string>, string]>> =
  {
    'no JSON': (mark) => [200, { 'content-type': 'application/json' }, `{"value": ${mark}`],
    'a list of other items': (mark) => [200, { 'content-type': 'application/json' }, `[{"name":"${mark}"}]`],
    'a redirect': (mark) => [302, { location: `http://127.0.0.1:1/${mark}` }, mark],
    'an error': (mark) => [500, { 'content-type': 'application/json' }, `{"message":"${mark}"}`],
  }

t.test('no value of a response is in a log line', async (t) => {
  for (const [title, responseOf] of Object.entries(BROKEN)) {
    const mark = `${MARK}Response`
    const gateway = await openGateway(t, {
      records: ['grant mary TASK:a READ', 'grant mary PROCESS_DEFINITION:review READ,READ_TASK'],
      engine: (_request, response) => {
        const [status, headers, body] = responseOf(mark)
        response.writeHead(status, headers).end(body)
      },
    })
    for (const route of ['GET /task', 'GET /task/a', 'GET /task/count', 'GET /variable-instance'])
      await gateway.ask('mary', route)
    await until(() => gateway.log.length >= 4)
    t.same((await traces(gateway, []))(mark), [], title)
  }
})

t.test('no argument of a tool is in a log line', async (t) => {
  const gateway = await openGateway(t, { listen: true, settings: { ...observed, mcp: { tools: 'all' } } })
  const tools = await connectTools(t, gateway.origin, 'demo')
  const mark = `${MARK}Argument`
  for (const args of [{ priority: mark }, { [mark]: 1 }, { body: { priority: mark } }])
    for (const name of ['getTasks', 'queryTasks', mark]) await tools.call(name, args).catch(() => null)
  await gateway.dependencies.traces?.flush()
  t.same((await traces(gateway, collector.spans))(mark), [])
})

t.test('no value of a handshake of a WebSocket is in a log line', async (t) => {
  const gateway = await openGateway(t, {
    listen: true,
    settings: {
      ...observed,
      passthrough: [{ prefix: '/app', nodes: ['http://127.0.0.1:1'], websocket: true }],
    },
  })
  const mark = `${MARK}Handshake`
  for (const lines of [
    [`Origin: http://${mark}`],
    [`Sec-WebSocket-Protocol: ${mark}`],
    [`Cookie: a=${mark}`],
  ])
    await handshakeWith(t, gateway.origin, handshake(`/app/socket?token=${mark}`, ...lines))
  await until(() => gateway.log.filter(({ durationMs }) => durationMs !== undefined).length >= 3)
  await gateway.dependencies.traces?.flush()
  t.same((await traces(gateway, collector.spans))(mark), [])
})

async function handshakeWith(t: Test, origin: string, head: string): Promise<void> {
  const socket = openSocket(origin)
  t.teardown(() => socket.destroy())
  socket.write(head)
  await nextBytes(socket)
}
