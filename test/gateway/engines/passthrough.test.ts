import t from 'tap'
import { until } from '../../support/cache-harness.ts'
import { createLogger } from '../../../src/log.ts'
import { start } from '../../support/start.ts'
import { startSandbox } from '../../../sandbox/sandbox.ts'
import { refusingUrl, startNode } from '../../support/fake-engine.ts'
import { authorizationOf, BASE, configOf } from '../../support/open-gateway.ts'
import { head, speak } from '../../support/raw.ts'

const web = await startNode(t, ({ url }, response) => response.end(`web ${url}`))
const api = await startNode(t, (_request, response) => response.end('{}'))
const config = configOf(t, api.url + BASE, {
  settings: {
    health: { probe: false }, // the test counts the requests that the engine receives
    passthrough: [
      { prefix: '/camunda', upstream: web.url },
      { prefix: '/gone', upstream: await refusingUrl() },
      { prefix: `${BASE}/custom`, upstream: web.url },
    ],
  },
})
const logged: Readonly<Record<string, unknown>>[] = []
const destination = { write: (line: string) => void logged.push(JSON.parse(line)) }
const { address, adminAddress, drain } = await start(config, createLogger({ level: 'info', destination }))
t.teardown(drain)

const demo = { authorization: authorizationOf('demo') }

t.test(
  'a request with credentials below a prefix is passed on unchanged, except for its Authorization',
  async (t) => {
    const response = await fetch(`${address}/camunda/app/x%20y?a=b`, {
      headers: { ...demo, cookie: 'JSESSIONID=1' },
    })
    t.equal(await response.text(), 'web /app/x%20y?a=b')
    t.match(web.seen.at(-1)?.headers, { cookie: 'JSESSIONID=1' })
    t.notOk(web.seen.at(-1)?.headers.authorization)
  },
)

t.test('a request body is passed on unchanged', async (t) => {
  const body = '{"a":1,"a":2'
  await fetch(`${address}/camunda/api`, {
    method: 'POST',
    body,
    headers: { ...demo, 'content-type': 'application/json' },
  })
  t.equal(web.seen.at(-1)?.body.toString(), body)
})

t.test('a request without a body is passed on, and its connection is reused', async (t) => {
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

t.test(
  'an application receives the forwarding headers of the gateway and not those of the caller',
  async (t) => {
    const claims = {
      'x-forwarded-for': '1.2.3.4',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'evil.example',
    }
    await fetch(`${address}/camunda/x`, { headers: { ...demo, ...claims } })
    t.match(web.seen.at(-1)?.headers, {
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': new URL(address).host,
      'x-forwarded-prefix': '/camunda',
    })
  },
)

t.test('a request without valid credentials is not passed on', async (t) => {
  const before = web.seen.length
  for (const authorization of ['', authorizationOf('demo', 'wrong')]) {
    const response = await fetch(`${address}/camunda/app`, { headers: { authorization } })
    t.equal(response.status, 401)
    t.equal(response.headers.get('www-authenticate'), 'Basic realm="default"')
  }
  t.equal(web.seen.length, before)
})

t.test('an ambiguous path is not passed on', async (t) => {
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

t.test('100 Continue is sent to a passthrough request after its credentials were checked', async (t) => {
  const lines = ['Content-Type: text/plain', 'Content-Length: 2', 'Expect: 100-continue']
  const told = await speak(address, `${head('POST /camunda/api', ...lines)}hi`)
  t.match(told, [{ status: 100 }, { status: 200 }])
  t.equal(web.seen.at(-1)?.body.toString(), 'hi')
})

t.test('the gateway itself responds if the application is unreachable', async (t) => {
  const response = await fetch(`${address}/gone`, { headers: demo })
  t.match(await response.json(), { type: 'ServiceUnavailableException', code: null })
  t.match([response.status, response.headers.get('x-gateway-error')], [503, 'GW_NO_NODE'])
})

t.test('a passthrough does not change the API', async (t) => {
  const response = await fetch(`${address}${BASE}/version`, { headers: demo })
  t.equal(response.status, 200)
  t.equal(api.seen.length, 1)
})

/** Sends one request and returns its access line and its audit lines. */
async function linesBehind(method: string, path: string, headers: Readonly<Record<string, string>>) {
  const before = logged.length
  await fetch(address + path, { method, headers })
  await until(() => logged.slice(before).some(({ durationMs }) => durationMs !== undefined))
  // The audit line is written after the access line, in the same turn of the event loop.
  await new Promise(setImmediate)
  const behind = logged.slice(before)
  return {
    access: behind.find(({ durationMs }) => durationMs !== undefined),
    audits: behind.filter(({ stream }) => stream === 'audit'),
  }
}

t.test('a passthrough request is logged with its prefix and path, and without its query', async (t) => {
  const path = '/camunda/api/engine/engine/default/task'
  const { access, audits } = await linesBehind('GET', `${path}?token=hush`, demo)
  t.match(access, { method: 'GET', prefix: '/camunda', path, user: 'demo', status: 200 })
  t.same(audits, [])
  t.notMatch(JSON.stringify(logged), 'hush')
  const long = await linesBehind('GET', `/camunda/${'x'.repeat(5000)}`, demo)
  t.equal(String(long.access?.['path']).length, 256)
  const beside = await linesBehind('GET', `${BASE}/version`, demo)
  t.match(beside.access, { operation: 'getRestAPIVersion', prefix: undefined, path: undefined })
})

t.test('writes to a passthrough and refused requests are audited', async (t) => {
  const path = '/camunda/api/engine/engine/default/task/x/complete'
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    const { access, audits } = await linesBehind(method, `${path}?token=hush`, demo)
    t.match(access, { method, prefix: '/camunda', path })
    t.match(audits, [
      { stream: 'audit', user: 'demo', method, prefix: '/camunda', path, decision: 'permitted', status: 200 },
    ])
  }
  const { audits } = await linesBehind('POST', path, { authorization: authorizationOf('demo', 'wrong') })
  t.match(audits, [{ user: undefined, prefix: '/camunda', path, decision: 'refused', rule: 'credentials' }])
  const setup = await linesBehind('POST', '/camunda/api/admin/setup/default/user/create', demo)
  t.match(setup.access, { status: 403, prefix: '/camunda' })
  t.match(setup.audits, [{ user: 'demo', decision: 'refused', rule: 'first-time setup', status: 403 }])
  t.match(await linesBehind('POST', '/gone/x', demo), {
    access: { prefix: '/gone', status: 503 },
    audits: [{ prefix: '/gone', path: '/gone/x', decision: 'permitted', status: 503 }],
  })
})

t.test('an access line shows the escaped path of a target that is refused', async (t) => {
  const before = logged.length
  await speak(address, head('GET /camunda/%0d%0a{"stream":"audit"}'))
  await until(() => logged.length > before)
  t.match(logged[before], { status: 400, prefix: undefined, path: '/camunda/%0d%0a{"stream":"audit"}' })
})

t.test('the metrics count all passthrough requests as one operation, and not by their paths', async (t) => {
  const text = await (await fetch(`${adminAddress}/metrics`)).text()
  t.match(
    text,
    /http_server_request_duration_seconds_count\{operation="passthrough",engine="",http_request_method="GET"/,
  )
  // Nodes of a passthrough have its prefix as their engine label.
  t.match(text, `gateway_node_healthy{engine="/camunda",node="${web.url}"} 1`)
  t.notMatch(text, /="[^"]*camunda\//)
})

t.test('the API of an engine is not forwarded below a prefix, where no record hides anything', async (t) => {
  const sandbox = await startSandbox()
  t.teardown(() => sandbox.close())
  const own = configOf(t, sandbox.base, {
    records: [],
    settings: { passthrough: [{ prefix: '/camunda', upstream: sandbox.base }] },
  })
  const before = logged.length
  const running = await start(own, createLogger({ level: 'info', destination }))
  t.teardown(running.drain)
  const read = async (path: string) =>
    fetch(running.address + path, { headers: { authorization: authorizationOf('nobody') } })
  t.same(await (await read(`${BASE}/task`)).json(), [])
  for (const path of ['/camunda/task', '/camunda/t%61sk', '/camunda/engine/default/task', '/camunda/TASK']) {
    const { status, headers } = await read(path)
    t.same([status, headers.get('x-gateway-error')], [403, 'GW_NOT_SERVED'], path)
  }
  const warnings = logged.slice(before).filter(({ level }) => level === 'warn')
  t.match(warnings, [
    {
      msg: /^passthrough\[0\]: \/camunda leads to localhost:\d+, the host of a node of default, second\. .*refused there/,
    },
  ])
})

t.test('an application is not reachable below the name of an engine', async (t) => {
  const seen = web.seen.length
  const own = await fetch(`${address}${BASE}/custom/x`, { headers: demo })
  const named = await fetch(`${address}${BASE}/engine/default/custom/x`, { headers: demo })
  t.same([own.status, named.status, web.seen.length - seen], [200, 404, 1])
})
