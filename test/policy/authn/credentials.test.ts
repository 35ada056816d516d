import t from 'tap'
import type { Principal } from '../../../src/request/principal.ts'
import {
  createCredentialMemory,
  createRememberedCredentials,
  readBasic,
} from '../../../src/policy/authn/credentials.ts'

const encoded = (text: string | Buffer) => Buffer.from(text).toString('base64')
const mary: Principal = { userId: 'mary', groups: ['clerks'], tenants: [] }

t.test('a Basic credential is read', async (t) => {
  const cases: readonly (readonly [claim: string, header: string, user: string, password: string])[] = [
    ['as RFC 7617 writes it', 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==', 'Aladdin', 'open sesame'],
    ['with the scheme in any case', `bASIC ${encoded('a:b')}`, 'a', 'b'],
    ['with more than one space', `Basic   ${encoded('a:b')}`, 'a', 'b'],
    ['with colons in the password', `Basic ${encoded('a:b:c:')}`, 'a', 'b:c:'],
    ['with an empty password', `Basic ${encoded('a:')}`, 'a', ''],
    ['as UTF-8', `Basic ${encoded('jürgen:pässwörd€')}`, 'jürgen', 'pässwörd€'],
    ['with a byte order mark as part of the name', `Basic ${encoded('\ufeffa:b')}`, '\ufeffa', 'b'],
  ]
  for (const [claim, header, user, password] of cases) t.match(readBasic(header), { user, password }, claim)
})

t.test('an ambiguous header contains no credential', async (t) => {
  const cases: readonly (readonly [claim: string, header: string])[] = [
    ['an empty header', ''],
    ['another scheme', 'Bearer YTpi'],
    ['a scheme that begins like Basic', `Basically ${encoded('a:b')}`],
    ['no space', `Basic${encoded('a:b')}`],
    ['nothing after the scheme', 'Basic '],
    ['a space before', ` Basic ${encoded('a:b')}`],
    ['a second credential', `Basic ${encoded('a:b')}, Basic ${encoded('a:b')}`],
    ['characters outside base64', 'Basic YTpi*A=='],
    [
      'the alphabet of base64url',
      `Basic ${encoded(Buffer.from('a:\u00ff\u00fe>?', 'utf8')).replace('/', '_').replace('+', '-')}_`,
    ],
    ['missing padding', `Basic ${encoded('a:bc').replaceAll('=', '')}`],
    ['padding in the middle', 'Basic YTo=YTpi'],
    ['a line break inside', 'Basic YT\npi'],
    ['no colon', `Basic ${encoded('ab')}`],
    ['no user', `Basic ${encoded(':b')}`],
    ['a control character in the user', `Basic ${encoded('a\u0000b:c')}`],
    ['a control character in the password', `Basic ${encoded('a:b\r\n')}`],
    ['a delete character', `Basic ${encoded('a:\u007f')}`],
    ['bytes that are not UTF-8', `Basic ${encoded(Buffer.from([0x61, 0x3a, 0xff]))}`],
    ['more than 1,024 characters', `Basic ${encoded(`a:${'b'.repeat(800)}`)}`],
  ]
  for (const [claim, header] of cases) t.equal(readBasic(header), null, claim)
})

/** The user and the state that a verification depends on. */
const by = (stamp: object) => ({ user: 'mary', stampOf: () => stamp })

function memoryAt(clock: { ms: number }, maxRemembered = 10) {
  const remembered = createRememberedCredentials(maxRemembered)
  const memory = createCredentialMemory({ ttlMs: 5_000, now: () => clock.ms }, remembered)
  return { memory, key: memory.keyOf('mary:secret'), users: {} }
}

t.test('a success is remembered until its time to live ends', async (t) => {
  const clock = { ms: 1_000 }
  const { memory, key, users } = memoryAt(clock)
  t.equal(
    memory.recall(key, () => users),
    null,
  )
  t.equal(await memory.verifyOnce(key, by(users), async () => mary), mary)
  clock.ms += 4_999
  t.equal(
    memory.recall(key, () => users),
    mary,
  )
  clock.ms += 1
  t.equal(
    memory.recall(key, () => users),
    null,
  )
})

t.test('a failure is not remembered, and forgets an earlier success', async (t) => {
  const { memory, key, users } = memoryAt({ ms: 0 })
  await memory.verifyOnce(key, by(users), async () => mary)
  t.equal(await memory.verifyOnce(key, by(users), async () => null), null)
  t.equal(
    memory.recall(key, () => users),
    null,
  )
  t.equal(memory.wasVerified(key), false)
})

t.test('a change of the users invalidates remembered credentials', async (t) => {
  const { memory, key, users } = memoryAt({ ms: 0 })
  await memory.verifyOnce(key, by(users), async () => mary)
  t.equal(
    memory.recall(key, () => ({})),
    null,
  )
})

t.test('a request after a reload does not join a verification that began before it', async (t) => {
  const { memory, key, users } = memoryAt({ ms: 0 })
  const reloaded = {}
  const before = memory.verifyOnce(key, by(users), async () => mary)
  const after = memory.verifyOnce(key, by(reloaded), async () => null)
  t.same(await Promise.all([before, after]), [mary, null])
  t.equal(
    memory.recall(key, () => reloaded),
    null,
  )
})

t.test('an expired credential counts as verified before, an unknown one does not', async (t) => {
  const clock = { ms: 0 }
  const { memory, key, users } = memoryAt(clock)
  await memory.verifyOnce(key, by(users), async () => mary)
  clock.ms += 3_600_000
  t.equal(memory.wasVerified(key), true)
  t.equal(memory.wasVerified(memory.keyOf('mary:guess')), false)
})

t.test('the oldest credential is removed if there are too many', async (t) => {
  const { memory, users } = memoryAt({ ms: 0 }, 2)
  const keys = ['a:1', 'b:2', 'c:3'].map((text) => memory.keyOf(text))
  for (const key of keys) await memory.verifyOnce(key, by(users), async () => mary)
  t.same(
    keys.map((key) => memory.recall(key, () => users)),
    [null, mary, mary],
  )
})

t.test('simultaneous requests share one verification, and its error', async (t) => {
  const { memory, key, users } = memoryAt({ ms: 0 })
  let runs = 0
  const failing = async () => {
    runs += 1
    throw new Error('no place')
  }
  const results = await Promise.allSettled([1, 2, 3].map(() => memory.verifyOnce(key, by(users), failing)))
  t.equal(runs, 1)
  t.ok(results.every(({ status }) => status === 'rejected'))
  t.equal(await memory.verifyOnce(key, by(users), async () => mary), mary, 'the next one tries again')
})

t.test('a key reveals nothing about the credential and is useless in another process', async (t) => {
  const { memory, key } = memoryAt({ ms: 0 })
  t.match(key, /^[A-Za-z0-9+/]{43}=$/)
  t.equal(memory.keyOf('mary:secret'), key)
  t.not(createCredentialMemory().keyOf('mary:secret'), key)
})

t.test('another memory uses what the first has verified, with its own time to live', async (t) => {
  const clock = { ms: 0 }
  const remembered = createRememberedCredentials()
  const now = () => clock.ms
  const before = createCredentialMemory({ ttlMs: 60_000, now }, remembered)
  const key = before.keyOf('mary:secret')
  const users = {}
  await before.verifyOnce(key, by(users), async () => mary)
  const after = createCredentialMemory({ ttlMs: 5_000, now }, remembered)
  t.equal(after.keyOf('mary:secret'), key)
  t.equal(
    after.recall(key, () => users),
    mary,
  )
  t.equal(after.wasVerified(key), true)
  clock.ms += 5_000
  t.equal(
    after.recall(key, () => users),
    null,
  )
})

t.test('a credential is not remembered if the users change during its verification', async (t) => {
  const { memory, key } = memoryAt({ ms: 0 })
  const stamps = { now: 'before' }
  const stampOf = () => stamps.now
  const verify = async () => {
    stamps.now = 'after'
    return mary
  }
  t.equal(await memory.verifyOnce(key, { user: 'mary', stampOf }, verify), mary)
  stamps.now = 'before'
  t.equal(memory.recall(key, stampOf), null)
})
