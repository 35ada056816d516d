import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect } from 'node:tls'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { operatorText, GatewayError, jsonRefusalOf } from '../../src/errors.ts'
import type { Authenticator } from '../../src/policy/authn/authenticate.ts'
import { AFFINITY_COOKIE, createAffinity } from '../../src/proxy/passthrough/affinity.ts'
import { writeCertificates } from '../support/certificates.ts'
import { authorizationOf, openGateway, type OpenGateway } from '../support/open-gateway.ts'
import { nextBytes, openSocket } from '../support/raw.ts'
import {
  ACCEPT,
  acceptance,
  echoBytes,
  handshake,
  KEY,
  startWebSocketNode,
} from '../support/web-socket-node.ts'

interface Setup {
  readonly application?: Readonly<Record<string, unknown>>
  readonly webSockets?: Readonly<Record<string, unknown>>
  readonly settings?: Readonly<Record<string, unknown>>
}

/** Opens a gateway with an application at `/app`, which has one or several nodes and WebSockets. */
function openApp(
  t: Test,
  nodes: readonly string[],
  { application = {}, webSockets = {}, settings = {} }: Setup = {},
): Promise<OpenGateway> {
  return openGateway(t, {
    listen: true,
    engine: (_request, response) => response.end('[]'),
    settings: {
      passthrough: [{ prefix: '/app', nodes, websocket: true, ...application }],
      limits: { webSockets, pressure: { eventLoopDelay: null } },
      timeouts: { connect: '500ms', headers: '5s', body: '5s', drain: '2s' },
      health: { probe: false },
      ...settings,
    },
  })
}

/** Sends a handshake. Returns the socket, and the head of the response. */
async function connectTo(
  t: Test,
  origin: string,
  request = handshake('/app/socket'),
): Promise<{ readonly socket: Socket; readonly response: string }> {
  const socket = openSocket(origin)
  t.teardown(() => socket.destroy())
  socket.write(request)
  return { socket, response: await nextBytes(socket) }
}

function statusOf(response: string): number {
  return Number(response.split(' ')[1])
}

/** Returns the value of a metric with these labels, or undefined. */
async function metricOf(
  { dependencies }: OpenGateway,
  name: string,
  labels = '',
): Promise<string | undefined> {
  const lines = (await dependencies.metrics.text()).split('\n')
  return lines
    .find((line) => line.startsWith(`${name}{`) && line.includes(labels))
    ?.split(' ')
    .at(-1)
}

async function waitUntil(isTrue: () => boolean): Promise<void> {
  const endMs = performance.now() + 5000
  while (!isTrue()) {
    if (performance.now() > endMs) throw new Error(`not in time: ${isTrue.toString()}`)
    await wait(5)
  }
}

const webSocketsOf = ({ dependencies }: OpenGateway) => dependencies.applications[0]?.webSockets

t.test('a WebSocket client exchanges messages with the application', async (t) => {
  const node = await startWebSocketNode(t)
  const { origin } = await openApp(t, [node.url])
  const options = { headers: { authorization: authorizationOf('demo') } }
  // @ts-expect-error -- the types of browsers do not have the headers that Node.js accepts
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/app/socket`, options)
  await once(socket, 'open')
  const answers: unknown[] = []
  socket.addEventListener('message', ({ data }) => answers.push(data))
  for (const text of ['one', 'two', 'three']) socket.send(text)
  await waitUntil(() => answers.length === 3)
  t.same(answers, ['one', 'two', 'three'])
  const closed = once(socket, 'close')
  node.sockets[0]?.end()
  await closed
})

t.test('an application gets the handshake and no credentials', async (t) => {
  const node = await startWebSocketNode(t)
  const { origin } = await openApp(t, [node.url])
  const request = handshake(
    '/app/socket?a=b',
    'Cookie: JSESSIONID=1',
    'X-Forwarded-For: 1.2.3.4',
    'Sec-WebSocket-Protocol: chat, mail',
    'Sec-WebSocket-Other: 1',
  )
  t.equal(statusOf((await connectTo(t, origin, request)).response), 101)
  t.equal(node.handshakes[0]?.url, '/socket?a=b')
  const { 'x-request-id': _, ...headers } = node.handshakes[0]?.headers ?? {}
  t.same(headers, {
    host: new URL(node.url).host,
    connection: 'upgrade',
    upgrade: 'websocket',
    cookie: 'JSESSIONID=1',
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-host': 'gateway',
    'x-forwarded-proto': 'http',
    'x-forwarded-prefix': '/app',
    'sec-websocket-key': KEY,
    'sec-websocket-protocol': 'chat, mail',
    'sec-websocket-version': '13',
  })
})

t.test('a client gets only the handshake, cookies and the own headers of the gateway', async (t) => {
  const node = await startWebSocketNode(t, (socket) => {
    const lines = ['Sec-WebSocket-Protocol: mail', 'Set-Cookie: a=1; Path=/', 'X-Other: 1', 'Server: s']
    return socket.write(acceptance(ACCEPT, ...lines))
  })
  const { origin } = await openApp(t, [node.url])
  const { response } = await connectTo(t, origin, handshake('/app', 'Sec-WebSocket-Protocol: chat, mail'))
  t.match(response, `sec-websocket-accept: ${ACCEPT}\r\n`)
  const names = response
    .trim()
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(':')[0]?.toLowerCase())
  t.same(
    names.toSorted((one = '', other = '') => one.localeCompare(other)),
    [
      'connection',
      'date',
      'sec-websocket-accept',
      'sec-websocket-protocol',
      'set-cookie',
      'upgrade',
      'via',
      'x-request-id',
    ],
  )
  t.match(response, 'a=1; Path=/app')
})

t.test(
  'without credentials, with wrong ones or from another origin, no handshake reaches the application',
  async (t) => {
    const node = await startWebSocketNode(t)
    const gateway = await openApp(t, [node.url], {
      settings: { listen: { port: 0, allowedOrigins: ['https://ok.example'] } },
    })
    const { origin } = gateway
    const cases: readonly [string, number][] = [
      [handshake('/app').replace(/Authorization: .*\r\n/, ''), 401],
      [
        handshake('/app').replace(
          /Authorization: .*\r\n/,
          `Authorization: ${authorizationOf('demo', 'x')}\r\n`,
        ),
        401,
      ],
      [handshake('/app', 'Origin: https://evil.example'), 403],
      [handshake('/app', 'Origin: null'), 403],
      [handshake('/app', 'Sec-Fetch-Site: cross-site'), 403],
    ]
    for (const [request, status] of cases) {
      const { socket, response } = await connectTo(t, origin, request)
      t.equal(statusOf(response), status)
      if (!socket.closed) await once(socket, 'close')
    }
    t.equal(node.handshakes.length, 0)
    t.equal(await metricOf(gateway, 'gateway_websockets_refused_total', 'reason="origin"'), '3')
    for (const own of ['Origin: http://gateway', 'Origin: https://ok.example'])
      t.equal(statusOf((await connectTo(t, origin, handshake('/app', own))).response), 101)
  },
)

t.test('origins of the section cors may not open WebSockets', async (t) => {
  const node = await startWebSocketNode(t)
  const { origin } = await openApp(t, [node.url], {
    settings: { cors: { origins: ['https://page.example'] } },
  })
  const { response } = await connectTo(t, origin, handshake('/app', 'Origin: https://page.example'))
  t.equal(statusOf(response), 403)
  t.equal(node.handshakes.length, 0)
})

t.test('without the setting, a handshake is a plain request', async (t) => {
  const node = await startWebSocketNode(t)
  const { origin } = await openApp(t, [node.url], { application: { websocket: false } })
  t.match(await connectTo(t, origin), { response: /^HTTP\/1.1 200 OK/ })
  t.equal(node.handshakes.length, 0)
  for (const name of ['connection', 'sec-websocket-key'])
    t.not(node.requests[0]?.headers[name], name === 'connection' ? 'upgrade' : KEY)
})

t.test('a request that is not a complete handshake is a plain request', async (t) => {
  const node = await startWebSocketNode(t)
  const { origin } = await openApp(t, [node.url])
  for (const request of [
    handshake('/app').replace(KEY, 'short'),
    handshake('/app').replace('Version: 13', 'Version: 8'),
    handshake('/app').replace('Upgrade: websocket', 'Upgrade: h2c'),
    handshake('/app', 'Content-Length: 0'),
    handshake('/app').replace('keep-alive, Upgrade', 'Upgrade, Sec-WebSocket-Key'),
    handshake('/app', `Sec-WebSocket-Key: ${KEY}`),
  ])
    t.equal(statusOf((await connectTo(t, origin, request)).response), 200, request)
  t.equal(node.handshakes.length, 0)
})

t.test(
  'a handshake behind a request without a response on the same connection is a plain request',
  async (t) => {
    const node = await startWebSocketNode(t)
    const { origin } = await openApp(t, [node.url])
    const socket = openSocket(origin)
    t.teardown(() => socket.destroy())
    const first = handshake('/app').replace(/(?:Connection|Upgrade|Sec-).*\r\n/g, '')
    socket.write(first + handshake('/app'))
    await waitUntil(() => node.requests.length === 2)
    t.equal(node.handshakes.length, 0)
  },
)

const INVALID: Readonly<Record<string, string>> = {
  'another key': acceptance('x3pPLMBiTxaQ9kYGzzhZRbK+xOo='),
  'another protocol': acceptance(ACCEPT, 'Sec-WebSocket-Protocol: other'),
  'an extension that was not offered': acceptance(ACCEPT, 'Sec-WebSocket-Extensions: permessage-deflate'),
  'two values of accept': acceptance(ACCEPT, `Sec-WebSocket-Accept: ${ACCEPT}`),
  'another protocol in Upgrade': acceptance(ACCEPT).replace('Upgrade: websocket', 'Upgrade: h2c'),
}

for (const [name, response] of Object.entries(INVALID))
  t.test(`a client gets 502 if the application responds with ${name}`, async (t) => {
    let isClosed = false
    const node = await startWebSocketNode(t, (socket) => {
      socket.resume().on('end', () => (isClosed = true))
      return socket.write(response)
    })
    const gateway = await openApp(t, [node.url])
    t.equal(statusOf((await connectTo(t, gateway.origin)).response), 502)
    await waitUntil(() => isClosed)
    t.equal(await metricOf(gateway, 'gateway_websockets_refused_total', 'reason="invalid"'), '1')
  })

t.test('a response other than 101 is relayed, and ends the connection', async (t) => {
  const body = 'x'.repeat(3_000_000)
  const node = await startWebSocketNode(t, (socket) => {
    socket.end(
      `HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    )
    return true
  })
  const { origin } = await openApp(t, [node.url])
  const socket = openSocket(origin)
  socket.write(handshake('/app'))
  let bytes = 0
  socket.on('data', (chunk) => (bytes += chunk.length))
  await once(socket, 'close')
  t.ok(bytes > body.length)
})

t.test('a handshake that opens no socket frees its place', async (t) => {
  const responses = [
    'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n',
    acceptance('x3pPLMBiTxaQ9kYGzzhZRbK+xOo='),
    // A handshake that fails is sent once more.
    'no HTTP\r\n\r\n',
    'no HTTP\r\n\r\n',
  ]
  const node = await startWebSocketNode(t, (socket) => {
    const response = responses.shift()
    if (response !== undefined) socket.end(response)
    return response !== undefined
  })
  const { origin } = await openApp(t, [node.url], { webSockets: { open: 1 } })
  for (const status of [404, 502, 502, 101]) t.equal(statusOf((await connectTo(t, origin)).response), status)
})

t.test('a client that disconnects during its handshake frees its place', async (t) => {
  let isAnswering = false
  const node = await startWebSocketNode(t, () => !isAnswering)
  const gateway = await openApp(t, [node.url], { webSockets: { open: 1 } })
  const socket = openSocket(gateway.origin)
  socket.write(handshake('/app'))
  await waitUntil(() => node.handshakes.length === 1)
  t.equal(statusOf((await connectTo(t, gateway.origin)).response), 503)
  socket.resetAndDestroy()
  await waitUntil(() => gateway.log.some(({ status }) => status === 499))
  isAnswering = true
  t.equal(statusOf((await connectTo(t, gateway.origin)).response), 101)
})

t.test('a handshake that is accepted during a drain opens no socket', async (t) => {
  const waiting: Duplex[] = []
  const node = await startWebSocketNode(t, (socket) => waiting.push(socket) > 0)
  const gateway = await openApp(t, [node.url])
  const connected = connectTo(t, gateway.origin)
  await waitUntil(() => waiting.length === 1)
  webSocketsOf(gateway)?.drain(0)
  waiting[0]?.resume().write(acceptance(ACCEPT))
  t.equal(statusOf((await connected).response), 503)
  if (waiting[0]?.closed === false) await once(waiting[0], 'close')
  t.equal(await metricOf(gateway, 'gateway_websockets_refused_total', 'reason="draining"'), '1')
})

t.test('bytes pass in both directions as fast as the slower side reads', async (t) => {
  const node = await startWebSocketNode(t, undefined, echoBytes)
  const { origin } = await openApp(t, [node.url])
  const { socket } = await connectTo(t, origin)
  const total = 8_000_000
  let read = 0
  socket.pause()
  socket.write(Buffer.alloc(total, 1))
  socket.on('data', (chunk: Buffer) => (read += chunk.length))
  socket.resume()
  await waitUntil(() => read >= total)
  t.equal(read, total)
})

t.test('sockets are limited for each user and each application', async (t) => {
  const node = await startWebSocketNode(t)
  const gateway = await openApp(t, [node.url], { webSockets: { open: 3, perUser: 2 } })
  const { origin } = gateway
  const mary = handshake('/app').replace(authorizationOf('demo'), authorizationOf('mary'))
  const first = await connectTo(t, origin)
  t.equal(statusOf((await connectTo(t, origin)).response), 101)
  t.equal(statusOf((await connectTo(t, origin)).response), 429)
  t.equal(statusOf((await connectTo(t, origin, mary)).response), 101)
  t.equal(statusOf((await connectTo(t, origin, mary)).response), 503)
  first.socket.destroy()
  await waitUntil(() => webSocketsOf(gateway)?.size === 2)
  t.equal(statusOf((await connectTo(t, origin)).response), 101)
  t.equal(node.handshakes.length, 4)
})

t.test('an ended socket has an access line with its duration and bytes', async (t) => {
  const node = await startWebSocketNode(t, undefined, echoBytes)
  const gateway = await openApp(t, [node.url])
  const { socket } = await connectTo(t, gateway.origin)
  socket.write('12345')
  await nextBytes(socket)
  socket.destroy()
  await waitUntil(() => gateway.log.some(({ status }) => status === 101))
  const line = gateway.log.find(({ status }) => status === 101)
  t.match(line, {
    method: 'GET',
    prefix: '/app',
    path: '/app/socket',
    user: 'demo',
    node: node.url,
    bytes: 5,
  })
  t.notOk(line?.['error'])
  await waitUntil(() => webSocketsOf(gateway)?.size === 0)
  t.equal(await metricOf(gateway, 'gateway_websockets_ended_total', 'reason="peer"'), '1')
})

t.test('a socket is closed if its application closes it', async (t) => {
  const node = await startWebSocketNode(t)
  const { origin } = await openApp(t, [node.url])
  const { socket } = await connectTo(t, origin)
  node.sockets[0]?.end()
  await once(socket, 'close')
})

t.test('a socket without bytes is closed', async (t) => {
  const node = await startWebSocketNode(t)
  const gateway = await openApp(t, [node.url], { webSockets: { idle: '1s' } })
  const { socket } = await connectTo(t, gateway.origin)
  socket.resume()
  await once(socket, 'close')
  await waitUntil(() => webSocketsOf(gateway)?.size === 0)
  t.equal(await metricOf(gateway, 'gateway_websockets_ended_total', 'reason="idle"'), '1')
})

/** Opens a socket whose user is authenticated with `authenticate` again, and checks it. */
async function checkUser(t: Test, authenticate: Authenticator['authenticate'], auth = 'gateway') {
  const node = await startWebSocketNode(t)
  let isOpen = false
  const gateway = await openGateway(t, {
    listen: true,
    engine: (_request, response) => response.end('[]'),
    settings: {
      passthrough: [{ prefix: '/app', nodes: [node.url], websocket: true, auth }],
      limits: { ceilings: [{ groups: ['limited'], ceiling: 'safe' }], pressure: { eventLoopDelay: null } },
    },
    wrap: (dependencies) => ({
      ...dependencies,
      engines: new Map(
        [...dependencies.engines].map(([name, engine]) => {
          const { authenticator } = engine
          const checked: Authenticator = {
            ...authenticator,
            isCurrent: () => false,
            authenticate: (...of) => (isOpen ? authenticate(...of) : authenticator.authenticate(...of)),
          }
          return [name, { ...engine, authenticator: checked }]
        }),
      ),
    }),
  })
  const { socket } = await connectTo(t, gateway.origin)
  isOpen = true
  socket.resume()
  webSocketsOf(gateway)?.check()
  await wait(20)
  return { gateway, socket }
}

const userOf = (userId: string) => ({ userId, groups: [], tenants: [] })
const REFUSED: Readonly<Record<string, Authenticator['authenticate']>> = {
  'the user has gone': () =>
    Promise.reject(jsonRefusalOf(401, { type: 'x', message: 'x', code: null }, operatorText`x`)),
  'the token has expired': () => Promise.reject(new GatewayError('GW_TOKEN_INVALID')),
  'the credentials belong to another user': () => userOf('mary'),
  'the user has a ceiling': () => ({ ...userOf('demo'), groups: ['limited'] }),
}
for (const [name, authenticate] of Object.entries(REFUSED))
  t.test(`a socket is closed if ${name}`, async (t) => {
    const { gateway, socket } = await checkUser(t, authenticate)
    if (!socket.closed) await once(socket, 'close')
    await waitUntil(() => webSocketsOf(gateway)?.size === 0)
    t.equal(await metricOf(gateway, 'gateway_websockets_ended_total', 'reason="revoked"'), '1')
  })

const KEPT: Readonly<Record<string, Authenticator['authenticate']>> = {
  'the user is permitted': () => userOf('demo'),
  'the users cannot be read now': () => Promise.reject(new GatewayError('GW_RECORDS_UNAVAILABLE')),
  'too many attempts wait': () => Promise.reject(new GatewayError('GW_THROTTLED')),
}
for (const [name, authenticate] of Object.entries(KEPT))
  t.test(`a socket stays open if ${name}`, async (t) => {
    const { gateway } = await checkUser(t, authenticate)
    t.equal(webSocketsOf(gateway)?.size, 1)
  })

t.test('a socket of an application with its own login is not checked', async (t) => {
  const { gateway } = await checkUser(t, () => Promise.reject(new GatewayError('GW_TOKEN_INVALID')), 'none')
  t.equal(webSocketsOf(gateway)?.size, 1)
})

t.test('in a drain, sockets are closed and handshakes are refused', async (t) => {
  const node = await startWebSocketNode(t)
  const gateway = await openApp(t, [node.url])
  const { socket } = await connectTo(t, gateway.origin)
  webSocketsOf(gateway)?.drain(0)
  t.equal(statusOf((await connectTo(t, gateway.origin)).response), 503)
  socket.resume()
  if (!socket.closed) await once(socket, 'close')
  await waitUntil(() => webSocketsOf(gateway)?.size === 0)
  t.equal(await metricOf(gateway, 'gateway_websockets_ended_total', 'reason="drain"'), '1')
  t.equal(node.handshakes.length, 1)
})

t.test('nodes and clients may use TLS', async (t) => {
  const files = writeCertificates(t)
  const [cert, key] = [readFileSync(files['server.crt']), readFileSync(files['server.key'])]
  const node = await startWebSocketNode(t, undefined, echoBytes, { cert, key })
  const { origin } = await openApp(t, [node.url], {
    application: { tls: { ca: files['ca.crt'] } },
    settings: { listen: { port: 0, tls: { cert: files['server.crt'], key: files['server.key'] } } },
  })
  const socket = connect({
    port: Number(new URL(origin).port),
    host: '127.0.0.1',
    servername: 'localhost',
    ca: readFileSync(files['ca.crt']),
  })
  t.teardown(() => socket.destroy())
  socket.write(handshake('/app'))
  t.match(await nextBytes(socket), /^HTTP\/1.1 101 /)
  socket.write('12345')
  t.equal(await nextBytes(socket), '12345')
  node.sockets[0]?.end()
  await once(socket, 'close')
})

t.test('a socket of a session leads to the node of the session', async (t) => {
  const nodes = await Promise.all([startWebSocketNode(t), startWebSocketNode(t)])
  const { origin } = await openApp(
    t,
    nodes.map(({ url }) => url),
  )
  const first = await connectTo(t, origin, handshake('/app', 'Cookie: engine-gateway-node=unknown'))
  t.equal(statusOf(first.response), 101)
  const affinity = createAffinity(
    '/app',
    nodes.map(({ url }) => url),
  )
  for (const node of nodes) {
    const { 'set-cookie': cookies } = affinity.remember(
      { 'set-cookie': 'a=1' },
      { node: node.url, wanted: null, isSecure: false },
    )
    const cookie = [cookies ?? []]
      .flat()
      .find((one) => one.startsWith(AFFINITY_COOKIE))
      ?.split(';')[0]
    const before = node.handshakes.length
    for (let count = 0; count < 3; count += 1)
      await connectTo(t, origin, handshake('/app', `Cookie: ${cookie}`))
    t.equal(node.handshakes.length, before + 3)
  }
})
