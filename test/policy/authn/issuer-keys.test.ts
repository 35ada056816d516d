import t from 'tap'
import {
  createIssuerKeys,
  type IssuerKeys,
  type IssuerKeysOptions,
} from '../../../src/policy/authn/issuer-keys.ts'
import { createFakeTime } from '../../support/fake-time.ts'
import { createKey } from '../../support/token-issuer.ts'

const ONE = await createKey('one')
const TWO = await createKey('two')
const ISSUER = 'https://login.example/realms/a'
const KEYS_URL = 'https://login.example/keys'

/** Opens an issuer whose keys, discovery document and failures the test sets. */
function openIssuer(options: Partial<IssuerKeysOptions> = {}) {
  const time = createFakeTime()
  const asked: string[] = []
  const changes: (string | null)[] = []
  const said: { keys: unknown; discovery: unknown; problem: string | null } = {
    keys: [ONE.jwk],
    discovery: { issuer: ISSUER, jwks_uri: KEYS_URL },
    problem: null,
  }
  const keys = createIssuerKeys({
    issuer: ISSUER,
    jwksUri: null,
    refreshMs: 600_000,
    staleAfterMs: 3_600_000,
    now: time.now,
    schedule: time.schedule,
    onChange: (problem) => changes.push(problem),
    fetchJson: async (url) => {
      asked.push(url)
      if (said.problem !== null) throw new Error(said.problem)
      return url === KEYS_URL ? { keys: said.keys } : said.discovery
    },
    ...options,
  })
  return { keys, said, asked, changes, time }
}

const kidOf = async (keys: IssuerKeys, kid: string | null, alg = 'ES256') =>
  (await keys.find(kid, alg))?.kid ?? null
const settle = () => new Promise((resolve) => setImmediate(resolve))
const AWAY = { code: 'GW_RECORDS_UNAVAILABLE' }

t.test('keys are found by discovery, which is read once', async (t) => {
  const { keys, asked } = openIssuer()
  t.match(keys.state(), { problem: /not read yet/, ageMs: null })
  await keys.start()
  t.same(asked, [`${ISSUER}/.well-known/openid-configuration`, KEYS_URL])
  t.equal(await kidOf(keys, 'one'), 'one')
  t.equal(await kidOf(keys, null), 'one')
  t.equal(asked.length, 2)
  t.same(keys.state(), { problem: null, ageMs: 0 })
})

t.test('a configured URL of the keys needs no discovery', async (t) => {
  const { keys, asked } = openIssuer({ jwksUri: KEYS_URL })
  await keys.start()
  t.same(asked, [KEYS_URL])
})

t.test('a key verifies only its own algorithm, and without a kid the only key is used', async (t) => {
  const { keys, said } = openIssuer()
  said.keys = [ONE.jwk, TWO.jwk, { ...TWO.jwk, x: ONE.jwk.x, y: ONE.jwk.y }]
  await keys.start()
  t.equal(await kidOf(keys, 'one', 'RS256'), null)
  t.equal(await kidOf(keys, null), null)
  t.equal(await kidOf(keys, 'two'), null, 'two keys have this id')
})

t.test('a key whose id another key has verifies again when the other key is withdrawn', async (t) => {
  const { keys, said, time } = openIssuer()
  said.keys = [ONE.jwk, { ...TWO.jwk, kid: 'one' }]
  await keys.start()
  t.equal(await kidOf(keys, 'one'), null)
  said.keys = [ONE.jwk]
  time.advance(600_000)
  await settle()
  t.equal(await kidOf(keys, 'one'), 'one')
})

t.test('an unknown kid causes a read of the keys, at most once in ten seconds', async (t) => {
  const { keys, said, asked, time } = openIssuer({ jwksUri: KEYS_URL })
  await keys.start()
  said.keys = [ONE.jwk, TWO.jwk]
  t.same(await Promise.all([kidOf(keys, 'two'), kidOf(keys, 'two')]), ['two', 'two'])
  t.equal(asked.length, 2, 'those who ask together share a reading')
  for (const kid of ['x', 'y', 'z']) t.equal(await kidOf(keys, kid), null)
  t.equal(asked.length, 2)
  time.advance(10_000)
  t.equal(await kidOf(keys, 'x'), null)
  t.equal(asked.length, 3)
})

t.test('a known key is found at once while keys are being read', async (t) => {
  const waiting: ((keys: unknown) => void)[] = []
  const second = new Promise<unknown>((resolve) => waiting.push(resolve))
  const answers = [Promise.resolve<unknown>({ keys: [ONE.jwk] }), second]
  const { keys } = openIssuer({ jwksUri: KEYS_URL, fetchJson: async () => answers.shift() })
  await keys.start()
  const missing = keys.find('two', 'ES256')
  t.match(keys.find('one', 'ES256'), { kid: 'one' })
  t.match(keys.find(null, 'ES256'), { kid: 'one' })
  for (const answer of waiting) answer({ keys: [ONE.jwk, TWO.jwk] })
  t.match(await missing, { kid: 'two' })
})

t.test('the number of requests that wait for the keys is bounded', async (t) => {
  const { keys } = openIssuer({ fetchJson: () => new Promise(() => {}) })
  for (let at = 0; at < 256; at += 1) void keys.find(`kid${at}`, 'ES256')
  await t.rejects(Promise.resolve(keys.find('more', 'ES256')), { code: 'GW_OVERLOADED' })
})

t.test('a key that remains is the same object, and a withdrawn key is removed', async (t) => {
  const { keys, said, time } = openIssuer()
  said.keys = [ONE.jwk, TWO.jwk]
  await keys.start()
  const [one, two] = [await keys.find('one', 'ES256'), await keys.find('two', 'ES256')]
  if (one === null || two === null) throw new Error('no keys')
  said.keys = [structuredClone(ONE.jwk)]
  time.advance(600_000)
  await settle()
  t.equal(keys.has(one), true)
  t.equal(keys.has(two), false)
  t.equal(await keys.find('one', 'ES256'), one)
})

t.test('if the issuer is unreachable, the last keys are used until they are too old', async (t) => {
  const { keys, said, time, changes } = openIssuer()
  await keys.start()
  const one = await keys.find('one', 'ES256')
  said.problem = 'connection refused'
  time.advance(600_000)
  await settle()
  t.equal(await kidOf(keys, 'one'), 'one')
  t.match(keys.state(), { problem: 'connection refused' })
  t.same(changes, ['connection refused'])
  for (let at = 600_000; at < 3_600_000; at += 5_000) {
    time.advance(5_000)
    await settle()
  }
  t.same(changes, ['connection refused'], 'told once')
  t.throws(() => keys.find('one', 'ES256'), AWAY)
  t.throws(() => one !== null && keys.has(one), AWAY)
  said.problem = null
  time.advance(5_000)
  await settle()
  t.same(changes, ['connection refused', null])
  t.equal(await kidOf(keys, 'one'), 'one')
})

t.test('an issuer that was never read authenticates no user and is tried again', async (t) => {
  const { keys, said, time } = openIssuer()
  said.problem = 'connection refused'
  await keys.start()
  await t.rejects(async () => keys.find('one', 'ES256'), AWAY)
  said.problem = null
  time.advance(5_000)
  await settle()
  t.equal(await kidOf(keys, 'one'), 'one')
})

t.test('an invalid list of keys leaves the last keys in force', async (t) => {
  const { keys, said, time } = openIssuer()
  await keys.start()
  const bad: readonly (readonly [Partial<typeof said>, RegExp])[] = [
    [{ keys: [] }, /no key/],
    [{ keys: 'none' }, /no list/],
    [{ keys: Array.from({ length: 101 }, () => ONE.jwk) }, /more than 100/],
    [{ discovery: { issuer: 'https://evil.example', jwks_uri: KEYS_URL } }, /does not have the issuer/],
    [{ discovery: { issuer: `${ISSUER}/`, jwks_uri: KEYS_URL } }, /does not have the issuer/],
    [{ discovery: { issuer: ISSUER, jwks_uri: 'http://login.example/keys' } }, /no valid jwks_uri/],
    [{ discovery: { issuer: ISSUER, jwks_uri: 'file:///etc/keys' } }, /no valid jwks_uri/],
    [{ discovery: { issuer: ISSUER } }, /no valid jwks_uri/],
    [{ discovery: null }, /does not have the issuer/],
  ]
  const good = { ...said }
  for (const [change, problem] of bad) {
    Object.assign(said, good, change)
    time.advance(600_000)
    await settle()
    t.match(keys.state().problem, problem)
    t.equal(await kidOf(keys, 'one'), 'one')
    Object.assign(said, good)
    time.advance(5_000)
    await settle()
    t.equal(keys.state().problem, null)
  }
})

t.test('a new configuration continues with the keys that were read before', async (t) => {
  const first = openIssuer()
  await first.keys.start()
  const one = await first.keys.find('one', 'ES256')
  first.keys.close()
  t.equal(first.time.nextMs(), null)
  const next = openIssuer({ keyState: first.keys.keyState })
  t.equal(one !== null && next.keys.has(one), true)
  t.same(next.asked, [])
})

t.test('counting the keys for a check changes no state', async (t) => {
  const { keys } = openIssuer()
  t.equal(await keys.count(100), 1)
  t.equal(keys.state().ageMs, null)
})
