import t from 'tap'
import { createSigner, SIGNATURE_BYTES } from '../../src/redis/signature.ts'

const [KEY, NEXT] = ['k'.repeat(32), 'n'.repeat(32)]
const value = Buffer.from('value')

t.test('a value is valid only for the name that it was signed for', async (t) => {
  const signer = createSigner([KEY])
  const signed = signer.sign('a', value)
  t.equal(signed.length, value.length + SIGNATURE_BYTES)
  t.same(signer.open('a', signed), value)
  t.equal(signer.open('b', signed), null)
  t.equal(createSigner([NEXT]).open('a', signed), null)
})

t.test('every changed or missing byte is detected', async (t) => {
  const signer = createSigner([KEY])
  const signed = signer.sign('a', value)
  for (let at = 0; at < signed.length; at += 1) {
    const changed = Buffer.from(signed)
    changed[at] = (changed[at] ?? 0) ^ 1
    t.equal(signer.open('a', changed), null, `byte ${at}`)
    t.equal(signer.open('a', signed.subarray(0, at)), null, `cut at ${at}`)
  }
})

t.test('the first key signs, and every key verifies', async (t) => {
  const signed = createSigner([NEXT, KEY]).sign('a', value)
  t.same(createSigner([NEXT]).open('a', signed), value)
  t.same(createSigner([KEY, NEXT]).open('a', signed), value)
  t.equal(createSigner([KEY]).open('a', signed), null)
})

t.test('without a key a value is not changed', async (t) => {
  const signer = createSigner([])
  t.equal(signer.signs, false)
  t.equal(signer.sign('a', value), value)
  t.equal(signer.open('a', value), value)
})
