import { pino } from 'pino'
import t from 'tap'
import { start } from '../../src/start.ts'
import { refusingUrl, startNode } from '../proxy/fake-engine.ts'
import { authorizationOf, BASE, configOf } from './open-gateway.ts'
import { head, speak } from './raw.ts'

const web = await startNode(t, ({ url }, response) => response.end(`web ${url}`))
const api = await startNode(t, (_request, response) => response.end('{}'))
const config = configOf(t, api.url + BASE, {
  settings: {
    health: { probe: false }, // what the engine sees is counted
    passthrough: [
      { prefix: '/camunda', upstream: web.url },
      { prefix: '/gone', upstream: await refusingUrl() },
    ],
  },
})
const { address, drain } = await start(config, pino({ level: 'silent' }))
t.teardown(drain)

const demo = { authorization: authorizationOf('demo') }

t.test('what stands behind a prefix is passed on as it is, to who has credentials', async (t) => {
  const response = await fetch(`${address}/camunda/app/x%20y?a=b`, {
    headers: { ...demo, cookie: 'JSESSIONID=1' },
  })
  t.equal(await response.text(), 'web /app/x%20y?a=b')
  t.match(web.seen.at(-1)?.headers, { cookie: 'JSESSIONID=1' })
  t.notOk(web.seen.at(-1)?.headers.authorization)
})

t.test('a body passes as it is', async (t) => {
  const body = '{"a":1,"a":2'
  await fetch(`${address}/camunda/api`, {
    method: 'POST',
    body,
    headers: { ...demo, 'content-type': 'application/json' },
  })
  t.equal(web.seen.at(-1)?.body.toString(), body)
})

t.test('so does a request without one, on a connection that goes on', async (t) => {
  for (const method of ['GET', 'DELETE', 'POST', 'PUT', 'OPTIONS']) {
    const lines = `Host: gateway\r\nAuthorization: ${demo.authorization}\r\n`
    const first = `${method} /camunda/first HTTP/1.1\r\n${lines}\r\n`
    t.match(
      await speak(address, first + head(`${method} /camunda/second`)),
      [
        { status: 200, body: 'web /first' },
        { status: 200, body: 'web /second' },
      ],
      method,
    )
    t.match(web.seen.slice(-2), [
      { method, url: '/first' },
      { method, url: '/second' },
    ])
    t.equal(web.seen.at(-1)?.body.length, 0)
  }
})

t.test('strangers reach nothing', async (t) => {
  const before = web.seen.length
  for (const authorization of ['', authorizationOf('demo', 'wrong')]) {
    const response = await fetch(`${address}/camunda/app`, { headers: { authorization } })
    t.equal(response.status, 401)
    t.equal(response.headers.get('www-authenticate'), 'Basic realm="default"')
  }
  t.equal(web.seen.length, before)
})

t.test('nor does a path that could be read in two ways', async (t) => {
  const before = web.seen.length
  for (const path of [
    '/camunda/../engine-rest/task',
    '/camunda/%2e%2e/x',
    '/camunda/.;/x',
    '/camunda//x',
    '/camunda/a%2Fb',
  ])
    t.match(await speak(address, head(`GET ${path}`)), [
      { status: 400, headers: { 'x-gateway-error': 'GW_BAD_TARGET' } },
    ])
  t.equal(web.seen.length, before)
})

t.test('who waits to be told to send his body is told after his credentials were looked at', async (t) => {
  const lines = ['Content-Type: text/plain', 'Content-Length: 2', 'Expect: 100-continue']
  const told = await speak(address, `${head('POST /camunda/api', ...lines)}hi`)
  t.match(told, [{ status: 100 }, { status: 200 }])
  t.equal(web.seen.at(-1)?.body.toString(), 'hi')
})

t.test('when it is away the answer is the gateway’s', async (t) => {
  const response = await fetch(`${address}/gone`, { headers: demo })
  t.match(await response.json(), { type: 'ServiceUnavailableException', code: null })
  t.match([response.status, response.headers.get('x-gateway-error')], [503, 'GW_NO_NODE'])
})

t.test('the API beside it is what it is without', async (t) => {
  const response = await fetch(`${address}${BASE}/version`, { headers: demo })
  t.equal(response.status, 200)
  t.equal(api.seen.length, 1)
})
