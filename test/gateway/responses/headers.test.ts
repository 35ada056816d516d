import type { ServerResponse } from 'node:http'
import t from 'tap'
import { authorizationOf, BASE, openGateway } from '../../support/open-gateway.ts'
import { head, speak } from '../../support/raw.ts'

/** Responds as a misconfigured proxy in front of an engine might. */
function answer({ url }: { readonly url: string }, response: ServerResponse): void {
  if (url.endsWith('?redirect')) {
    response.writeHead(302, { location: 'http://evil.example/' }).end()
    return
  }
  const isDiagram = url.endsWith('/diagram')
  response.writeHead(200, {
    'content-type': isDiagram ? 'image/png' : 'application/json',
    connection: 'keep-alive, x-hop',
    'x-hop': '1',
    'keep-alive': 'timeout=5',
    'x-request-id': 'theirs',
    via: '1.1 theirs',
    'context-user-id': 'admin',
    'x-authorized-user': 'admin',
    'x-authorized-groups': 'g',
    // A response that sets a cookie is not cached.
    ...(!url.includes('/key/b/') && { 'set-cookie': ['node=1', 'lb=2'] }),
    'access-control-allow-origin': '*',
    'content-disposition': 'inline',
    server: 'Jetty',
    location: '/x',
    'content-length': '2',
  })
  response.end('{}')
}

const gateway = await openGateway(t, {
  engine: answer,
  listen: true,
  engines: {
    own: { credentials: { username: 'gate', password: 'way' } },
    passed: { credentials: 'forward' },
    aside: { host: 'node' },
    named: { responseHeaders: ['Server'] },
  },
})
const { ask } = gateway

const VARIED = ['GET /version', 'GET /decision-definition/key/a/diagram', 'DELETE /deployment/x'] as const
const OF_THE_NODE = [
  'x-hop',
  'keep-alive',
  'context-user-id',
  'x-authorized-user',
  'set-cookie',
  'access-control-allow-origin',
  'server',
  'location',
]
const HOWS = ['streamed', 'cached', 'read whole'] as const

for (const [index, route] of VARIED.entries()) {
  t.test(
    `a response that is ${HOWS[index]} carries the request id and Via of the gateway, and no connection headers`,
    async (t) => {
      const { headers, status } = await ask('demo', route, { headers: { 'x-request-id': 'mine-1' } })
      t.equal(status, 200)
      t.match(headers, {
        'x-request-id': 'mine-1',
        via: '1.1 engine-gateway',
        'content-disposition': 'inline',
      })
      for (const name of OF_THE_NODE) t.notOk(headers[name], name)
    },
  )
}

t.test('a cached response carries the id of the request that receives it', async (t) => {
  const route = 'GET /decision-definition/key/b/diagram'
  await ask('demo', route)
  const { headers, forwarded } = await ask('demo', route, { headers: { 'x-request-id': 'mine-2' } })
  t.same(forwarded, [])
  t.match(headers, { 'x-request-id': 'mine-2', 'cache-status': /hit/ })
})

t.test(
  'a request with a Content-Type and no body gets a response, and its connection is reused',
  async (t) => {
    for (const method of ['DELETE', 'PUT', 'POST', 'GET']) {
      const path = `${BASE}/${method === 'POST' ? 'message' : 'deployment/x'}`
      const lines = ['Content-Type: application/json']
      const first = head(`${method} ${path}`, ...lines).replace('Connection: close', 'Connection: keep-alive')
      const heard = await speak(gateway.origin, first + head(`${method} ${path}`, ...lines))
      t.equal(heard.length, 2, method)
      t.notOk(
        heard.some(({ status }) => status >= 500),
        `${method} ${heard.map(({ status }) => status).join(' ')}`,
      )
    }
  },
)

t.test('a request without an id, or with a harmful id, gets a unique id', async (t) => {
  const ids = new Set<string>()
  const given = { headers: { 'x-request-id': 'two words' } }
  for (let at = 0; at < 300; at += 1) {
    const { headers, forwarded } = await ask('demo', VARIED[0], at % 2 === 0 ? {} : given)
    const id = headers['x-request-id'] ?? ''
    if (!/^[\da-f-]{36}$/.test(id) || forwarded[0]?.headers['x-request-id'] !== id) t.fail(id)
    ids.add(id)
  }
  t.equal(ids.size, 300)
})

t.test('refusals at every stage carry the request id and Via', async (t) => {
  for (const [user, route] of [
    [null, 'GET /task'],
    ['demo', 'GET /nosuch'],
    ['demo', 'GET /task/a%00'],
    ['nobody', 'POST /history/cleanup'],
  ] as const) {
    const { headers } = await ask(user, route, { headers: { 'x-request-id': 'mine-3' } })
    t.match(headers, { 'x-request-id': 'mine-3', via: '1.1 engine-gateway' }, route)
  }
})

t.test('the engine receives the request id that the response carries', async (t) => {
  for (const given of ['abc-1', 'with space', 'x'.repeat(129), '<script>']) {
    const { headers, forwarded } = await ask('demo', 'GET /version', { headers: { 'x-request-id': given } })
    t.equal(forwarded[0]?.headers['x-request-id'], headers['x-request-id'])
    t.equal(headers['x-request-id'] === given, given === 'abc-1', 'what could harm a log is not taken over')
  }
  const [one, other] = [await ask('demo', 'GET /version'), await ask('demo', 'GET /version')]
  t.not(one.headers['x-request-id'], other.headers['x-request-id'])
})

const WITHHELD = {
  'Context-User-ID': 'admin',
  'X-Authorized-User': 'admin',
  'X-Forwarded-For': '6.6.6.6',
  'X-Forwarded-Host': 'evil',
  'X-Forwarded-Proto': 'https',
  Forwarded: 'for=6.6.6.6',
  'X-Real-IP': '6.6.6.6',
  'X-HTTP-Method-Override': 'DELETE',
  'X-Original-URL': '/engine-rest/user',
  'X-Rewrite-URL': '/engine-rest/user',
  X_Auth_User: 'admin',
  Cookie: 'JSESSIONID=1',
  TE: 'trailers',
  Trailer: 'X-A',
  'Proxy-Authorization': 'Basic x',
  'Proxy-Connection': 'keep-alive',
  'Keep-Alive': 'timeout=5',
  Upgrade: 'h2c',
}

t.test('headers that claim a user, an address or another method are not sent to the engine', async (t) => {
  const { forwarded } = await ask('demo', 'GET /version', { headers: WITHHELD })
  t.equal(forwarded.length, 1)
  const names = Object.keys(forwarded[0]?.headers ?? {})
  for (const name of Object.keys(WITHHELD)) t.notOk(names.includes(name.toLowerCase()), name)
})

t.test('no parameter, member or header replaces the method of a request', async (t) => {
  const { forwarded } = await ask('demo', 'POST /task/count?_method=DELETE', {
    body: { _method: 'DELETE' },
    headers: { 'x-http-method': 'DELETE', 'x-method-override': 'DELETE' },
  })
  t.match(forwarded, [{ method: 'POST', url: `${BASE}/task/count?_method=DELETE` }])
})

t.test('the credentials of the caller are not sent to the engine', async (t) => {
  const { forwarded } = await ask('demo', 'GET /version')
  t.equal(forwarded[0]?.headers.authorization, undefined)
  const [answered] = await speak(
    gateway.origin,
    head(`GET ${BASE}/version`, 'Connection: close, Authorization'),
  )
  t.equal(answered?.status, 200)
  t.equal(gateway.engine.seen.at(-1)?.headers.authorization, undefined)
})

t.test(
  'headers that Connection names are not sent to the engine, and Accept and trace headers are sent',
  async (t) => {
    const headers = {
      connection: 'x-secret, x-b3-sampled',
      'x-secret': '1',
      'x-b3-sampled': '1',
      accept: 'application/json',
      b3: '2',
    }
    const { forwarded } = await ask('demo', 'GET /version', {
      headers: { ...headers, traceparent: '00-1-2-01' },
    })
    t.match(forwarded[0]?.headers, { accept: 'application/json', b3: '2', traceparent: '00-1-2-01' })
    t.notOk(forwarded[0]?.headers['x-secret'])
    t.notOk(forwarded[0]?.headers['x-b3-sampled'])
  },
)

t.test('Connection cannot remove headers that the engine needs to read the request', async (t) => {
  const connection = 'Host, Content-Type, Accept, X-Request-Id'
  const said = { host: 'public.example', accept: 'application/json', 'x-request-id': 'mine-3' }
  const { forwarded } = await ask('demo', 'POST /message', {
    headers: { ...said, connection, 'content-type': 'application/json' },
    body: '{"messageName":"nosuch"}',
  })
  t.match(forwarded[0]?.headers, { ...said, 'content-type': 'application/json' })
})

t.test('two Authorization headers are refused', async (t) => {
  const before = gateway.engine.requests
  const [answered] = await speak(gateway.origin, head(`GET ${BASE}/version`, 'Authorization: Basic eDp5'))
  t.match(answered, { status: 400, headers: { 'x-gateway-error': 'GW_BAD_HEADER' } })
  t.equal(gateway.engine.requests, before)
})

t.test('more than 128 headers are refused', async (t) => {
  const before = gateway.engine.requests
  const many = Array.from({ length: 130 }, (_, index) => `X-${index}: 1`)
  const [answered] = await speak(gateway.origin, head(`GET ${BASE}/version`, ...many))
  t.match(answered, { status: 431, headers: { 'x-gateway-error': 'GW_HEADERS_TOO_LARGE' } })
  t.equal(gateway.engine.requests, before)
})

t.test('an engine receives its configured credentials or those of the caller', async (t) => {
  const own = await ask('demo', 'GET /engine/own/version')
  t.equal(own.forwarded[0]?.headers.authorization, authorizationOf('gate', 'way'))
  const passed = await ask('demo', 'GET /engine/passed/version')
  t.equal(passed.forwarded[0]?.headers.authorization, authorizationOf('demo'))
})

t.test('an engine receives the Host of the caller or the host of its node', async (t) => {
  const headers = { host: 'public.example' }
  t.equal((await ask('demo', 'GET /version', { headers })).forwarded[0]?.headers.host, 'public.example')
  const { forwarded } = await ask('demo', 'GET /engine/aside/version', { headers })
  t.equal(forwarded[0]?.headers.host, new URL(gateway.engine.base).host)
})

t.test('only listed hosts are served', async (t) => {
  const listed = await openGateway(t, { engine: answer, settings: { hosts: ['public.example'] } })
  const statuses: number[] = []
  for (const host of ['public.example', 'PUBLIC.example', 'evil.example'])
    statuses.push((await listed.ask('demo', 'GET /version', { headers: { host } })).status)
  t.same(statuses, [200, 200, 400])
})

t.test('a redirect of the engine gets 502, and its target is not revealed', async (t) => {
  for (const route of [
    'GET /history/task?redirect',
    'DELETE /deployment/x?redirect',
    'POST /message?redirect',
  ]) {
    const { status, headers, body, forwarded } = await ask('demo', route, { body: { messageName: 'nosuch' } })
    t.match(
      { status, headers },
      { status: 502, headers: { 'x-gateway-error': 'GW_UPSTREAM_INVALID' } },
      route,
    )
    t.notOk(headers['location'], route)
    t.notMatch(JSON.stringify(body), /evil/, route)
    t.equal(forwarded.length, 1, 'the redirect is not followed and the request is not repeated')
  }
})

t.test('configured response headers are passed on, and no others', async (t) => {
  const { headers } = await ask('demo', 'GET /engine/named/version')
  t.match(headers, { server: 'Jetty' })
  t.notOk(headers['set-cookie'])
})
