import { crc32 } from 'node:zlib'
import t from 'tap'
import { seal, unseal } from '../../src/cache/envelope.ts'

const sealed = {
  answer: {
    status: 200,
    headers: { 'content-type': 'image/png', etag: '"x"', via: ['a', 'b'] },
    body: Buffer.from([0, 255, 13, 10, 128]),
  },
  seconds: 60,
  tokens: 't1 t2',
}

t.test('what was sealed comes back byte for byte', async (t) => {
  t.same(unseal('k', seal('k', sealed)), sealed)
  const empty = { ...sealed, answer: { ...sealed.answer, body: Buffer.alloc(0) } }
  t.same(unseal('k', seal('k', empty)), empty)
})

t.test('every single changed or missing byte is noticed', async (t) => {
  const value = seal('k', sealed)
  for (let at = 0; at < value.length; at += 1) {
    const changed = Buffer.from(value)
    changed[at] = (changed[at] ?? 0) ^ 1
    t.equal(unseal('k', changed), null, `byte ${at}`)
    t.equal(unseal('k', value.subarray(0, at)), null, `cut at ${at}`)
  }
})

t.test("another key's value does not pass for this one's", async (t) => {
  t.equal(unseal('other', seal('k', sealed)), null)
})

const forged: Record<string, object> = {
  'a header that would split the answer': { headers: { 'x-a': 'b\r\nset-cookie: c=d' } },
  'a header name with a space': { headers: { 'x a': 'b' } },
  'a header that is a number': { headers: { 'x-a': 1 } },
  'another status': { status: 302 },
}
for (const [name, part] of Object.entries(forged)) {
  t.test(`${name} is refused even under a right sum`, async (t) => {
    t.equal(unseal('k', seal('k', { ...sealed, answer: { ...sealed.answer, ...part } })), null)
  })
}

t.test('a right sum over a head that is not JSON, or not an object, is refused', async (t) => {
  for (const head of ['{"key"', 'null', '7']) t.equal(unseal('k', forgedOf(head)), null)
})

function forgedOf(head: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(head.length)
  const rest = Buffer.concat([length, Buffer.from(head)])
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(rest))
  return Buffer.concat([Buffer.from('EGC1'), sum, rest])
}
