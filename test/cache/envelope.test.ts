import { crc32 } from 'node:zlib'
import t from 'tap'
import { MAX_ENCODED_BYTES, type DecodedEntry, encode, decode } from '../../src/cache/envelope.ts'

const sealed: DecodedEntry = {
  response: {
    status: 200,
    headers: { 'content-type': 'image/png', etag: '"x"', 'cache-control': ['no-cache', 'no-transform'] },
    body: Buffer.from([0, 255, 13, 10, 128]),
  },
  seconds: 60,
  tokens: 't1 t2',
  atMs: 1_700_000_000_000,
}

function sealOf(key: string, of: DecodedEntry): Buffer {
  const value = encode(key, of)
  if (value === null) throw new Error('It is too long')
  return value
}

t.test('an encoded entry is decoded byte for byte', async (t) => {
  t.same(decode('k', sealOf('k', sealed)), sealed)
  const empty = { ...sealed, response: { ...sealed.response, body: Buffer.alloc(0) } }
  t.same(decode('k', sealOf('k', empty)), empty)
})

t.test('only headers that describe the body are encoded', async (t) => {
  const { headers } = sealed.response
  const more = { 'set-cookie': 'a=b', connection: 'close', 'content-length': '5', via: 'x', 'x-a': '1' }
  const value = sealOf('k', { ...sealed, response: { ...sealed.response, headers: { ...more, ...headers } } })
  t.same(decode('k', value)?.response.headers, headers)
})

t.test('an entry that is too long is not encoded', async (t) => {
  const body = Buffer.alloc(1024 ** 2)
  const large = { ...sealed, response: { ...sealed.response, body } }
  t.ok(sealOf('k', large).length <= MAX_ENCODED_BYTES)
  t.equal(
    encode('k', { ...large, response: { ...large.response, body: Buffer.alloc(body.length + 1) } }),
    null,
  )
  t.equal(encode('k'.repeat(128 * 1024), sealed), null)
})

t.test('every changed or missing byte is detected', async (t) => {
  const value = sealOf('k', sealed)
  for (let at = 0; at < value.length; at += 1) {
    const changed = Buffer.from(value)
    changed[at] = (changed[at] ?? 0) ^ 1
    t.equal(decode('k', changed), null, `byte ${at}`)
    t.equal(decode('k', value.subarray(0, at)), null, `cut at ${at}`)
  }
})

t.test('the value of another key is refused', async (t) => {
  t.equal(decode('other', sealOf('k', sealed)), null)
})

const HEAD = {
  key: 'k',
  tokens: 't1 t2',
  seconds: 60,
  atMs: 1_700_000_000_000,
  status: 200,
  headers: { 'content-type': 'text/plain' },
  length: 1,
}

t.test('a valid head with a valid checksum is decoded', async (t) => {
  t.match(decode('k', forgedOf(JSON.stringify(HEAD))), { seconds: 60, response: { status: 200 } })
})

const forged: Record<string, object> = {
  'a header that would split the answer': { headers: { 'content-type': 'b\r\nset-cookie: c=d' } },
  'a header name with a space': { headers: { 'content type': 'b' } },
  'a header in capitals': { headers: { 'Content-Type': 'b' } },
  'a header that is a number': { headers: { 'content-type': 1 } },
  'a header without a line': { headers: { 'content-type': [] } },
  'a header of many lines': { headers: { vary: Array.from({ length: 17 }, () => 'accept') } },
  'a header that is too long': { headers: { 'content-type': 'x'.repeat(17_000) } },
  'headers that are a list': { headers: [] },
  'a cookie': { headers: { 'set-cookie': 'a=b' } },
  'a connection header': { headers: { connection: 'close' } },
  'a framing header': { headers: { 'transfer-encoding': 'chunked' } },
  'an upgrade': { headers: { upgrade: 'h2c' } },
  'a length of its own': { headers: { 'content-length': '7' } },
  'a leave for another origin': { headers: { 'access-control-allow-origin': '*' } },
  'a header of no known name': { headers: { 'x-a': 'b' } },
  'an encoding': { headers: { 'content-encoding': 'gzip' } },
  'what no cache may store': { headers: { 'cache-control': 'private' } },
  'a redirect': { status: 302 },
  'another status': { status: 204 },
  'a status that is text': { status: '200' },
  'no time': { seconds: -1 },
  'a fraction of a second': { seconds: 0.5 },
  'more than a week': { seconds: 604_801 },
  'a time that is no number': { atMs: '1' },
  'a time before all times': { atMs: -1 },
  'a length that is none': { length: -1 },
  'another length': { length: 2 },
}
for (const [name, part] of Object.entries(forged)) {
  t.test(`${name} is refused even with a valid checksum`, async (t) => {
    t.equal(decode('k', forgedOf(JSON.stringify({ ...HEAD, ...part }))), null)
  })
}

t.test('a head that is not a JSON object is refused even with a valid checksum', async (t) => {
  for (const head of ['{"key"', 'null', '7']) t.equal(decode('k', forgedOf(head)), null)
})

t.test('a head that is longer than the value or than the limit is refused', async (t) => {
  const head = JSON.stringify(HEAD)
  t.equal(decode('k', forgedOf(head, 0xffff_ffff)), null)
  t.equal(decode('k', forgedOf(head + ' '.repeat(128 * 1024))), null)
})

/** Returns a value with a valid checksum and a body of one byte. */
function forgedOf(head: string, headBytes = head.length): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(headBytes)
  const rest = Buffer.concat([length, Buffer.from(`${head}x`)])
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(rest))
  return Buffer.concat([Buffer.from('EGC2'), sum, rest])
}
