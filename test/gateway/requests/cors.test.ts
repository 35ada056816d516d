import { pino } from 'pino'
import t from 'tap'
import { GatewayError } from '../../../src/errors.ts'
import { startNode } from '../../support/fake-engine.ts'
import { BASE, configOf, openGateway } from '../../support/open-gateway.ts'
import { head, speak } from '../../support/raw.ts'
import { start } from '../../support/start.ts'

const PAGE = 'https://app.example'
const OTHER = 'https://other.example'
const CORS = { cors: { origins: [PAGE, 'https://next.example'], credentials: true } }
const ALLOWED = {
  vary: 'Origin',
  'access-control-allow-origin': PAGE,
  'access-control-allow-credentials': 'true',
}

/** The response of this route is cached. */
const XML = 'GET /process-definition/x/xml'

const corsHeadersOf = (headers: Readonly<Record<string, unknown>>) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'))

/** Returns the headers of a request from a page of this origin. */
const from = (origin: string, headers: Readonly<Record<string, string>> = {}) => ({
  headers: { origin, 'sec-fetch-site': 'cross-site', ...headers },
})

const preflight = (method: string, origin = PAGE) =>
  from(origin, {
    'access-control-request-method': method,
    'access-control-request-headers': 'authorization,content-type',
    'access-control-request-private-network': 'true',
  })

t.test('a preflight is answered before authentication, and only for known paths and methods', async (t) => {
  const gateway = await openGateway(t, { settings: CORS })
  const hear = (route: string, method: string) => gateway.ask(null, `OPTIONS ${route}`, preflight(method))
  for (const prefix of ['', '/engine/default', '/engine/second']) {
    const answer = await hear(`${prefix}/task`, 'POST')
    t.match(answer, { status: 204, forwarded: [], headers: ALLOWED })
    t.match(answer.headers, {
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-allow-headers':
        'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id',
      'access-control-max-age': '600',
      'x-request-id': /./,
    })
    t.notOk('access-control-allow-private-network' in answer.headers)
  }
  t.match((await hear('/user', 'OPTIONS')).headers, {
    'access-control-allow-methods': 'GET, HEAD, OPTIONS',
  })
  for (const [route, method] of [
    ['/task', 'DELETE'],
    ['/task', 'PATCH'],
    ['/nothing', 'GET'],
    ['/engine/default/engine', 'GET'],
  ] as const) {
    const answer = await hear(route, method)
    t.match(answer, { status: 204, headers: { vary: 'Origin' }, forwarded: [] })
    t.same(corsHeadersOf(answer.headers), [], `${method} ${route}`)
  }
})

t.test('an unauthenticated preflight does not reveal which engines exist', async (t) => {
  const { ask } = await openGateway(t, { settings: CORS })
  const [known, unknown] = await Promise.all(
    ['second', 'nowhere'].map((name) => ask(null, `OPTIONS /engine/${name}/task`, preflight('GET'))),
  )
  const { 'x-request-id': _, date: __, ...headers } = unknown?.headers ?? {}
  t.match(known, { status: 204, headers })
})

t.test('a preflight from an unlisted origin is handled like any other request', async (t) => {
  const { ask } = await openGateway(t, { settings: CORS })
  for (const origin of [OTHER, 'null', 'https://APP.example', 'http://app.example']) {
    const answers = [
      await ask(null, 'OPTIONS /task', preflight('GET', origin)),
      await ask('demo', 'OPTIONS /task', preflight('GET', origin)),
    ]
    t.match(answers, [{ status: 401 }, { status: 405 }])
    for (const { headers } of answers) t.same([headers['vary'], corsHeadersOf(headers)], ['Origin', []])
  }
})

t.test('an OPTIONS request that is not a preflight is sent to the engine', async (t) => {
  const { ask } = await openGateway(t, { settings: CORS, engine: (_request, response) => response.end('{}') })
  const answer = await ask('demo', 'OPTIONS /user', from(PAGE))
  t.match(answer, { status: 200, headers: ALLOWED })
  t.equal(answer.forwarded.length, 1)
})

t.test(
  'a page of a listed origin can read every refusal; a page of another origin can read none',
  async (t) => {
    const settings = { ...CORS, limits: { rate: { requests: 1, per: '1h', burst: 1 } } }
    const gateway = await openGateway(t, { settings, records: [] })
    await gateway.ask('nobody', 'GET /version')
    const cases: readonly (readonly [user: string | null, route: string, status: number])[] = [
      [null, 'GET /task', 401],
      ['demo', 'GET /nothing', 404],
      ['demo', 'PUT /task', 405],
      ['nobody', 'GET /task/x', 429],
      ['demo', 'GET /engine/x/task', 404],
      ['demo', 'GET /task/%2F', 400],
    ]
    for (const [user, route, status] of cases) {
      const shown = await gateway.ask(user, route, from(PAGE))
      t.match(shown, { status, headers: ALLOWED }, route)
      const hidden = await gateway.ask(user, route, from(OTHER))
      // A write from another origin is refused because of its origin first.
      t.equal(hidden.status, route.startsWith('PUT') ? 403 : status, route)
      t.same([hidden.headers['vary'], corsHeadersOf(hidden.headers)], ['Origin', []], route)
    }
  },
)

t.test('a refusal caused by overload carries CORS headers', async (t) => {
  const overloaded = new GatewayError('GW_OVERLOADED', { retryAfterSeconds: 1 })
  const refusal = () => overloaded
  const { ask } = await openGateway(t, {
    settings: CORS,
    wrap: (dependencies) => ({ ...dependencies, pressure: { ...dependencies.pressure, refusal } }),
  })
  const answer = await ask('demo', 'GET /version', from(PAGE))
  t.match(answer, { status: 503, headers: { ...ALLOWED, 'retry-after': '1' } })
  t.match(answer.headers['access-control-expose-headers'], /Retry-After/)
})

t.test('a listed origin may send writes; an unlisted origin and `null` may not', async (t) => {
  const gateway = await openGateway(t, { settings: CORS })
  const create = (origin: string) =>
    gateway.ask('demo', 'POST /signal', { body: { name: 'a' }, ...from(origin) })
  const created = await create(PAGE)
  t.match(created, { status: 204, headers: ALLOWED })
  t.equal(created.forwarded.length, 1)
  for (const origin of [OTHER, 'null'])
    t.match(await create(origin), {
      status: 403,
      headers: { 'x-gateway-error': 'GW_FOREIGN_ORIGIN', vary: 'Origin' },
      forwarded: [],
    })
})

t.test(
  'CORS headers match the origin of each request, whatever the cache contains and the engine sends',
  async (t) => {
    const gateway = await openGateway(t, {
      settings: CORS,
      engine: ({ headers }, response) => {
        response.setHeader('content-type', 'application/json')
        response.setHeader('vary', 'Accept-Encoding')
        response.setHeader('access-control-allow-origin', headers.origin ?? '*')
        response
          .setHeader('access-control-allow-methods', 'DELETE')
          .end('{"id":"x","key":"x","bpmn20Xml":"<definitions/>"}')
      },
    })
    const routes = ['GET /version', XML, 'GET /engine', 'GET /metrics']
    for (const route of [...routes, ...routes]) {
      const shown = [
        await gateway.ask('demo', route, from(PAGE)),
        await gateway.ask('demo', route, from('https://next.example')),
        await gateway.ask('demo', route, from(OTHER)),
        await gateway.ask('demo', route),
      ]
      t.same(
        shown.map(({ status, headers }) => [status, headers['access-control-allow-origin']]),
        [
          [200, PAGE],
          [200, 'https://next.example'],
          [200, undefined],
          [200, undefined],
        ],
        route,
      )
      for (const { headers } of shown) {
        t.notOk('access-control-allow-methods' in headers, route)
        t.equal(headers['vary'], route === 'GET /engine' ? 'Origin' : 'Accept-Encoding, Origin', route)
      }
    }
    t.match((await gateway.ask('demo', XML)).headers['cache-status'], /hit/)
    t.same(
      gateway.engine.seen.filter(({ headers }) => 'origin' in headers),
      [],
      'the engine is not asked to judge the origin',
    )
  },
)

t.test('without the CORS section no header is added and no preflight is answered', async (t) => {
  const { ask } = await openGateway(t)
  const answer = await ask('demo', 'GET /version', from(PAGE))
  t.notOk('vary' in answer.headers)
  t.same(corsHeadersOf(answer.headers), [])
  t.equal((await ask(null, 'OPTIONS /task', preflight('GET'))).status, 401)
})

t.test(
  'a passthrough response keeps its own CORS headers, and listed origins may not write there',
  async (t) => {
    const web = await startNode(t, (_request, response) => {
      response.setHeader('access-control-allow-origin', '*').end('web')
    })
    const config = configOf(t, web.url + BASE, {
      settings: { ...CORS, health: { probe: false }, passthrough: [{ prefix: '/app', upstream: web.url }] },
    })
    const { address, drain } = await start(config, pino({ level: 'silent' }))
    t.teardown(drain)
    const say = (line: string) => speak(address, head(line, `Origin: ${PAGE}`, 'Sec-Fetch-Site: cross-site'))
    const [read] = await say('GET /app/x')
    t.match(read, { status: 200, body: 'web', headers: { 'access-control-allow-origin': '*' } })
    t.notOk('vary' in (read?.headers ?? {}))
    const refused = [{ status: 403, headers: { 'x-gateway-error': 'GW_FOREIGN_ORIGIN' } }]
    t.match(await say('POST /app/x'), refused)
    const form = ['Content-Type: application/x-www-form-urlencoded', 'Content-Length: 3', `Origin: ${PAGE}`]
    t.match(await speak(address, `${head('POST /app/x', ...form)}a=b`), refused)
    t.equal(web.seen.length, 1)
  },
)
