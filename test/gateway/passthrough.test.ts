import t from 'tap'
import { until } from '../support/cache-harness.ts'
import { createLogger } from '../../src/log.ts'
import { start } from '../support/start.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { refusingUrl, startNode } from '../support/fake-engine.ts'
import { authorizationOf, BASE, configOf } from '../support/open-gateway.ts'
import { head, speak } from '../support/raw.ts'

const web = await startNode(t, ({ url }, response) => response.end(`web ${url}`))
const api = await startNode(t, (_request, response) => response.end('{}'))
const config = configOf(t, api.url + BASE, {
  settings: {
    health: { probe: false }, // what the engine sees is counted
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

t.test('an application is told who asks; what the caller claims of it is not believed', async (t) => {
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

/** The lines of one request: that of the access log, and those of the audit. */
async function linesBehind(method: string, path: string, headers: Readonly<Record<string, string>>) {
  const before = logged.length
  await fetch(address + path, { method, headers })
  await until(() => logged.slice(before).some(({ durationMs }) => durationMs !== undefined))
  // The audit is written after the access line, in the same turn.
  await new Promise(setImmediate)
  const behind = logged.slice(before)
  return {
    access: behind.find(({ durationMs }) => durationMs !== undefined),
    audits: behind.filter(({ stream }) => stream === 'audit'),
  }
}

t.test('what passes through is written down with its prefix and path, its query is not', async (t) => {
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

t.test('its writes are audited, and so is who was turned away', async (t) => {
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

t.test('the metrics count it by itself, and not by its paths', async (t) => {
  const text = await (await fetch(`${adminAddress}/metrics`)).text()
  t.match(
    text,
    /http_server_request_duration_seconds_count\{operation="passthrough",engine="",http_request_method="GET"/,
  )
  // Nodes have the prefix in the place of an engine.
  t.match(text, `gateway_node_healthy{engine="/camunda",node="${web.url}"} 1`)
  t.notMatch(text, /="[^"]*camunda\//)
})

t.test('an engine behind a prefix shows what the records hide: that is warned of', async (t) => {
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
    (await fetch(running.address + path, { headers: { authorization: authorizationOf('nobody') } })).json()
  t.same(await read(`${BASE}/task`), [])
  t.match(await read('/camunda/task'), [{ id: String }])
  const warnings = logged.slice(before).filter(({ level }) => level === 'warn')
  t.match(warnings, [
    { msg: /^passthrough\[0\]: \/camunda leads to 127\.0\.0\.1:\d+, a node of default, second\./ },
  ])
})

t.test('below the name of an engine there is no application', async (t) => {
  const seen = web.seen.length
  const own = await fetch(`${address}${BASE}/custom/x`, { headers: demo })
  const named = await fetch(`${address}${BASE}/engine/default/custom/x`, { headers: demo })
  t.same([own.status, named.status, web.seen.length - seen], [200, 404, 1])
})
