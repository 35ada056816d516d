import t from 'tap'
import { startNode } from '../support/fake-engine.ts'
import { BASE, configOf, openGateway } from '../support/open-gateway.ts'
import { head, speak } from '../support/raw.ts'
import { start } from '../support/start.ts'
import { createLogger } from '../../src/log.ts'
import { APPLICATION_ATTACKS, FUNCTION_ATTACKS, SECOND_REQUEST } from './application-attacks.ts'
import { CLAIMING_HEADERS } from './header-names.ts'

const gateway = await openGateway(t, { listen: true })
const web = await startNode(t, ({ url }, response) => {
  const { searchParams } = new URL(url, 'http://web')
  const location = searchParams.get('location')
  const cookie = searchParams.get('cookie')
  if (location !== null) response.setHeader('location', location)
  if (cookie !== null) response.setHeader('set-cookie', cookie)
  response.setHeader('access-control-allow-origin', '*')
  const body = `web ${url}`
  response.writeHead(location === null ? 200 : 302, { 'content-length': body.length }).end(body)
})
const config = configOf(t, web.url + BASE, {
  settings: {
    health: { probe: false },
    passthrough: [
      { prefix: '/app', upstream: `${web.url}/a` },
      { prefix: '/open', upstream: `${web.url}/o`, auth: 'none', engineFunctions: 'refuse' },
      { prefix: '/root', upstream: web.url, engineFunctions: 'forward', websocket: true },
    ],
  },
})
const { address, drain } = await start(config, createLogger({ level: 'error', destination: { write() {} } }))
t.teardown(drain)

for (const name of CLAIMING_HEADERS)
  t.test(`${name} of a client reaches neither an engine nor an application`, async (t) => {
    for (const [origin, target, seen] of [
      [gateway.origin, `${BASE}/task`, gateway.engine],
      [address, '/app/x', web],
    ] as const) {
      const [response] = await speak(origin, head(`GET ${target}`, `${name}: claimed`))
      t.equal(response?.status, 200)
      t.notOk(name.toLowerCase() in (seen.seen.at(-1)?.headers ?? {}), target)
    }
  })

for (const { hope, target, status } of APPLICATION_ATTACKS)
  t.test(`an attack on an application is refused: ${hope}`, async (t) => {
    const before = web.seen.length
    const [response] = await speak(address, `GET ${target} HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n`)
    t.equal(response?.status, status)
    t.equal(web.seen.length, before, 'no node gets the request')
  })

for (const { hope, bytes } of FUNCTION_ATTACKS)
  t.test(`an attack on a function behind a prefix is refused: ${hope}`, async (t) => {
    const before = web.seen.length
    const [response, ...others] = await speak(address, bytes)
    t.same(others, [])
    t.ok([400, 403].includes(response?.status ?? 0), `${response?.status}`)
    const code = response?.status === 400 ? 'GW_BAD_TARGET' : 'GW_NOT_SERVED'
    t.equal(response?.headers['x-gateway-error'], code)
    t.equal(web.seen.length, before, 'no node gets the request')
  })

t.test('a second request after a body is authenticated separately', async (t) => {
  const before = web.seen.length
  const statuses = (await speak(address, SECOND_REQUEST)).map(({ status }) => status)
  t.same(statuses, [200, 401])
  t.same(
    web.seen.slice(before).map(({ url }) => url),
    ['/o/x'],
  )
})

t.test(
  'a redirect of an application leads to its own paths, and a redirect to another host is not rewritten',
  async (t) => {
    for (const [location, shown] of [
      [`${web.url}/o/y`, '/open/y'],
      ['//evil.example/o', '//evil.example/o'],
      ['http://127.0.0.1:1/o/y', 'http://127.0.0.1:1/o/y'],
    ] as const) {
      const [response] = await speak(address, head(`GET /open/x?location=${encodeURIComponent(location)}`))
      t.match(response, { status: 302, headers: { location: shown } })
    }
  },
)

t.test('a cookie of an application is never valid for the paths of another application', async (t) => {
  for (const [target, cookie, shown] of [
    ['/open/x', 'sid=1', 'sid=1'],
    ['/open', 'sid=1', 'sid=1; Path=/open'],
    ['/open/x', 'sid=1; Path=/app', 'sid=1; Path=/open'],
    ['/open/x', 'sid=1; Path=/engine-rest', 'sid=1; Path=/open'],
    ['/open/x', 'sid=1; Path=/; Domain=gateway', 'sid=1; Path=/open'],
  ] as const) {
    const [response] = await speak(address, head(`GET ${target}?cookie=${encodeURIComponent(cookie)}`))
    t.equal(response?.headers['set-cookie'], shown, cookie)
  }
})

t.test('CORS headers of a node do not open the API to other origins', async (t) => {
  const [response] = await speak(address, head(`GET ${BASE}/version`, 'Origin: https://evil.example'))
  t.equal(response?.status, 200)
  t.notOk('access-control-allow-origin' in (response?.headers ?? {}))
  t.notOk('origin' in (web.seen.at(-1)?.headers ?? {}))
})

t.test('two equal Content-Length headers are read as one request or refused', async (t) => {
  const before = gateway.engine.requests
  const lines = ['Content-Type: application/json', 'Content-Length: 2', 'Content-Length: 2']
  const responses = await speak(gateway.origin, `${head(`POST ${BASE}/task/count`, ...lines)}{}`)
  t.equal(responses.length, 1)
  t.ok([200, 400].includes(responses[0]?.status ?? 0))
  t.ok(gateway.engine.requests <= before + 1)
})
