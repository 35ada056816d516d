import t from 'tap'
import { authorizationOf, BASE, openGateway } from '../../support/open-gateway.ts'
import { head, hear, nextBytes, openSocket, speak } from '../../support/raw.ts'

const gateway = await openGateway(t, { listen: true, records: [] })
const { ask, origin } = gateway

const STRANGER = authorizationOf('demo', 'wrong')

/** Returns the head of a request whose body is not sent yet. */
function headOf(authorization: string, path: string, ...lines: readonly string[]): string {
  const fields = [
    `POST ${BASE}${path} HTTP/1.1`,
    'Host: gateway',
    `Authorization: ${authorization}`,
    ...lines,
  ]
  return `${fields.join('\r\n')}\r\n\r\n`
}

/** Returns the first line of the response, before anything else is sent. */
async function firstWord(bytes: string): Promise<string> {
  const socket = openSocket(origin)
  socket.write(bytes)
  const text = await nextBytes(socket)
  socket.destroy()
  return text.split('\r\n', 1)[0] ?? ''
}

const HUGE = ['Content-Type: application/json', 'Content-Length: 10000000000'] as const
const JSON_COMES = ['Content-Type: application/json', 'Content-Length: 2', 'Expect: 100-continue'] as const

t.test('wrong credentials are refused before any byte of the body is received', async (t) => {
  t.match(await firstWord(headOf(STRANGER, '/task', ...HUGE)), 'HTTP/1.1 401')
  t.match(await firstWord(headOf(STRANGER, '/task', 'Transfer-Encoding: chunked')), 'HTTP/1.1 401')
})

t.test(
  'a body that is too large, of another type or without an operation is refused before it is received',
  async (t) => {
    const demo = authorizationOf('demo')
    t.match(await firstWord(headOf(demo, '/task', ...HUGE)), 'HTTP/1.1 413')
    t.match(
      await firstWord(headOf(demo, '/task', 'Content-Length: 9', 'Content-Type: text/plain')),
      'HTTP/1.1 415',
    )
    t.match(await firstWord(headOf(demo, '/nosuch', ...HUGE)), 'HTTP/1.1 404')
    t.match(await firstWord(headOf(demo, '/signal/x', ...HUGE)), 'HTTP/1.1 404')
    t.match(await firstWord(headOf(demo, '/engine', ...HUGE)), 'HTTP/1.1 405')
    t.match(await firstWord(headOf(demo, '/../task', ...HUGE)), 'HTTP/1.1 400')
  },
)

t.test('100 Continue is sent only for requests that are accepted', async (t) => {
  t.match(await firstWord(headOf(STRANGER, '/task/count', ...JSON_COMES)), 'HTTP/1.1 401')
  t.match(await firstWord(headOf(authorizationOf('demo'), '/nosuch', ...JSON_COMES)), 'HTTP/1.1 404')
  t.match(
    await firstWord(headOf(authorizationOf('demo'), '/task/count', ...JSON_COMES)),
    'HTTP/1.1 100 Continue',
  )
})

t.test('after 100 Continue the body is read, and the response follows', async (t) => {
  const socket = openSocket(origin)
  socket.write(headOf(authorizationOf('demo'), '/task/count', 'Connection: close', ...JSON_COMES))
  t.equal(await nextBytes(socket), 'HTTP/1.1 100 Continue\r\n\r\n')
  socket.write('{}')
  t.match(await hear(socket), [{ status: 200 }])
})

t.test('a refusal without 100 Continue closes the connection', async (t) => {
  t.match(await speak(origin, headOf(STRANGER, '/task', ...JSON_COMES)), [
    { status: 401, headers: { connection: 'close' } },
  ])
})

t.test('an expectation other than 100-continue is refused', async (t) => {
  const before = gateway.engine.requests
  const [answer] = await speak(origin, head(`GET ${BASE}/version`, 'Expect: foo'))
  t.match(answer, { status: 417, headers: { 'x-gateway-error': 'GW_EXPECTATION' } })
  t.equal(gateway.engine.requests, before)
})

t.test('the cache is read only after the permission check', async (t) => {
  const route = 'GET /decision-definition/key/discount/diagram'
  await ask('demo', route)
  t.match((await ask('demo', route)).headers, { 'cache-status': /hit/ })
  const refused = await ask('nobody', route)
  t.match(refused, { status: 404, body: { type: 'RestException' }, forwarded: [] })
  t.notOk(refused.headers['cache-status'])
  t.notOk(refused.headers['etag'])
})

t.test('the shape of a body is checked before the permission', async (t) => {
  t.match(await ask('nobody', 'PUT /task/x', { body: { priority: 'high' } }), { status: 400, forwarded: [] })
  t.match(await ask('nobody', 'POST /authorization/create', { body: '{' }), { status: 400, forwarded: [] })
})

t.test('hazards are checked before the shape of a body', async (t) => {
  const body = { orQueries: [{ assigneeExpression: 'x' }], priority: {} }
  t.match((await ask('nobody', 'POST /task', { body })).headers, { 'x-gateway-error': 'GW_HAZARD' })
})

t.test(
  'properties that the engine checks after its permission check are checked after that of the gateway',
  async (t) => {
    const body = { type: 1, permissions: ['FOO'], userId: 'a', resourceType: 7, resourceId: '*' }
    const [refused, admitted] = [
      await ask('nobody', 'POST /authorization/create', { body }),
      await ask('demo', 'POST /authorization/create', { body }),
    ]
    t.match(refused, { status: 403, body: { type: 'AuthorizationException' }, forwarded: [] })
    t.match(admitted, { status: 400, body: { message: /FOO/ }, forwarded: [] })
  },
)

t.test('the method is checked after the credentials and before the body', async (t) => {
  const [stranger] = await speak(
    origin,
    `TRACE ${BASE}/task HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n`,
  )
  t.equal(stranger?.status, 401)
  const [known] = await speak(origin, head(`TRACE ${BASE}/task`))
  t.match(known, { status: 405, headers: { allow: 'GET, HEAD, POST' } })
})
