import t from 'tap'
import { EngineRefusal } from '../../../src/errors.ts'
import type { AuthenticationResult, AuthenticatorOptions } from '../../../src/policy/authn/authenticate.ts'
import { createAuthenticator } from '../../../src/policy/authn/authenticate.ts'
import { createFileIdentity } from '../../../src/policy/authn/file-identity.ts'
import type { User, Users } from '../../../src/files/users-file.ts'

const UNAUTHORIZED = { name: 'EngineRefusal', statusCode: 401 }
const HOME = '10.0.0.1'
const AWAY = '10.0.0.2'
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
const mary: User = { id: 'mary', passwordHash: 'hash of secret', groups: ['clerks'], tenants: ['acme'] }

const usersOf = (...list: User[]): Users => ({
  size: list.length,
  all: list,
  find: (id) => list.find((user) => user.id === id),
  dummyHash: 'hash of nobody',
})

const state = () => ({ problem: null, ageMs: 0 })

function open(options: Partial<AuthenticatorOptions> = {}) {
  const clock = { ms: 0 }
  const source = { users: usersOf(mary) }
  const hashed: string[] = []
  const results: AuthenticationResult[] = []
  const verify = async (hash: string, password: string) => {
    hashed.push(hash)
    return hash === `hash of ${password}`
  }
  const authenticator = createAuthenticator({
    engine: 'default',
    source: createFileIdentity({ file: { current: () => source.users, state }, passwords: { verify } }),
    now: () => clock.ms,
    onResult: (result) => results.push(result),
    ...options,
  })
  /** Calls the authenticator as a hook does. A hook treats a synchronous exception and a rejection alike. */
  const ask = async (header: string | undefined, address = HOME) =>
    authenticator.authenticate(header, address)
  return { authenticator, ask, clock, source, hashed, results }
}

t.test('the right password returns the principal', async (t) => {
  const { ask, results } = open()
  t.same(await ask(basic('mary:secret')), { userId: 'mary', groups: ['clerks'], tenants: ['acme'] })
  t.same(results, ['verified'])
})

t.test('every wrong credential gets the engine’s 401 with an empty body and its realm', async (t) => {
  const { ask } = open({ engine: 'orders' })
  const headers = [
    undefined,
    '',
    'Bearer x',
    'Basic !',
    basic('mary'),
    basic('mary:wrong'),
    basic('nobody:secret'),
  ]
  for (const header of headers) {
    const decision = await ask(header).catch((cause: unknown) => cause)
    if (!(decision instanceof EngineRefusal)) throw decision
    const { statusCode, body, headers: sent } = decision
    t.same(
      { statusCode, body, sent },
      { statusCode: 401, body: undefined, sent: { 'www-authenticate': 'Basic realm="orders"' } },
    )
  }
})

t.test('a request without credentials computes no hash', async (t) => {
  const { ask, hashed, results } = open()
  await t.rejects(ask(undefined))
  await t.rejects(ask('Bearer x'))
  t.same(hashed, [])
  t.same(results, ['missing', 'missing'])
})

t.test('a remembered credential is accepted at once, without a promise and without a hash', async (t) => {
  const { authenticator, ask, hashed, results } = open()
  await ask(basic('mary:secret'))
  t.match(authenticator.authenticate(basic('mary:secret'), AWAY), { userId: 'mary' })
  t.equal(hashed.length, 1)
  t.same(results, ['verified', 'remembered'])
})

t.test(
  'a remembered credential is the header as it was sent, and another spelling is verified again',
  async (t) => {
    const { ask, hashed, results } = open()
    await ask(basic('mary:secret'))
    t.match(await ask(`BASIC  ${basic('mary:secret').slice(6)}`), { userId: 'mary' })
    t.equal(hashed.length, 2)
    t.same(results, ['verified', 'verified'])
  },
)

t.test('a wrong password counts each time, in every spelling of its header', async (t) => {
  const { ask, hashed } = open({ throttle: { refusesPairs: true } })
  for (let spaces = 1; spaces <= 5; spaces += 1)
    await t.rejects(ask(`Basic${' '.repeat(spaces)}${basic('mary:wrong').slice(6)}`), UNAUTHORIZED)
  await t.rejects(ask(`Basic      ${basic('mary:wrong').slice(6)}`), { code: 'GW_THROTTLED' })
  t.equal(hashed.length, 5)
})

t.test('a header that is too long for a credential computes no hash', async (t) => {
  const { ask, hashed, results } = open()
  await t.rejects(ask(`Basic ${' '.repeat(2000)}${basic('mary:secret').slice(6)}`), UNAUTHORIZED)
  t.equal(hashed.length, 0)
  t.same(results, ['missing'])
})

t.test('a hundred simultaneous requests compute one hash, with a right or a wrong password', async (t) => {
  const { ask, hashed, results } = open()
  const hundred = (text: string) => Promise.allSettled(Array.from({ length: 100 }, () => ask(basic(text))))
  const right = await hundred('mary:secret')
  t.ok(right.every(({ status }) => status === 'fulfilled'))
  t.equal(hashed.length, 1)
  const wrong = await hundred('mary:wrong')
  t.ok(wrong.every(({ status }) => status === 'rejected'))
  t.equal(hashed.length, 2)
  t.equal(results.filter((result) => result === 'failed').length, 100, 'each of them is counted')
})

t.test('the password is verified again after the time to live', async (t) => {
  const { ask, clock, hashed } = open({ ttlMs: 5_000 })
  await ask(basic('mary:secret'))
  clock.ms += 5_000
  await ask(basic('mary:secret'))
  t.equal(hashed.length, 2)
})

t.test('a reload of the users takes effect at once', async (t) => {
  const { ask, source } = open()
  await ask(basic('mary:secret'))
  source.users = usersOf({ ...mary, groups: ['bosses'] })
  t.match(await ask(basic('mary:secret')), { groups: ['bosses'] }, 'new groups')
  source.users = usersOf({ ...mary, passwordHash: 'hash of other' })
  await t.rejects(ask(basic('mary:secret')), UNAUTHORIZED, 'a new password')
  source.users = usersOf(mary)
  await ask(basic('mary:secret'))
  source.users = usersOf()
  await t.rejects(ask(basic('mary:secret')), UNAUTHORIZED, 'a removed user')
})

t.test('an unknown user computes a hash too, and its password never matches', async (t) => {
  const { ask, hashed } = open()
  await t.rejects(ask(basic('nobody:nobody')), UNAUTHORIZED)
  t.same(hashed, ['hash of nobody'])
})

t.test('if the source locks users, guessing is stopped with 429 and computes no hash', async (t) => {
  const { ask, hashed, results } = open({ throttle: { refusesPairs: true } })
  for (let guess = 0; guess < 5; guess += 1) await t.rejects(ask(basic(`mary:${guess}`)), UNAUTHORIZED)
  await t.rejects(ask(basic('mary:5')), { code: 'GW_THROTTLED', statusCode: 429, retryAfterSeconds: 30 })
  t.equal(hashed.length, 5)
  t.equal(results.at(-1), 'throttled')
})

t.test('the real user is served while a client guesses the password', async (t) => {
  const { ask, clock, hashed } = open({ throttle: { refusesPairs: true } })
  await ask(basic('mary:secret'))
  for (let guess = 0; guess < 9; guess += 1) await ask(basic(`mary:${guess}`)).catch(() => undefined)
  t.match(await ask(basic('mary:secret')), { userId: 'mary' }, 'from memory')
  clock.ms += 5_000
  t.match(
    await ask(basic('mary:secret')),
    { userId: 'mary' },
    'at the guesser’s address, once the memory has expired',
  )
  t.equal(hashed.at(-1), 'hash of secret', 'and then by a hash')
})

t.test('a real user who is new to the gateway can log in from another address', async (t) => {
  const { ask } = open({ throttle: { refusesPairs: true } })
  for (let guess = 0; guess < 9; guess += 1) await ask(basic(`mary:${guess}`)).catch(() => undefined)
  t.match(await ask(basic('mary:secret'), AWAY), { userId: 'mary' })
})

t.test('the same wrong password computes no hash for a while and counts as one guess', async (t) => {
  const { authenticator, ask, clock, hashed, results } = open({ failureTtlMs: 5_000 })
  for (let time = 0; time < 100; time += 1) await t.rejects(ask(basic('mary:wrong')), UNAUTHORIZED)
  t.equal(hashed.length, 1)
  t.equal(results.filter((result) => result === 'failed').length, 100)
  t.match(await ask(basic('mary:secret')), { userId: 'mary' }, 'the right one is let in')
  clock.ms += 5_000
  await t.rejects(Promise.resolve(authenticator.authenticate(basic('mary:wrong'), HOME)), UNAUTHORIZED)
  t.equal(hashed.length, 3)
})

t.test('a wrong password that a reload makes right is accepted at once', async (t) => {
  const { ask, source } = open()
  await t.rejects(ask(basic('mary:other')), UNAUTHORIZED)
  source.users = usersOf({ ...mary, passwordHash: 'hash of other' })
  t.match(await ask(basic('mary:other')), { userId: 'mary' })
})

t.test('without users no credential is accepted, remembered or not', async (t) => {
  let users: Users | null = usersOf(mary)
  const passwords = { verify: async () => true }
  const file = { current: () => users, state }
  const { ask } = open({ source: createFileIdentity({ file, passwords }) })
  await ask(basic('mary:secret'))
  users = null
  await t.rejects(ask(basic('mary:secret')), { code: 'GW_RECORDS_UNAVAILABLE', statusCode: 503 })
})

t.test('a password is accepted as by Basic, and a wrong one counts as a failure of Basic', async (t) => {
  const { authenticator, hashed, results } = open()
  const accepts = (user: string, password: string) => authenticator.accepts({ user, password }, HOME)
  t.equal(await accepts('mary', 'secret'), true)
  t.equal(await accepts('mary', 'secret'), true)
  t.same(results, ['verified', 'remembered'])
  t.equal(await accepts('mary', 'wrong'), false)
  t.equal(await accepts('mary', 'wrong'), false)
  t.equal(hashed.length, 2, 'a wrong one is remembered, too')
  await t.rejects(Promise.resolve(authenticator.authenticate(basic('mary:wrong'), HOME)), UNAUTHORIZED)
  t.equal(hashed.length, 2)
  // Basic cannot express these credentials, or would express those of another user.
  for (const [user, password] of [
    ['mary:secret', ''],
    ['mary:sec', 'ret'],
    ['', 'secret'],
    ['mary', '\ud800'],
    ['mary', 'a\nb'],
  ] as const)
    t.equal(await accepts(user, password), false, `${user} ${password}`)
  t.equal(hashed.length, 2)
})
