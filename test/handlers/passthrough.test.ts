import { once } from 'node:events'
import http from 'node:http'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createAffinity } from '../../src/proxy/passthrough/affinity.ts'
import { createLocationRewrite } from '../../src/proxy/passthrough/response-headers.ts'
import { authorizationOf, openGateway } from '../support/open-gateway.ts'
import { refusingUrl, startNode, startRawNode } from '../support/fake-engine.ts'
import { head, speak } from '../support/raw.ts'

const DEMO = { authorization: authorizationOf('demo') }

interface Setup {
  /** Settings of the application itself. */
  readonly application?: Readonly<Record<string, unknown>>
  readonly settings?: Readonly<Record<string, unknown>>
}

/** Opens a gateway with one application at `/camunda`, which has one or several nodes. */
async function openApp(
  t: Test,
  at: string | readonly string[],
  { application = {}, settings = {} }: Setup = {},
): Promise<{ readonly app: FastifyInstance; readonly origin: string }> {
  const nodes = typeof at === 'string' ? { upstream: at } : { nodes: at }
  return openGateway(t, {
    listen: true,
    engine: (_request, response) => response.end('[]'),
    settings: {
      passthrough: [{ prefix: '/camunda', ...nodes, ...application }],
      timeouts: { connect: '500ms', headers: '5s', body: '5s' },
      health: { probe: false },
      ...settings,
    },
  })
}

t.test('paths under the prefix reach the application, and other paths do not', async (t) => {
  const node = await startNode(t)
  const { app } = await openApp(t, `${node.url}/camunda`)
  for (const url of ['/camunda', '/camunda/', '/camunda/app/cockpit/x%20y?a=b&a=c', '/camundax', '/other'])
    await app.inject({ url, headers: DEMO })
  t.same(
    node.seen.map(({ url }) => url),
    ['/camunda', '/camunda/', '/camunda/app/cockpit/x%20y?a=b&a=c'],
  )
})

t.test('a path remains after the prefix is removed', async (t) => {
  const node = await startNode(t)
  const { app } = await openApp(t, node.url)
  for (const url of ['/camunda', '/camunda?a', '/camunda/', '/camunda/x/?a=%Rev%', '/c%61munda/x'])
    await app.inject({ url, headers: DEMO })
  t.same(
    node.seen.map(({ url }) => url),
    ['/', '/?a', '/', '/x/?a=%Rev%'],
  )
})

t.test('body bytes are passed on unchanged, whatever their type', async (t) => {
  const node = await startNode(t)
  const { app } = await openApp(t, node.url)
  const payload = '{"a":12345678901234567890, "a":1.0}'
  for (const type of ['application/json', 'text/plain', 'a/b'])
    await app.inject({
      method: 'POST',
      url: '/camunda/x',
      payload,
      headers: { ...DEMO, 'content-type': type },
    })
  t.same(
    node.seen.map(({ body, headers }) => [
      body.toString(),
      headers['content-type'],
      headers['content-length'],
    ]),
    ['application/json', 'text/plain', 'a/b'].map((type) => [payload, type, String(payload.length)]),
  )
})

const CALLER = {
  ...DEMO,
  cookie: 'JSESSIONID=1',
  'x-forwarded-for': '1.2.3.4',
  'x-original-url': '/admin',
  'context-user-id': 'admin',
  connection: 'x-named',
  'x-named': '1',
  upgrade: 'websocket',
  'x-xsrf-token': '1',
  'x-request-id': 'r-1',
}

t.test('session cookies are passed on, and credentials and claimed identities are not', async (t) => {
  const node = await startNode(t)
  const { app } = await openApp(t, node.url)
  await app.inject({ url: '/camunda/x', headers: CALLER })
  const { connection: _, 'user-agent': __, ...headers } = node.seen[0]?.headers ?? {}
  t.same(headers, {
    host: new URL(node.url).host,
    cookie: 'JSESSIONID=1',
    'x-xsrf-token': '1',
    'x-request-id': 'r-1',
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-host': 'localhost:80',
    'x-forwarded-proto': 'http',
    'x-forwarded-prefix': '/camunda',
  })
})

t.test('an application receives the address that clients use', async (t) => {
  const node = await startNode(t)
  const listen = { port: 0, publicUrl: 'https://bpm.example' }
  const { app } = await openApp(t, node.url, { settings: { listen } })
  await app.inject({ url: '/camunda/x', headers: CALLER })
  t.match(node.seen[0]?.headers, { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'bpm.example' })
})

t.test('the forwarding headers that an application receives are configurable', async (t) => {
  const node = await startNode(t)
  const told = async (forwarded: string) => {
    const { app } = await openApp(t, node.url, { application: { forwarded } })
    await app.inject({ url: '/camunda/x', headers: { ...CALLER, forwarded: 'for=1.2.3.4' } })
    const { headers = {} } = node.seen.at(-1) ?? {}
    return Object.fromEntries(Object.entries(headers).filter(([name]) => name.includes('forwarded')))
  }
  t.same(await told('none'), {})
  t.same(await told('forwarded'), {
    forwarded: 'for=127.0.0.1;host="localhost:80";proto=http',
    'x-forwarded-prefix': '/camunda',
  })
})

t.test('the application receives its own Host, whatever the client sends', async (t) => {
  const node = await startNode(t)
  const { origin } = await openApp(t, node.url)
  const lines = `Host: evil.example\r\nAuthorization: ${DEMO.authorization}\r\n`
  await speak(origin, `GET /camunda/x HTTP/1.0\r\n${lines}\r\n`)
  const { host } = new URL(node.url)
  t.match(node.seen[0]?.headers, { host, 'x-forwarded-host': 'evil.example' })
})

t.test('`auth: none` requires no credentials, and passes on those of the client', async (t) => {
  const node = await startNode(t)
  const { app } = await openApp(t, node.url, { application: { auth: 'none' } })
  t.match(await app.inject('/camunda/x'), { statusCode: 200 })
  t.equal(node.seen[0]?.headers.authorization, undefined)
  await app.inject({ url: '/camunda/x', headers: { authorization: 'Basic x', 'context-user-id': 'admin' } })
  t.match(node.seen[1]?.headers, { authorization: 'Basic x', 'context-user-id': undefined })
  t.match(await app.inject('/engine-rest/version'), { statusCode: 401 }, 'the API asks all the same')
})

t.test('hop-by-hop headers of a response are not passed on', async (t) => {
  const node = await startRawNode(t, (socket) =>
    socket.write(
      'HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Secret\r\nKeep-Alive: timeout=5\r\nX-Secret: 1\r\n' +
        'X-Authorized-User: a\r\nSet-Cookie: a=1\r\nContent-Length: 2\r\n\r\nok',
    ),
  )
  const { origin } = await openApp(t, node.url)
  const [answer] = await speak(origin, head('GET /camunda/x'))
  t.same(Object.keys(answer?.headers ?? {}).toSorted(), [
    'connection',
    'content-length',
    'date',
    'set-cookie',
    'via',
    'x-request-id',
  ])
  t.equal(answer?.headers['connection'], 'close', 'our own')
})

t.test('a write is never sent twice, and a read is sent once more if its connection broke', async (t) => {
  for (const [method, sent] of [
    ['GET', 2],
    ['POST', 1],
  ] as const) {
    const busy = await startNode(t, (_request, response) =>
      response.writeHead(503, { 'Retry-After': '0' }).end(),
    )
    const there = await openApp(t, busy.url)
    t.match(await there.app.inject({ method, url: '/camunda/x', headers: DEMO }), { statusCode: 503 })
    t.equal(busy.seen.length, 1)
    const resetting = await startRawNode(t, (socket) => socket.resetAndDestroy())
    const code = method === 'GET' ? 'GW_UPSTREAM_FAILED' : 'GW_OUTCOME_UNKNOWN'
    const broken = await openApp(t, resetting.url)
    t.match(await broken.app.inject({ method, url: '/camunda/x', headers: DEMO }), {
      statusCode: 502,
      headers: { 'x-gateway-error': code },
    })
    t.equal(resetting.heard.length, sent)
  }
})

t.test('failures of an application get the same errors as those of the API', async (t) => {
  const askOf = async (url: string, settings = {}) =>
    (await openApp(t, url, { settings })).app.inject({ url: '/camunda/x', headers: DEMO })
  t.match(await askOf(await refusingUrl()), { statusCode: 503, headers: { 'x-gateway-error': 'GW_NO_NODE' } })
  const frozen = await startRawNode(t, () => {})
  const late = await askOf(frozen.url, { timeouts: { connect: '500ms', headers: '1s', body: '5s' } })
  t.match(late, { statusCode: 504, headers: { 'x-gateway-error': 'GW_UPSTREAM_TIMEOUT' } })
  const bad = await startRawNode(t, (socket) => socket.write('nonsense\r\n\r\n'))
  t.match(await askOf(bad.url), { statusCode: 502, headers: { 'x-gateway-error': 'GW_UPSTREAM_INVALID' } })
})

t.test(
  'a body over the limit is refused: at once by its Content-Length, otherwise when it exceeds the limit',
  async (t) => {
    const node = await startNode(t)
    const limits = { body: '1KiB', deploymentBody: '1KiB', pressure: { eventLoopDelay: null } }
    const { app, origin } = await openApp(t, node.url, { settings: { limits } })
    const send = (bytes: number) =>
      app.inject({ method: 'POST', url: '/camunda/x', payload: 'a'.repeat(bytes), headers: DEMO })
    t.match(await send(1025), { statusCode: 413, headers: { 'x-gateway-error': 'GW_BODY_TOO_LARGE' } })
    t.equal(await statusOfChunks(origin, ['a'.repeat(600), 'a'.repeat(600)]), 413)
    t.same(node.seen, [])
    t.match(await send(1024), { statusCode: 200 })
    t.equal(await statusOfChunks(origin, ['a'.repeat(500), 'b'.repeat(500)]), 200)
    t.same(
      node.seen.map(({ body }) => body.toString()),
      ['a'.repeat(1024), 'a'.repeat(500) + 'b'.repeat(500)],
    )
  },
)

async function statusOfChunks(origin: string, chunks: readonly string[]): Promise<number | undefined> {
  const request = http.request(`${origin}/camunda/x`, { method: 'POST', headers: DEMO, agent: false })
  for (const chunk of chunks) request.write(chunk)
  request.end()
  const response = await new Promise<http.IncomingMessage>((resolve) => request.on('response', resolve))
  response.resume()
  await once(response, 'end')
  return response.statusCode
}

t.test('an application that sees the prefix does not receive it in a header', async (t) => {
  const node = await startNode(t)
  const { app } = await openApp(t, `${node.url}/camunda/`)
  await app.inject({ url: '/camunda/x', headers: { ...DEMO, 'x-forwarded-prefix': '/evil' } })
  t.equal(node.seen[0]?.headers['x-forwarded-prefix'], undefined)
  t.equal(node.seen[0]?.url, '/camunda/x')
})

t.test('a redirect leads back to the application, and contains its prefix once', async (t) => {
  const node = await startNode(t, ({ url }, response) => {
    response.writeHead(302, { Location: decodeURIComponent(url.slice(url.indexOf('?to=') + 4)) }).end()
  })
  const host = new URL(node.url).host
  const apps = new Map<string, FastifyInstance>()
  for (const path of ['/camunda', '/web', '']) apps.set(path, (await openApp(t, node.url + path)).app)
  for (const [path, location, expected] of [
    ['/camunda', '/camunda/login?a=b#c', '/camunda/login?a=b#c'],
    ['/camunda', '/camunda', '/camunda'],
    ['/camunda', '/camundax', '/camundax'],
    ['/camunda', '/other', '/other'],
    ['/camunda', `http://${host}/camunda/login`, '/camunda/login'],
    ['/camunda', `http://${host}/other?a#b`, '/other?a#b'],
    ['/web', '/web/login', '/camunda/login'],
    ['/web', '/web', '/camunda'],
    ['/web', '/camunda/login', '/camunda/login'],
    ['/web', `//${host}/web/login`, '/camunda/login'],
    ['', '/login', '/camunda/login'],
    ['', '/camunda/login', '/camunda/login'],
    ['', `http://${host}/`, '/camunda/'],
    ['', 'login?x', 'login?x'],
    ['', '../login', '../login'],
    ['', 'https://elsewhere.example/login', 'https://elsewhere.example/login'],
    ['', '//elsewhere.example/login', '//elsewhere.example/login'],
    ['', 'mailto:a@b', 'mailto:a@b'],
  ] as const) {
    const url = `/camunda/x?to=${encodeURIComponent(location)}`
    const answer = await apps.get(path)?.inject({ url, headers: DEMO })
    t.equal(answer?.headers.location, expected, `${path} ${location}`)
  }
})

t.test('the longest of two paths with the same beginning is rewritten', (t) => {
  const rewrite = createLocationRewrite({ prefix: '/a/b', nodes: ['http://web/a', 'http://other/a'] })
  t.equal(rewrite('/a/b/x'), '/a/b/b/x')
  t.equal(rewrite('/a/x'), '/a/b/x')
  t.equal(rewrite('http://other/a/x'), '/a/b/x', 'of any node')
  t.end()
})

/** Returns the cookies that a client receives for those that an application sets. */
async function shownCookies(
  t: Test,
  path: string,
  cookies: readonly string[],
  application = {},
): Promise<readonly string[]> {
  const node = await startNode(t, (_request, response) =>
    response.writeHead(200, { 'Set-Cookie': [...cookies] }).end(),
  )
  const { app } = await openApp(t, node.url + path, { application })
  const { headers } = await app.inject({ url: '/camunda/x', headers: DEMO })
  return [headers['set-cookie'] ?? []].flat()
}

t.test('cookies of the application are valid below its prefix', async (t) => {
  const cookies = [
    ['A=1; Path=/; HttpOnly', 'A=1; Path=/camunda; HttpOnly'],
    ['A=1; path=/web', 'A=1; path=/camunda'],
    ['A=1; Path=/web/api; SameSite=Lax', 'A=1; Path=/camunda/api; SameSite=Lax'],
    ['A=1; Path=/camunda/api', 'A=1; Path=/camunda/api'],
    ['A=1; Path=/webx', 'A=1; Path=/camunda'],
    ['A=1; Path=/neighbour', 'A=1; Path=/camunda'],
    ['A=1; path = /neighbour; Path=/web', 'A=1; path =/camunda; Path=/camunda'],
    ['A=1; Path=', 'A=1; Path=/camunda'],
    ['A=1; Path=/camundax', 'A=1; Path=/camunda'],
    ['A=1; PATH=/engine-rest', 'A=1; PATH=/camunda'],
    ['__Host-A=1; Path=/neighbour; Secure', '__Host-A=1; Path=/; Secure'],
    ['A=Path=/; Secure', 'A=Path=/; Secure'],
    ['__Host-A=1; Path=/; Secure', '__Host-A=1; Path=/; Secure'],
    ['A=1; Domain=127.0.0.1; Path=/', 'A=1; Path=/camunda'],
    ['A=1; Domain=elsewhere.example', 'A=1; Domain=elsewhere.example'],
    ['A=1', 'A=1'],
  ] as const
  t.same(
    await shownCookies(
      t,
      '/web',
      cookies.map(([set]) => set),
    ),
    cookies.map(([, shown]) => shown),
  )
  t.same(await shownCookies(t, '', ['A=1; Path=/', 'A=1; Path=/api']), [
    'A=1; Path=/camunda',
    'A=1; Path=/camunda/api',
  ])
  t.same(await shownCookies(t, '/web', ['A=1; Path=/'], { cookies: 'keep' }), ['A=1; Path=/'])
})

/** Starts two nodes that return their name and begin a session at the path `login`. */
async function startTwoNodes(t: Test) {
  const start = (name: string) =>
    startNode(t, ({ url }, response) => {
      if (url.includes('login')) response.setHeader('Set-Cookie', `SID=${name}; Path=/`)
      response.end(name)
    })
  return [await start('one'), await start('two')] as const
}

t.test('a session stays at the node where it began', async (t) => {
  const nodes = await startTwoNodes(t)
  const { app } = await openApp(
    t,
    nodes.map(({ url }) => url),
  )
  const read = (url: string, cookie = '') => app.inject({ url, headers: { ...DEMO, cookie } })
  const answers = await Promise.all(Array.from({ length: 40 }, () => read('/camunda/x')))
  t.same([...new Set(answers.map(({ body }) => body))].toSorted(), ['one', 'two'], 'without one, any')
  t.notOk(
    answers.some(({ headers }) => 'set-cookie' in headers),
    'and none begins',
  )
  const { body, headers } = await read('/camunda/login')
  const [session = '', affinity = ''] = [headers['set-cookie'] ?? []].flat()
  t.equal(session, `SID=${body}; Path=/camunda`)
  t.match(affinity, /^engine-gateway-node=[\w-]{16}; Path=\/camunda; HttpOnly; SameSite=Lax$/)
  const [own = ''] = affinity.split(';')
  for (let index = 0; index < 40; index += 1) {
    const next = await read('/camunda/x', `a=b; ${own}`)
    t.match(next, { body, headers: { 'set-cookie': undefined } })
  }
  t.match(await read('/camunda/x', 'engine-gateway-node=unknown'), { statusCode: 200 })
})

t.test('if the node of a session is gone, another node is used and remembered', async (t) => {
  const [one] = await startTwoNodes(t)
  const gone = await refusingUrl()
  const { app } = await openApp(t, [one.url, gone])
  const names = await openApp(t, [gone, one.url])
  const affinityOf = async (at: FastifyInstance) => {
    const { headers } = await at.inject({ url: '/camunda/login', headers: DEMO })
    return (
      [headers['set-cookie'] ?? []].flat().find((cookie) => cookie.startsWith('engine-gateway-node')) ?? ''
    )
  }
  const here = await affinityOf(app)
  t.equal(await affinityOf(names.app), here, 'the order of the nodes changes nothing')
  const { nodeOf, remember } = createAffinity('/camunda', [gone])
  const { 'set-cookie': left } = remember({}, { node: gone, wanted: one.url, isSecure: false })
  const cookie = String(left).split(';', 1).join('')
  t.equal(nodeOf(`a=b; ${cookie}`), gone)
  t.equal(nodeOf(cookie.replace('=', '-of-another=')), null, 'the value alone is not enough')
  const { body, headers } = await app.inject({ url: '/camunda/x', headers: { ...DEMO, cookie } })
  t.equal(body, 'one')
  t.same([headers['set-cookie']].flat(), [here])
})

t.test('over TLS the affinity cookie is marked Secure', async (t) => {
  const nodes = await startTwoNodes(t)
  const listen = { port: 0, publicUrl: 'https://bpm.example' }
  const { app } = await openApp(
    t,
    nodes.map(({ url }) => url),
    { settings: { listen } },
  )
  const { headers } = await app.inject({ url: '/camunda/login', headers: DEMO })
  t.match([headers['set-cookie'] ?? []].flat().at(-1), /; Secure$/)
})
