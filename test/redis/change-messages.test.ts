import t from 'tap'
import { createMessages } from '../../src/redis/change-messages.ts'
import { createSigner } from '../../src/redis/signature.ts'

const KEY = 'k'.repeat(32)
const content = (from: string) => JSON.stringify([from, 'default records', ''])
const MESSAGE = { from: 'a', topic: 'default records', about: '' }

function open(self: string, { keys = [KEY], nowMs = 0, channel = 'c' } = {}) {
  return createMessages({ self, channel, signer: createSigner(keys), wallNow: () => nowMs })
}

t.test('a message is accepted once and in order', async (t) => {
  const [a, b] = [open('a'), open('b')]
  const [first, second] = [a.write(content('a')), a.write(content('a'))]
  t.same(b.read(second), MESSAGE)
  t.equal(b.read(second), 'unsigned')
  t.equal(b.read(first), 'unsigned')
  t.same(b.read(a.write(content('a'))), MESSAGE)
})

t.test('a message with an old or future time is rejected', async (t) => {
  const text = open('a').write(content('a'))
  t.same(open('b', { nowMs: 300_000 }).read(text), MESSAGE)
  t.equal(open('b', { nowMs: 300_001 }).read(text), 'unsigned')
  t.equal(open('b', { nowMs: -300_001 }).read(text), 'unsigned')
})

t.test('a message is accepted only on its channel and with its key', async (t) => {
  const text = open('a').write(content('a'))
  t.equal(open('b', { channel: 'd' }).read(text), 'unsigned')
  t.equal(open('b', { keys: ['n'.repeat(32)] }).read(text), 'unsigned')
  t.same(open('b', { keys: ['n'.repeat(32), KEY] }).read(text), MESSAGE)
})

t.test('the number of remembered senders is bounded', async (t) => {
  const b = open('b')
  const first = open('0').write(content('0'))
  t.match(b.read(first), { from: '0' })
  for (let index = 1; index <= 1000; index += 1) b.read(open(`${index}`).write(content(`${index}`)))
  t.match(b.read(first), { from: '0' })
})

t.test('without a signing key any message is accepted', async (t) => {
  const b = open('b', { keys: [] })
  t.equal(b.write(content('b')), content('b'))
  t.same(b.read(content('a')), MESSAGE)
  t.equal(b.read('["a","b"]'), null)
})
