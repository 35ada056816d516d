import { jwtVerify } from 'jose'
import t from 'tap'
import { createUserHeaderValue } from '../../../src/proxy/wire/user-header.ts'

const secret = Buffer.alloc(64, 7)

t.test('a signed header is a token of the user that is valid for the configured lifetime', async (t) => {
  for (const algorithm of ['HS256', 'HS384', 'HS512'] as const) {
    const sign = { secret: secret.toString('base64'), algorithm, lifetime: 90_500 }
    const valueOf = createUserHeaderValue({ header: 'x-user', sign }, () => 1_000_000_400)
    const { payload, protectedHeader } = await jwtVerify(valueOf('jürgen @ "x"'), secret, {
      algorithms: [algorithm],
      currentDate: new Date(1_000_000_400),
    })
    t.same(payload, { sub: 'jürgen @ "x"', iat: 1_000_000, exp: 1_000_091 })
    t.same(protectedHeader, { alg: algorithm, typ: 'JWT' })
    await t.rejects(jwtVerify(valueOf('mary'), secret, { currentDate: new Date(1_000_092_000) }), /exp/)
    await t.rejects(jwtVerify(valueOf('mary'), Buffer.alloc(64, 8)), /signature/)
  }
})

t.test('a token is reused for half of its lifetime, and each user has a separate one', (t) => {
  let nowMs = 1_000_000
  const sign = { secret: secret.toString('base64'), algorithm: 'HS256', lifetime: 60_000 } as const
  const valueOf = createUserHeaderValue({ header: 'authorization', sign }, () => nowMs)
  const first = valueOf('mary')
  t.match(first, /^Bearer [\w-]+\.[\w-]+\.[\w-]+$/)
  t.not(valueOf('demo'), first)
  nowMs += 29_999
  t.equal(valueOf('mary'), first)
  nowMs += 1
  t.not(valueOf('mary'), first)
  t.end()
})

t.test('without signing, the header contains the user ID', (t) => {
  t.equal(createUserHeaderValue({ header: 'context-user-id' })('mary'), 'mary')
  t.end()
})
