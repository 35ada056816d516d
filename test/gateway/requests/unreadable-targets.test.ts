import { once } from 'node:events'
import t from 'tap'
import { authorizationOf, BASE, openGateway } from '../../support/open-gateway.ts'
import { get, head, hear, openSocket, speak, type RawAnswer } from '../../support/raw.ts'

const gateway = await openGateway(t, { listen: true })
const { origin, engine } = gateway
const JSON_TYPE = 'Content-Type: application/json'

/** Tests that the bytes get one refusal, that the connection ends, and that nothing reaches the engine. */
function refuses(claim: string, bytes: string, [status, code]: readonly [number, string]): void {
  t.test(claim, async (t) => {
    const before = engine.requests
    const answers = await speak(origin, bytes)
    t.equal(answers.length, 1)
    t.match(answers[0], { status, headers: { 'x-gateway-error': code, 'content-type': 'application/json' } })
    t.match(JSON.parse(answers[0]?.body ?? ''), { type: String, message: String, code: null })
    t.equal(engine.requests, before)
  })
}

const UNREADABLE = [400, 'GW_BAD_REQUEST'] as const
const post = (...lines: readonly string[]): string => head(`POST ${BASE}/task`, JSON_TYPE, ...lines)

refuses(
  'two framings of one body',
  `${post('Content-Length: 6', 'Transfer-Encoding: chunked')}0\r\n\r\nX`,
  UNREADABLE,
)
refuses('two lengths', `${post('Content-Length: 1', 'Content-Length: 0')}Z`, UNREADABLE)
refuses('a list of lengths', `${post('Content-Length: 2, 2')}{}`, UNREADABLE)
refuses('a length that is none', `${post('Content-Length: +2')}{}`, UNREADABLE)
refuses(
  'a coding that is not the last',
  `${post('Transfer-Encoding: chunked, identity')}0\r\n\r\n`,
  UNREADABLE,
)
refuses('a coding with a vertical tab', `${post('Transfer-Encoding: \x0bchunked')}0\r\n\r\n`, UNREADABLE)
refuses('a coding that looks like one', `${post('Transfer-Encoding: xchunked')}0\r\n\r\n`, UNREADABLE)
refuses('bare line feeds', get('/version').replaceAll('\r', ''), UNREADABLE)
refuses('a NUL in a header', get('/version').replace('gateway', 'gate\0way'), UNREADABLE)
refuses('a folded header', head(`GET ${BASE}/version`, 'X-A: a\r\n b'), UNREADABLE)
refuses('a space before the colon', head(`GET ${BASE}/version`, 'X-A : a'), UNREADABLE)
refuses(
  'a size of a chunk that is no number',
  `${post('Transfer-Encoding: chunked')}0x2\r\n{}\r\n0\r\n\r\n`,
  UNREADABLE,
)
refuses(
  'a size of a chunk that is too large a number',
  `${post('Transfer-Encoding: chunked')}${'f'.repeat(17)}\r\n`,
  UNREADABLE,
)
refuses(
  'a chunk longer than it says',
  `${post('Transfer-Encoding: chunked')}1\r\n{}\r\n0\r\n\r\n`,
  UNREADABLE,
)
refuses('raw bytes beyond ASCII in the target', get('/user/\xc3\xa9'), UNREADABLE)
refuses('a space in the target', get('/task/a b'), UNREADABLE)
refuses('what is no HTTP', 'SSH-2.0-OpenSSH_9\r\n\r\n', [501, 'GW_METHOD_UNKNOWN'])
refuses('a method that does not exist', get('/version').replace('GET', 'STEAL'), [501, 'GW_METHOD_UNKNOWN'])
refuses('a method that exists elsewhere', get('/version').replace('GET', 'PROPFIND'), [
  501,
  'GW_METHOD_UNKNOWN',
])
refuses('PURGE', get('/version').replace('GET', 'PURGE'), [501, 'GW_METHOD_UNKNOWN'])
refuses('headers of 17 KiB', head(`GET ${BASE}/version`, `X-A: ${'a'.repeat(17 * 1024)}`), [
  431,
  'GW_HEADERS_TOO_LARGE',
])
refuses('a target of 17 KiB', get(`/task/${'a'.repeat(17 * 1024)}`), [431, 'GW_HEADERS_TOO_LARGE'])

const HOST = [400, 'GW_BAD_HOST'] as const
const hosted = (...hosts: readonly string[]): string =>
  get('/version').replace('Host: gateway\r\n', hosts.map((host) => `Host: ${host}\r\n`).join(''))
refuses('no Host', hosted(), HOST)
refuses('two Hosts', hosted('gateway', 'evil'), HOST)
refuses('the same Host twice', hosted('gateway', 'gateway'), HOST)
for (const host of ['', 'a/b', 'user@a', 'a, b', 'a:b', 'a b', 'a?b', '[::1', 'ä'])
  refuses(`a Host '${host}'`, hosted(Buffer.from(host).toString('latin1')), HOST)
refuses('a request of HTTP/0.9, which names no version', `GET ${BASE}/user\r\n\r\n`, HOST)
refuses('the first bytes of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', UNREADABLE)
refuses('no Host in HTTP/1.0', hosted().replace('HTTP/1.1', 'HTTP/1.0'), HOST)
refuses(
  'chunks in HTTP/1.0',
  `${post('Transfer-Encoding: chunked').replace('HTTP/1.1', 'HTTP/1.0')}2\r\n{}\r\n0\r\n\r\n`,
  UNREADABLE,
)

const TARGET = [400, 'GW_BAD_TARGET'] as const
const at = (target: string): string => head(`GET ${target}`)
refuses('an absolute target', at(`http://evil.example${BASE}/version`), TARGET)
refuses('one with our own name', at(`http://gateway${BASE}/version`), TARGET)
refuses('an asterisk', at('*').replace('GET', 'OPTIONS'), TARGET)
refuses('dot segments', at(`${BASE}/task/../user/demo/profile`), TARGET)
refuses('encoded dot segments', at(`${BASE}/task/%2e%2E/user`), TARGET)
refuses('a fragment', at(`${BASE}/version#x`), TARGET)
refuses('a backslash', at(`${BASE}\\user`), TARGET)
refuses('our own address for refusals', at('/-refused'), TARGET)

t.test('a request with a long parameter is authenticated, and refused as any other', async (t) => {
  const long = get(`/process-instance/${'a'.repeat(14 * 1024)}`)
  const [stranger] = await speak(origin, long.replace(/Authorization: .*\r\n/, ''))
  t.equal(stranger?.status, 401)
  const [refused] = await speak(origin, long.replace('GET', 'PUT'))
  t.same([refused?.status, refused?.headers['allow']], [405, 'GET, HEAD, DELETE'])
  const [missing] = await speak(origin, long)
  t.same([missing?.status, missing?.body.slice(0, 33)], [404, '{"type":"InvalidRequestException"'])
})

t.test('TRACE of a known path gets 405', async (t) => {
  const [answer] = await speak(origin, get('/task').replace('GET', 'TRACE'))
  t.match(answer, { status: 405, headers: { allow: 'GET, HEAD, POST' } })
})

t.test('CONNECT opens no tunnel', async (t) => {
  const before = engine.requests
  for (const target of ['evil.example:80', `${BASE}/user`]) {
    const answers = await speak(origin, head(`CONNECT ${target}`))
    t.ok(
      answers.every(({ status }) => status >= 400),
      target,
    )
  }
  t.equal(engine.requests, before)
})

t.test('a protocol upgrade is ignored, and the request gets its usual response', async (t) => {
  const bytes = get('/version').replace(
    'Connection: close',
    'Connection: Upgrade, close\r\nUpgrade: websocket',
  )
  t.match(await speak(origin, bytes), [{ status: 200 }])
})

t.test('an upgrade to HTTP/2 is ignored, and its headers are not sent to the engine', async (t) => {
  const bytes = get('/version').replace(
    'Connection: close',
    'Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA',
  )
  t.match(await speak(origin, bytes), [{ status: 200 }])
  const { headers } = engine.seen.at(-1) ?? {}
  t.notOk('upgrade' in (headers ?? {}))
  t.notOk('http2-settings' in (headers ?? {}))
})

/** Returns a request for a profile that mary may not read. */
const profileAs = (method: string): string =>
  get('/user/demo/profile').replace('GET', method).replace(authorizationOf('demo'), authorizationOf('mary'))

t.test('a refusal of HEAD has the headers of the refusal of GET, and no body', async (t) => {
  const before = engine.requests
  const [[shown], [hidden, ...others]] = [
    await speak(origin, profileAs('GET')),
    await speak(origin, profileAs('HEAD')),
  ]
  t.equal(shown?.status, 404)
  t.match(hidden, { status: 404, body: '', headers: { 'content-length': `${shown?.body.length}` } })
  t.same(others, [])
  t.equal(engine.requests, before)
})

t.test('a chunked body reaches the engine with a Content-Length', async (t) => {
  const body = `${post('Transfer-Encoding: chunked')}1\r\n{\r\n1;ext=1\r\n}\r\n0\r\n\r\n`
  t.match(await speak(origin, body), [{ status: 200 }])
  const seen = engine.seen.at(-1)
  t.match(seen, { headers: { 'content-length': '2' } })
  t.same([seen?.body.toString(), seen?.headers['transfer-encoding']], ['{}', undefined])
})

t.test('a Content-Length with leading zeros is read as a decimal number and sent without them', async (t) => {
  t.match(await speak(origin, `${post('Content-Length: 0010')}{"a":1   }`), [{ status: 200 }])
  t.match(engine.seen.at(-1), { headers: { 'content-length': '10' } })
})

t.test('a request in a body is not executed', async (t) => {
  const inner = get('/user')
  const before = engine.requests
  const answers = await speak(origin, `${post(`Content-Length: ${inner.length}`)}${inner}`)
  t.match(answers, [{ status: 400, headers: { 'x-gateway-error': 'GW_BAD_JSON' } }])
  t.equal(engine.requests, before)
})

t.test('a body that was not read is not read as the next request', async (t) => {
  const inner = get('/version')
  const refused = post(`Content-Length: ${inner.length}`)
    .replace('Connection: close\r\n', '')
    .replace(authorizationOf('demo'), authorizationOf('demo', 'wrong'))
  const answers = await speak(origin, refused + inner + get('/nosuch'))
  t.same(statusesOf(answers), [401, 404])
})

t.test('an incomplete body is not sent to the engine', async (t) => {
  const before = engine.requests
  const socket = openSocket(origin)
  await once(socket, 'connect')
  socket.end(`${post('Content-Length: 100')}{"a":`)
  await hear(socket)
  t.equal(engine.requests, before)
})

/** Returns a request after which others may follow on the same connection. */
function kept(path: string): string {
  return get(path).replace('Connection: close\r\n', '')
}

t.test('an incomplete request gets 408 after its timeout', async (t) => {
  const hasty = await openGateway(t, { listen: true, settings: { timeouts: { request: '100ms' } } })
  const [answer] = await speak(hasty.origin, `${post('Content-Length: 100')}{"a":`)
  t.match(answer, { status: 408, headers: { 'x-gateway-error': 'GW_REQUEST_TIMEOUT', connection: 'close' } })
  t.equal(hasty.engine.requests, 0)
})

t.test('pipelined requests get their responses in order', async (t) => {
  const answers = await speak(
    origin,
    kept('/version') + kept('/nosuch') + kept('/task/count') + get('/engine'),
  )
  t.same(statusesOf(answers), [200, 404, 200, 200])
})

t.test('unreadable bytes during a response do not change that response', async (t) => {
  const large = 'x'.repeat(1024 ** 2)
  const slow = await openGateway(t, {
    listen: true,
    engine: (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': 2 * large.length })
      response.write(large)
      setTimeout(() => response.end(large), 50)
    },
  })
  const socket = openSocket(slow.origin)
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.write(kept('/version'))
  await once(socket, 'data')
  socket.write('GARBAGE\r\n\r\n')
  await once(socket, 'close')
  t.notMatch(Buffer.concat(chunks).toString('latin1'), /GW_|HTTP\/1\.1 [45]/)
})

t.test('refusals of unreadable bytes are counted', async (t) => {
  t.match(
    await gateway.dependencies.metrics.text(),
    /gateway_refusals_total\{engine="",operation="",stage="canonical",reason="GW_BAD_REQUEST"\} \d+/,
  )
})

function statusesOf(answers: readonly RawAnswer[]): number[] {
  return answers.map(({ status }) => status)
}
