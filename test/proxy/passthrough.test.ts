import { once } from 'node:events'
import http from 'node:http'
import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { GatewayError } from '../../src/errors.ts'
import {
  createLocationRewrite,
  registerPassthrough,
  type PassthroughOptions,
} from '../../src/proxy/passthrough.ts'
import { speak } from '../support/raw.ts'
import { refusingUrl, startNode, startRawNode } from '../support/fake-engine.ts'

const ENOUGH = { connectMs: 500, headersMs: 5000, bodyMs: 5000 }

interface Opened {
  readonly app: FastifyInstance
  readonly port: number
}

async function openApp(
  t: Test,
  upstream: string,
  options: Partial<PassthroughOptions> = {},
  app: FastifyInstance = fastify(),
): Promise<Opened> {
  // As the gateway has them: a parser that keeps the bytes, and errors of one shape.
  app.addContentTypeParser(
    'application/vnd.kept',
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) => body,
  )
  app.setErrorHandler((error, _request, reply) => {
    const known = error instanceof GatewayError ? error : new GatewayError('GW_INTERNAL', { cause: error })
    return reply.code(known.statusCode).header('x-gateway-error', known.code).send(known.body)
  })
  app.post('/engine-rest/echo', (request, reply) => reply.send(request.body))
  registerPassthrough(app, {
    prefixes: [{ prefix: '/camunda', upstream }],
    authenticate: async () => {},
    clientOf: () => ({ address: '203.0.113.9', scheme: 'https' }),
    bodyBytes: 1000,
    connections: 4,
    timeouts: ENOUGH,
    ...options,
  })
  const address = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  t.teardown(() => app.close())
  return { app, port: Number(address.port) }
}

t.test('paths under the prefix reach the application, others do not', async (t) => {
  const node = await startNode(t)
  const { app } = await openApp(t, `${node.url}/camunda`)
  for (const url of ['/camunda', '/camunda/', '/camunda/app/cockpit/x%20y?a=b&a=c', '/camundax', '/other'])
    await app.inject(url)
  t.same(
    node.seen.map(({ url }) => url),
    ['/camunda', '/camunda/', '/camunda/app/cockpit/x%20y?a=b&a=c'],
  )
})

t.test('a refused request is not forwarded, and its body is not read', async (t) => {
  const node = await startNode(t)
  const { app } = await openApp(t, node.url, {
    authenticate: async () => {
      throw new GatewayError('GW_THROTTLED')
    },
  })
  t.match(await app.inject({ method: 'POST', url: '/camunda/x', payload: { a: 1 } }), { statusCode: 429 })
  t.same(node.seen, [])
})

t.test('body bytes are untouched, whatever their type', async (t) => {
  const node = await startNode(t)
  const { app } = await openApp(t, node.url)
  const payload = '{"a":12345678901234567890, "a":1.0}'
  for (const type of ['application/json', 'text/plain', 'a/b']) {
    await app.inject({ method: 'POST', url: '/camunda/x', payload, headers: { 'content-type': type } })
  }
  t.same(
    node.seen.map(({ body, headers }) => [
      body.toString(),
      headers['content-type'],
      headers['content-length'],
    ]),
    ['application/json', 'text/plain', 'a/b'].map((type) => [payload, type, String(payload.length)]),
  )
})

t.test('the API beside it keeps its own parsers', async (t) => {
  const node = await startNode(t)
  const { app } = await openApp(t, node.url)
  t.equal((await app.inject({ method: 'POST', url: '/engine-rest/echo', payload: { a: 1 } })).body, '{"a":1}')
})

const CALLER = {
  authorization: 'Basic x',
  cookie: 'JSESSIONID=1',
  'x-forwarded-for': '1.2.3.4',
  'x-original-url': '/admin',
  'context-user-id': 'admin',
  connection: 'x-named',
  'x-named': '1',
  upgrade: 'websocket',
  'x-kept': '1',
}

t.test('the session passes, credentials and identity do not', async (t) => {
  const node = await startNode(t)
  const { app } = await openApp(t, node.url)
  await app.inject({ url: '/camunda/x', headers: CALLER })
  const { connection: _, 'user-agent': __, ...headers } = node.seen[0]?.headers ?? {}
  t.same(headers, {
    host: new URL(node.url).host,
    cookie: 'JSESSIONID=1',
    'x-kept': '1',
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-host': 'localhost:80',
    'x-forwarded-proto': 'https',
    'x-forwarded-prefix': '/camunda',
  })
})

t.test('the application sees its own Host, whatever the client sends', async (t) => {
  const node = await startNode(t)
  const app = fastify({ http: { requireHostHeader: false } })
  const { port } = await openApp(t, node.url, {}, app)
  const start = 'GET /camunda/x HTTP/1.1\r\nConnection: close\r\n'
  for (const field of ['', 'Host:\r\n', 'Host: evil.example\r\n'])
    t.match(await speak(`http://127.0.0.1:${port}`, `${start}${field}\r\n`), [{ status: 200 }], field)
  const { host } = new URL(node.url)
  t.same(
    node.seen.map(({ headers }) => [headers.host, headers['x-forwarded-host']]),
    [
      [host, undefined],
      [host, ''],
      [host, 'evil.example'],
    ],
  )
})

t.test('credentials pass where that is configured', async (t) => {
  const node = await startNode(t)
  const { app } = await openApp(t, node.url, { forwardAuthorization: true })
  await app.inject({ url: '/camunda/x', headers: CALLER })
  t.equal(node.seen[0]?.headers.authorization, 'Basic x')
})

t.test('hop-by-hop headers of the answer stop here', async (t) => {
  const node = await startRawNode(t, (socket) =>
    socket.write(
      'HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Secret\r\nKeep-Alive: timeout=5\r\nX-Secret: 1\r\n' +
        'X-Authorized-User: a\r\nSet-Cookie: a=1\r\nContent-Length: 2\r\n\r\nok',
    ),
  )
  const { port } = await openApp(t, node.url)
  const answer = await askPath(port, '/camunda/x')
  t.same(Object.keys(answer.headers).sort(), ['connection', 'content-length', 'date', 'set-cookie'])
  t.equal(answer.headers.connection, 'close', 'our own')
})

t.test('nothing is sent twice, whatever the answer', async (t) => {
  for (const method of ['GET', 'POST'] as const) {
    const busy = await startNode(t, (_request, response) =>
      response.writeHead(503, { 'Retry-After': '0' }).end(),
    )
    t.match(await (await openApp(t, busy.url)).app.inject({ method, url: '/camunda/x' }), { statusCode: 503 })
    t.equal(busy.seen.length, 1)
    const resetting = await startRawNode(t, (socket) => socket.resetAndDestroy())
    const code = method === 'GET' ? 'GW_UPSTREAM_FAILED' : 'GW_OUTCOME_UNKNOWN'
    t.match(await (await openApp(t, resetting.url)).app.inject({ method, url: '/camunda/x' }), {
      statusCode: 502,
      headers: { 'x-gateway-error': code },
    })
    t.equal(resetting.heard.length, 1)
  }
})

t.test('failures look like those of the API', async (t) => {
  const down = await (await openApp(t, await refusingUrl())).app.inject('/camunda/x')
  t.match(down, { statusCode: 503, headers: { 'x-gateway-error': 'GW_NO_NODE' } })
  const frozen = await startRawNode(t, () => {})
  const timeouts = { ...ENOUGH, headersMs: 50 }
  const late = await (await openApp(t, frozen.url, { timeouts })).app.inject('/camunda/x')
  t.match(late, { statusCode: 504, headers: { 'x-gateway-error': 'GW_UPSTREAM_TIMEOUT' } })
  const bad = await startRawNode(t, (socket) => socket.write('nonsense\r\n\r\n'))
  const invalid = await (await openApp(t, bad.url)).app.inject('/camunda/x')
  t.match(invalid, { statusCode: 502, headers: { 'x-gateway-error': 'GW_UPSTREAM_INVALID' } })
})

t.test(
  'a body over the limit is refused: at once by its Content-Length, else when it exceeds the limit',
  async (t) => {
    const node = await startNode(t)
    const { app, port } = await openApp(t, node.url)
    const payload = 'a'.repeat(1001)
    t.match(await app.inject({ method: 'POST', url: '/camunda/x', payload }), { statusCode: 413 })
    const request = http.request({
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: '/camunda/x',
      agent: false,
    })
    request.write('a'.repeat(600))
    request.end('a'.repeat(600))
    const response = await new Promise<http.IncomingMessage>((resolve) => request.on('response', resolve))
    response.resume()
    t.equal(response.statusCode, 413)
    t.same(node.seen, [])
  },
)

t.test('a body that just fits arrives', async (t) => {
  const node = await startNode(t)
  const { app } = await openApp(t, node.url)
  const payload = 'a'.repeat(1000)
  t.match(await app.inject({ method: 'POST', url: '/camunda/x', payload }), { statusCode: 200 })
  t.equal(node.seen[0]?.body.toString(), payload)
})

t.test('a caller without an address is not named', async (t) => {
  const node = await startNode(t)
  const { app } = await openApp(t, node.url, { clientOf: () => ({ address: '', scheme: 'http' }) })
  await app.inject('/camunda/x')
  t.notOk('x-forwarded-for' in (node.seen[0]?.headers ?? {}))
})

t.test('a read whose answer breaks off failed, whatever its method', async (t) => {
  const resetting = await startRawNode(t, (socket) => socket.resetAndDestroy())
  for (const method of ['GET', 'HEAD'] as const)
    t.match(await (await openApp(t, resetting.url)).app.inject({ method, url: '/camunda/x' }), {
      statusCode: 502,
      headers: { 'x-gateway-error': 'GW_UPSTREAM_FAILED' },
    })
})

t.test('a chunked body within the limit arrives completely', async (t) => {
  const node = await startNode(t)
  const { port } = await openApp(t, node.url)
  const request = http.request({ port, host: '127.0.0.1', method: 'POST', path: '/camunda/x', agent: false })
  request.write('a'.repeat(500))
  request.end('b'.repeat(500))
  const response = await new Promise<http.IncomingMessage>((resolve) => request.on('response', resolve))
  response.resume()
  await once(response, 'end')
  t.equal(node.seen[0]?.body.toString(), 'a'.repeat(500) + 'b'.repeat(500))
})

async function askPath(port: number, path: string): Promise<{ headers: http.IncomingHttpHeaders }> {
  const request = http.get({ port, host: '127.0.0.1', path, agent: false })
  const response = await new Promise<http.IncomingMessage>((resolve) => request.on('response', resolve))
  response.resume()
  await once(response, 'end')
  return { headers: response.headers }
}

t.test('an application that sees the prefix is not told that it was removed', async (t) => {
  const node = await startNode(t)
  const { app } = await openApp(t, `${node.url}/camunda/`)
  await app.inject({ url: '/camunda/x', headers: { 'x-forwarded-prefix': '/evil' } })
  t.equal(node.seen[0]?.headers['x-forwarded-prefix'], undefined)
  t.equal(node.seen[0]?.url, '/camunda/x')
})

t.test('a redirect leads back to the application, and its prefix is there once', async (t) => {
  const node = await startNode(t, ({ url }, response) => {
    response.writeHead(302, { Location: decodeURIComponent(url.slice(url.indexOf('?to=') + 4)) }).end()
  })
  const host = new URL(node.url).host
  for (const [path, location, expected] of [
    ['/camunda', '/camunda/login?a=b#c', '/camunda/login?a=b#c'],
    ['/camunda', '/camunda', '/camunda'],
    ['/camunda', '/camundax', '/camundax'],
    ['/camunda', '/other', '/other'],
    ['/camunda', `http://${host}/camunda/login`, '/camunda/login'],
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
    const { app } = await openApp(t, node.url + path)
    const { headers } = await app.inject(`/camunda/x?to=${encodeURIComponent(location)}`)
    t.equal(headers.location, expected, `${path} ${location}`)
  }
})

t.test('the longest of two paths that begin alike is the one', (t) => {
  const rewrite = createLocationRewrite('/a/b', 'http://web/a')
  t.equal(rewrite('/a/b/x'), '/a/b/b/x')
  t.equal(rewrite('/a/x'), '/a/b/x')
  t.end()
})
