import bcrypt from 'bcrypt'
import t from 'tap'
import { createPasswords } from '../../../src/policy/authn/password.ts'
import type { VerificationOrigin } from '../../../src/policy/authn/verification-queue.ts'

const passwords = createPasswords()

t.test('a new hash is argon2id with a salt and verifies its password', async (t) => {
  const [one, other] = await Promise.all([passwords.hash('sésame'), passwords.hash('sésame')])
  t.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.not(one, other)
  t.equal(await passwords.verify(one, 'sésame'), true)
  t.equal(await passwords.verify(one, 'sesame'), false)
})

t.test('bcrypt hashes verify under all three prefixes', async (t) => {
  const hash = await bcrypt.hash('mary', 4)
  for (const name of ['$2a$', '$2b$', '$2y$']) {
    const named = `${name}${hash.slice(4)}`
    t.equal(await passwords.verify(named, 'mary'), true, name)
    t.equal(await passwords.verify(named, 'Mary'), false, name)
  }
})

t.test('verifications beyond the concurrency are queued, and beyond the queue refused', async (t) => {
  const busy = createPasswords({ concurrency: 1, maxQueued: 2 })
  const hash = await bcrypt.hash('mary', 4)
  const results = await Promise.allSettled([1, 2, 3, 4, 5].map(() => busy.verify(hash, 'mary')))
  t.same(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected'],
  )
  t.match(results[4], { reason: { code: 'GW_OVERLOADED', statusCode: 503, retryAfterSeconds: 1 } })
  t.equal(await busy.verify(hash, 'mary'), true, 'the places are free again')
})

t.test('a hash that cannot be read releases its slot', async (t) => {
  const one = createPasswords({ concurrency: 1, maxQueued: 0 })
  await t.rejects(one.verify('$argon2id$v=19$nonsense', 'x'))
  t.equal(await one.verify(await bcrypt.hash('x', 4), 'x'), true)
})

t.test('a flood from one origin blocks neither other origins nor proven credentials', async (t) => {
  const busy = createPasswords({ concurrency: 1, maxQueued: 10 })
  const hash = await bcrypt.hash('mary', 4)
  const order: string[] = []
  const verify = (name: string, claim: VerificationOrigin) =>
    busy.verify(hash, 'mary', claim).then(
      () => order.push(name),
      () => order.push(`no ${name}`),
    )
  const flood = Array.from({ length: 11 }, (_, at) => verify(`guess ${at}`, { from: 'a', proven: false }))
  const others = [
    verify('other', { from: 'b', proven: false }),
    verify('proven', { from: 'a', proven: true }),
    verify('guess 11', { from: 'a', proven: false }),
  ]
  await Promise.all([...flood, ...others])
  // The newest queued guesses were removed, and the latest guess was refused.
  t.same(order.filter((name) => name.startsWith('no ')).toSorted(), [
    'no guess 10',
    'no guess 11',
    'no guess 9',
  ])
  const served = order.filter((name) => !name.startsWith('no '))
  t.same(served.slice(0, 4), ['guess 0', 'proven', 'guess 1', 'other'])
  t.equal(served.length, 11)
})

t.test('a full queue removes a verification of the busiest origin, wherever its turn is', async (t) => {
  const hash = await bcrypt.hash('mary', 4)
  for (const counts of [
    { a: 1, b: 3, c: 2 },
    { a: 2, b: 1, c: 3 },
    { a: 3, b: 2, c: 1 },
  ]) {
    const busy = createPasswords({ concurrency: 1, maxQueued: 6 })
    const refused: string[] = []
    const verify = (from: string) =>
      busy.verify(hash, 'mary', { from, proven: false }).catch(() => refused.push(from))
    const all = [verify('first')]
    for (const [from, count] of Object.entries(counts))
      for (let at = 0; at < count; at += 1) all.push(verify(from))
    await Promise.all([...all, verify('d')])
    const [longest] = Object.entries(counts).find(([, count]) => count === 3) ?? []
    t.same(refused, [longest])
  }
})
