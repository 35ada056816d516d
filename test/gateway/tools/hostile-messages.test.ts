import t, { type Test } from 'tap'
import { GatewayError } from '../../../src/errors.ts'
import { idsOf } from '../../sandbox/asks.ts'
import { authorizationOf, type GatewayOptions, openGateway } from '../../support/open-gateway.ts'

const ACCEPT = 'application/json, text/event-stream'

interface SentMessage {
  readonly user?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
  readonly path?: string
}

/** Opens a gateway with tools. `send` sends bytes or a message to it, and returns what the engine has received. */
async function openTools(t: Test, { settings = {}, ...options }: GatewayOptions = {}) {
  const gateway = await openGateway(t, {
    ...options,
    settings: { mcp: { tools: 'all' }, ...settings },
    listen: true,
  })
  const send = async (
    body: unknown,
    { user = 'demo', headers = {}, method = 'POST', path = '/mcp' }: SentMessage = {},
  ) => {
    const before = gateway.engine.requests
    const response = await fetch(gateway.origin + path, {
      method,
      headers: {
        ...(user === null ? {} : { authorization: authorizationOf(user) }),
        accept: ACCEPT,
        'content-type': 'application/json',
        ...headers,
      },
      ...(method === 'GET' ? {} : { body: bytesOf(body) }),
    })
    const text = await response.text()
    const count = gateway.engine.requests - before
    const forwarded = count === 0 ? [] : gateway.engine.seen.slice(-count)
    return { status: response.status, headers: Object.fromEntries(response.headers), text, forwarded }
  }
  const call = (name: string, args: unknown, sent: SentMessage = {}) => send(callOf(name, args), sent)
  return { ...gateway, send, call }
}

function bytesOf(body: unknown): Uint8Array<ArrayBuffer> {
  return Buffer.from(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body))
}

function callOf(name: string, args: unknown): object {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
}

t.test('without valid credentials nothing is served, for known and unknown engines', async (t) => {
  const { send } = await openTools(t)
  for (const path of ['/mcp', '/mcp/engine/second', '/mcp/engine/none'])
    for (const sent of [{ user: null }, { headers: { authorization: authorizationOf('demo', 'wrong') } }]) {
      const answer = await send(callOf('getTasks', {}), { ...sent, path })
      t.match(answer, { status: 401, headers: { 'www-authenticate': /^Basic/ }, forwarded: [] })
    }
  t.match(await send(callOf('getTasks', {}), { path: '/mcp/engine/none' }), { status: 404, forwarded: [] })
})

t.test('pages may not use tools, also not through another name of this address', async (t) => {
  const { send, origin } = await openTools(t, {
    settings: { listen: { port: 0, allowedOrigins: ['https://app.example'] } },
  })
  const { host } = new URL(origin)
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    // A name that the attacker has pointed to this address: origin and host are equal.
    { origin: `http://${host}`, 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'cross-site' },
    // Browsers add no origin to a GET of a page to its own host, and no site at an address without TLS.
    { 'sec-fetch-site': 'same-origin' },
    { referer: `http://${host}/page` },
    { referer: 'https://evil.example/' },
    { referer: 'none', 'sec-fetch-site': 'same-origin' },
  ])
    for (const method of ['POST', 'GET', 'DELETE']) {
      const answer = await send(callOf('getTasks', {}), { headers, method })
      t.match(answer, { status: 403, headers: { 'x-gateway-error': 'GW_FOREIGN_ORIGIN' }, forwarded: [] })
    }
  t.equal((await send(callOf('getTasks', {}), { headers: { origin: 'https://app.example' } })).status, 200)
})

t.test('a page of the public address may use tools, also with a GET without an origin', async (t) => {
  const { send } = await openTools(t, {
    settings: { listen: { port: 0, publicUrl: 'https://gateway.example' } },
  })
  // A GET that accepts no stream passes the check of the page, and then gets 405.
  const read = (headers: Readonly<Record<string, string>>) =>
    send(null, { method: 'GET', headers: { accept: 'application/json', ...headers } })
  for (const headers of [
    { origin: 'https://gateway.example' },
    { referer: 'https://gateway.example/page' },
    // The user has entered the address.
    { 'sec-fetch-site': 'none' },
  ])
    t.match(await read(headers), { status: 405, forwarded: [] })
  t.match(await read({ referer: 'https://gateway.example.evil/' }), { status: 403, forwarded: [] })
})

t.test('a message in another coding or charset is refused, and a byte order mark is skipped', async (t) => {
  const { send } = await openTools(t)
  const message = JSON.stringify(callOf('getTasks', {}))
  for (const headers of [
    { 'content-encoding': 'gzip' },
    { 'content-encoding': 'identity, br' },
    { 'content-type': 'application/json; charset=utf-16' },
  ])
    t.match(await send(message, { headers }), {
      status: 415,
      headers: { 'x-gateway-error': 'GW_UNSUPPORTED_MEDIA' },
      forwarded: [],
    })
  for (const headers of [
    {},
    { 'content-encoding': 'identity' },
    { 'content-type': 'application/json; charset=utf-8' },
  ])
    t.match(await send(`\uFEFF${message}`, { headers }), { status: 200 })
  t.match(await send(`\uFEFF\uFEFF${message}`), { status: 400, forwarded: [] })
})

t.test('a body that is not one JSON message is refused', async (t) => {
  const { send } = await openTools(t, { settings: { limits: { body: '4KiB' } } })
  const one = callOf('getTasks', {})
  const cases: readonly (readonly [body: string | Buffer, status: number])[] = [
    [JSON.stringify([one, one]), 400],
    ['', 400],
    ['null', 400],
    ['"x"', 400],
    ['{', 400],
    [`{"id":1,${JSON.stringify(one).slice(1)}`, 400],
    [JSON.stringify(one).replace('"arguments":{}', '"arguments":{"__proto__":{"assignee":"a"}}'), 400],
    [Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]), 400],
    [JSON.stringify({ ...one, pad: 'x'.repeat(5000) }), 413],
  ]
  for (const [body, status] of cases)
    t.match(await send(body), { status, forwarded: [] }, String(body).slice(0, 80))
})

t.test('a long message is refused if there is no memory for it', async (t) => {
  const reserved: number[] = []
  const { send } = await openTools(t, {
    wrap: (dependencies) => ({
      ...dependencies,
      pressure: {
        ...dependencies.pressure,
        reserve: (bytes) => {
          reserved.push(bytes)
          return new GatewayError('GW_OVERLOADED', { retryAfterSeconds: 2 })
        },
      },
    }),
  })
  t.match(await send({ ...callOf('getTasks', {}), pad: 'x'.repeat(100_000) }), {
    status: 503,
    headers: { 'x-gateway-error': 'GW_OVERLOADED' },
    forwarded: [],
  })
  t.match(reserved, [Number])
  t.equal((await send(callOf('getTasks', {}))).status, 200)
})

t.test('another media type or method is refused before the body is read', async (t) => {
  const { send } = await openTools(t)
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=a',
    'text/json',
  ])
    t.match(await send(callOf('getTasks', {}), { headers: { 'content-type': type } }), {
      status: 415,
      forwarded: [],
    })
  for (const method of ['PUT', 'PATCH', 'DELETE'])
    t.match(await send(callOf('getTasks', {}), { method }), {
      status: 405,
      headers: { allow: /POST/ },
      forwarded: [],
    })
})

t.test('hostile ids have the same result as at the API, and never another path', async (t) => {
  const { call, ask } = await openTools(t)
  for (const id of [
    'a/b',
    '../authorization',
    '..%2f..%2fuser',
    '%2e%2e',
    'a\u0000b',
    'a\r\nX-Evil: 1',
    'a?b=c',
    'a#b',
    'a;b=c',
    'a\\b',
    '\u202e',
    'x'.repeat(3000),
  ]) {
    const answer = await call('getTask', { id })
    const api = await ask('demo', `GET /task/${encodeURIComponent(id)}`)
    t.equal(answer.status, 200)
    t.match(answer.text, new RegExp(`HTTP ${api.status} `), JSON.stringify(id))
    t.same(
      answer.forwarded.map(({ method, url }) => `${method} ${url}`),
      api.forwarded.map(({ method, url }) => `${method} ${url}`),
      JSON.stringify(id),
    )
  }
})

t.test('wrong arguments and names of tools reach no engine', async (t) => {
  const { call, send } = await openTools(t, { settings: { mcp: {} } })
  for (const args of [
    {},
    { id: '..' },
    { id: '' },
    { id: null },
    { id: ['a'] },
    { id: 'a', x: 1 },
    { id: 'x'.repeat(20_000) },
    [],
    'a',
  ])
    t.match(await call('getTask', args), { status: 200, text: /isError|error/, forwarded: [] })
  for (const name of [
    'createUser',
    'deleteDeployment',
    'none',
    '__proto__',
    'constructor',
    'GETTASK',
    'getTask\u0000',
    'x'.repeat(3000),
    '',
  ])
    t.match(await call(name, { id: 'a' }), { text: /There is no tool/, forwarded: [] }, name.slice(0, 20))
  for (const params of [undefined, null, [], {}, { name: 1 }, { name: { a: 1 } }])
    t.match(await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }), {
      text: /error/,
      forwarded: [],
    })
})

t.test('no header of a client reaches the engine or claims to be a tool', async (t) => {
  const { call, ask, engine, log } = await openTools(t)
  const [id] = await idsOf(engine.base, '/task')
  const headers = {
    'x-evil': '1',
    via: 'mcp',
    'mcp-name': 'getTask',
    'mcp-session-id': 'a',
    cookie: 'a=b',
    'x-tool': 'claim',
    'idempotency-key': 'k',
  }
  const answer = await call(
    'claim',
    { id, body: { userId: 'demo' } },
    { headers: { 'x-evil': '1', cookie: 'a=b' } },
  )
  const sent = answer.forwarded.find(({ method, url }) => method === 'POST' && url.endsWith('/claim'))
  t.same(
    ['x-evil', 'cookie', 'authorization', 'mcp-name'].filter((name) => sent?.headers[name] !== undefined),
    [],
  )
  delete (headers as Partial<typeof headers>)['idempotency-key']
  await ask('demo', `POST /task/${id}/unclaim`, { headers })
  const audits = log.filter((line) => line['outcome'] !== undefined || line['decision'] !== undefined)
  t.match(
    audits.filter(({ operation }) => operation === 'claim'),
    [{ via: 'mcp', tool: 'claim' }],
  )
  t.match(
    audits.filter(({ operation }) => operation === 'unclaim').map(({ via, tool }) => ({ via, tool })),
    [{ via: undefined, tool: undefined }],
  )
})

t.test('every message counts for the rate of its user', async (t) => {
  const rate = { limits: { pressure: { eventLoopDelay: null }, rate: { requests: 3, per: '1h' } } }
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
  const notification = { ...callOf('getTasks', {}), id: undefined }
  for (const message of [
    list,
    callOf('none', {}),
    callOf('getTask', {}),
    notification,
    callOf('getTasks', {}),
  ]) {
    const { send } = await openTools(t, { settings: rate })
    const answers = []
    for (let count = 0; count < 4; count += 1) answers.push(await send(message))
    t.match(`${answers.at(3)?.status} ${answers.at(3)?.text}`, /429/, JSON.stringify(message))
    t.notMatch(`${answers.at(2)?.status} ${answers.at(2)?.text}`, /429/, JSON.stringify(message))
  }
})
