import t from 'tap'
import {
  assertNoRedirect,
  clientHeaders,
  joinedVary,
  lengthOf,
  upstreamHeaders,
} from '../../../src/proxy/wire/headers.ts'

const OF_APPLICATION = { names: 'all', restrictsContent: false } as const
const NONE = { credentials: 'none', host: 'client' } as const

t.test('headers that the engine needs are forwarded', (t) => {
  const raw = [
    'Host',
    'h:1',
    'ACCEPT',
    'a/b',
    'Content-Type',
    'c/d',
    'If-None-Match',
    '"x"',
    'traceparent',
    '00-1',
    'Priority',
    'u=1',
    'Pragma',
    'p',
  ]
  t.same(upstreamHeaders(raw, NONE), {
    host: 'h:1',
    accept: 'a/b',
    'content-type': 'c/d',
    'if-none-match': '"x"',
    traceparent: '00-1',
  })
  t.end()
})

const WITHHELD = [
  'Connection',
  'Keep-Alive',
  'Proxy-Connection',
  'Proxy-Authorization',
  'Proxy-Anything',
  'TE',
  'Trailer',
  'Transfer-Encoding',
  'Upgrade',
  'HTTP2-Settings',
  'Expect',
  'Content-Length',
  'Authorization',
  'Cookie',
  'Context-User-ID',
  'X-Authorized-User',
  'X-Authorized-Groups',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Prefix',
  'X-Forwarded',
  'Forwarded',
  'X-Real-IP',
  'X-HTTP-Method-Override',
  'X-HTTP-Method',
  'X-Method-Override',
  'X-Original-URL',
  'X-Rewrite-URL',
  'X-Original-Host',
  'Content_Type',
  '__proto__',
]
for (const name of WITHHELD) {
  t.test(`${name} is withheld in any letter case`, (t) => {
    for (const spelt of [name, name.toLowerCase(), name.toUpperCase()])
      t.same(upstreamHeaders([spelt, 'x'], NONE), {})
    t.end()
  })
}

t.test('headers that Connection names are withheld, even if named twice or later', (t) => {
  const policy = { ...NONE, requestHeaders: new Set(['x-a', 'x-b', 'x-c']) }
  const raw = ['X-A', '1', 'Connection', 'close, x-a', 'X-B', '2', 'connection', 'X-b ,', 'X-C', '3']
  t.same(upstreamHeaders(raw, policy), { 'x-c': '3' })
  t.end()
})

t.test('Connection cannot remove headers that decide how a message is read', (t) => {
  const names =
    'Host, Content-Type, accept, Authorization, If-None-Match, Content-Encoding, User-Agent, X-Request-Id, X-A'
  const said = { host: 'h', 'content-type': 'c/d', accept: 'a/b', authorization: 'Basic x' }
  const more = {
    'if-none-match': '"x"',
    'content-encoding': 'identity',
    'user-agent': 'u',
    'x-request-id': 'r',
  }
  const raw = Object.entries({ Connection: names, ...said, ...more, 'X-A': '1' }).flat()
  t.same(upstreamHeaders(raw, { credentials: 'forward', host: 'client' }), { ...said, ...more })
  const { authorization: _, ...others } = said
  t.same(upstreamHeaders(raw, NONE), { ...others, ...more }, 'credentials stay here all the same')
  const answered = {
    'content-type': 'application/json',
    'content-disposition': 'inline',
    'cache-control': 'private',
    vary: 'accept',
    etag: '"x"',
  }
  const connection = 'Content-Type, Content-Disposition, Content-Length, Cache-Control, Vary, ETag, X-A'
  t.same(clientHeaders({ ...answered, connection, 'x-a': '1', 'content-length': '2' }), {
    ...answered,
    'content-length': '2',
  })
  t.end()
})

t.test('each policy forwards exactly the headers that it names', (t) => {
  const raw = ['Host', 'h', 'Authorization', 'Basic x', 'Cookie', 'a=1', 'Cookie', 'b=2']
  t.same(upstreamHeaders(raw, { credentials: 'forward', host: 'client' }), {
    host: 'h',
    authorization: 'Basic x',
  })
  t.same(upstreamHeaders(raw, { credentials: { username: 'u', password: 'p' }, host: 'node' }), {})
  t.same(upstreamHeaders(raw, { credentials: 'none', host: 'node', cookies: true }), { cookie: 'a=1; b=2' })
  t.end()
})

t.test('repeated list headers are joined, and of other repeated headers the first counts', (t) => {
  const raw = [
    'Accept',
    'a',
    'accept',
    'b',
    'Authorization',
    '1',
    'authorization',
    '2',
    'constructor',
    'c',
    'Constructor',
    'd',
  ]
  const requestHeaders = new Set(['accept', 'constructor'])
  t.same(upstreamHeaders(raw, { credentials: 'forward', host: 'client', requestHeaders }), {
    accept: 'a, b',
    authorization: '1',
    constructor: 'c, d',
  })
  t.end()
})

t.test('a response loses hop-by-hop and internal headers, and receives those of the gateway', (t) => {
  const parsed = {
    connection: ['keep-alive', 'X-A'],
    'keep-alive': 'timeout=5',
    'x-a': '1',
    'transfer-encoding': 'chunked',
    'x-authorized-user': 'a',
    via: '1.1 other',
    'set-cookie': ['a', 'b'],
    'content-type': 'application/json',
  }
  t.same(clientHeaders(parsed, { Via: '1.1 gateway', 'X-Request-Id': 'r' }), {
    via: '1.1 gateway',
    'content-type': 'application/json',
    'x-request-id': 'r',
  })
  t.equal(parsed['x-a'], '1', 'the original is left alone')
  t.end()
})

t.test('a length is a plain number or null', (t) => {
  const cases: [string | string[] | undefined, number | null][] = [
    ['0', 0],
    ['65536', 65536],
    ['', null],
    ['1e3', null],
    ['-1', null],
    ['+1', null],
    ['9'.repeat(16), null],
    [['1', '2'], null],
    [undefined, null],
  ]
  for (const [value, length] of cases) t.equal(lengthOf({ 'content-length': value }), length)
  t.end()
})

t.test('if the gateway sets CORS headers, those of the engine are removed and `Vary` is merged', (t) => {
  const parsed = { 'access-control-allow-origin': '*', vary: 'Accept, origin', 'x-a': '1' }
  const own = { vary: 'Origin', 'access-control-max-age': '1' }
  t.same(clientHeaders(parsed, own), { 'access-control-max-age': '1', vary: 'Accept, Origin' })
  t.same(clientHeaders(parsed, { via: 'g' }), { vary: 'Accept, origin', via: 'g' })
  t.same(
    clientHeaders(parsed, { via: 'g' }, OF_APPLICATION),
    { ...parsed, via: 'g' },
    'an application says it itself',
  )
  t.equal(joinedVary(undefined, 'Origin'), 'Origin')
  t.equal(joinedVary(['Accept', 'Cookie'], 'Origin'), 'Accept, Cookie, Origin')
  t.equal(joinedVary('*', 'Origin'), '*, Origin')
  t.end()
})

t.test('Connection cannot remove headers that identify or date a response', (t) => {
  for (const name of ['date', 'etag', 'expires', 'last-modified', 'pragma', 'retry-after', 'vary'])
    t.match(clientHeaders({ connection: `close, ${name}`, [name]: 'a' }), { [name]: /\ba\b/ }, name)
  t.end()
})

t.test('configured request headers are forwarded, except the one that names the caller', (t) => {
  const requestHeaders = new Set(['x-a', 'x-user'])
  const credentials = { header: 'x-user' }
  const raw = ['X-A', '1', 'X-User', 'admin', 'X-B', '2']
  t.same(upstreamHeaders(raw, { credentials, host: 'node', requestHeaders }), { 'x-a': '1' })
  t.end()
})

t.test("an engine's response keeps only listed headers, an application's all except hop-by-hop ones", (t) => {
  const parsed = {
    'set-cookie': ['a'],
    location: '/x',
    server: 's',
    'x-authorized-user': 'a',
    etag: '"x"',
    upgrade: 'h2c',
  }
  t.same(clientHeaders(parsed), { etag: '"x"' })
  t.same(clientHeaders(parsed, {}, { names: new Set(['server']), restrictsContent: true }), { server: 's' })
  t.same(clientHeaders(parsed, {}, OF_APPLICATION), {
    'set-cookie': ['a'],
    location: '/x',
    server: 's',
    etag: '"x"',
  })
  t.end()
})

t.test('a redirect of an engine is refused, and 304 does not count as a redirect', (t) => {
  for (const status of [300, 301, 302, 303, 305, 307, 308, 399])
    t.throws(
      () => assertNoRedirect(status, { names: new Set() }),
      { code: 'GW_UPSTREAM_INVALID' },
      `${status}`,
    )
  for (const status of [200, 204, 299, 304, 400, 404, 500])
    t.doesNotThrow(() => assertNoRedirect(status, { names: new Set() }), `${status}`)
  t.doesNotThrow(() => assertNoRedirect(302, OF_APPLICATION), 'an application may redirect')
  t.end()
})
