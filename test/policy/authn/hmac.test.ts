import { createHmac, randomBytes } from 'node:crypto'
import t from 'tap'
import { createHmacSha256 } from '../../../src/policy/authn/hmac.ts'

t.test("is Node's own HMAC", (t) => {
  for (const keyBytes of [0, 1, 32, 64]) {
    const key = randomBytes(keyBytes)
    const hmac = createHmacSha256(key, 766)
    for (const chars of [0, 1, 55, 64, 766]) {
      const message = 'aé€'.repeat(chars).slice(0, chars)
      t.equal(
        hmac(message),
        createHmac('sha256', key).update(message).digest('base64'),
        `${keyBytes}, ${chars}`,
      )
    }
  }
  t.end()
})

t.test('a key that is longer than a block is refused', (t) => {
  t.throws(() => createHmacSha256(Buffer.alloc(65), 1), RangeError)
  t.end()
})

t.test('a message that is longer than said is refused, not cut', (t) => {
  t.throws(() => createHmacSha256(randomBytes(32), 3)('four'), RangeError)
  t.end()
})
