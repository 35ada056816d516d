import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { GatewayError } from '../../../src/errors.ts'
import { createRenewals } from '../../../src/policy/authn/renewals.ts'
import { createRememberedTokens } from '../../../src/policy/authn/token-memory.ts'
import {
  createTokenAuthenticator,
  TOKEN_THROTTLE,
  type TokenIssuer,
  type TokensOptions,
} from '../../../src/policy/authn/tokens.ts'
import { createThrottle } from '../../../src/policy/authn/throttle.ts'
import {
  createVerificationQueue,
  type VerificationQueue,
} from '../../../src/policy/authn/verification-queue.ts'
import { type VerificationKey, verificationKeyOf } from '../../../src/policy/authn/verification-key.ts'
import type { Principal } from '../../../src/request/principal.ts'
import { createFakeTime } from '../../support/fake-time.ts'
import { AUDIENCE, createKey, signToken } from '../../support/token-issuer.ts'

const KEY = await createKey('one')
const STRANGER = await createKey('one')
const ISS = 'https://login.example'
const NOW = Math.floor(Date.now() / 1000)

function open({
  issuer = {},
  users = {},
  ...options
}: Partial<TokensOptions> & {
  readonly issuer?: Partial<TokenIssuer>
  readonly users?: Record<string, Principal>
} = {}) {
  const clock = { ms: 0 }
  /** The clock of the turns only. */
  const time = createFakeTime()
  /** The delays of responses, in milliseconds. */
  const delays: number[] = []
  const results: string[] = []
  const counts = { verified: 0, asked: 0 }
  const held: { keys: VerificationKey[]; isAway: boolean } = { keys: [], isAway: false }
  const own = verificationKeyOf(KEY.jwk)
  if (own !== null) held.keys = [own]
  const current = () => {
    if (held.isAway) throw new GatewayError('GW_RECORDS_UNAVAILABLE')
    return held.keys
  }
  const trusted: TokenIssuer = {
    authentication: { method: 'oidc', issuer: 'company' },
    iss: ISS,
    keys: {
      find: (kid) => current().find((key) => key.kid === kid) ?? null,
      has: (key) => current().includes(key),
    },
    algorithms: new Set(['ES256']),
    types: new Set(['at+jwt', 'jwt']),
    audience: new Set([AUDIENCE]),
    skewSeconds: 0,
    claims: {
      user: ['sub'],
      client: null,
      groups: [['groups']],
      tenants: [],
      required: [],
      kept: [],
      userPrefix: '',
      groupPrefix: '',
    },
    groups: 'token',
    tenants: 'token',
    ...issuer,
  }
  const verificationQueue = createVerificationQueue(2, 4)
  const counted: VerificationQueue = (work, claim) => {
    counts.verified += 1
    return verificationQueue(work, claim)
  }
  const tokens = createTokenAuthenticator({
    engine: 'default',
    issuers: new Map([[ISS, trusted]]),
    source: {
      principalOf: async (userId) => {
        counts.asked += 1
        return users[userId] ?? null
      },
      stampOf: (userId) => users[userId],
    },
    remembered: createRememberedTokens(),
    rememberMs: 60_000,
    rememberSourceMs: 5_000,
    rememberFailuresMs: 5_000,
    renewals: createRenewals({ lastGoodMs: 60_000, now: () => clock.ms, schedule: time.schedule }),
    verificationQueue: counted,
    throttle: createThrottle({
      ...TOKEN_THROTTLE,
      now: time.now,
      schedule: time.schedule,
      delay: async (ms) => void delays.push(ms),
      spread: () => 0,
    }),
    onResult: (result, method) => results.push(`${result} ${method}`),
    now: () => clock.ms,
    nowSeconds: () => NOW + clock.ms / 1000,
    ...options,
  })
  return { tokens, clock, results, counts, held, users, time, delays }
}

const headerOf = async (claims: object = {}, key = KEY) =>
  `Bearer ${await signToken(key, { iss: ISS, iat: NOW, exp: NOW + 300, ...claims })}`
const REFUSED = { code: 'GW_TOKEN_INVALID', statusCode: 401 }
const refusedFor = (fault: string) => ({ ...REFUSED, rule: `token: ${fault}` })

t.test('a verified token is remembered and then accepted at once', async (t) => {
  const { tokens, clock, results, counts } = open()
  const header = await headerOf({ groups: ['a'] })
  const first = await tokens.authenticate(header, '::1')
  t.same(first, {
    userId: 'mary',
    groups: ['a'],
    tenants: [],
    authentication: { method: 'oidc', issuer: 'company' },
  })
  clock.ms = 41_999
  t.equal(tokens.authenticate(header, '::1'), first)
  t.equal(counts.verified, 1)
  clock.ms = 60_000
  await tokens.authenticate(header, '::1')
  t.equal(counts.verified, 2)
  t.same(results, ['verified oidc', 'remembered oidc', 'verified oidc'])
})

t.test('a token is not remembered longer than it is valid', async (t) => {
  const { tokens, clock } = open()
  const header = await headerOf({ exp: NOW + 20 })
  await tokens.authenticate(header, '::1')
  clock.ms = 19_999
  await tokens.authenticate(header, '::1')
  clock.ms = 20_000
  t.throws(() => tokens.authenticate(header, '::1'), refusedFor('expired'))
})

t.test('a token is forgotten with its key and refused while its keys are unavailable', async (t) => {
  const { tokens, held } = open()
  const header = await headerOf()
  await tokens.authenticate(header, '::1')
  held.isAway = true
  t.throws(() => tokens.authenticate(header, '::1'), { code: 'GW_RECORDS_UNAVAILABLE' })
  held.isAway = false
  held.keys = []
  await t.rejects(async () => tokens.authenticate(header, '::1'), refusedFor('key'))
})

t.test('simultaneous requests with one token share its verification', async (t) => {
  const { tokens, counts } = open()
  const header = await headerOf()
  const all = await Promise.all(Array.from({ length: 20 }, async () => tokens.authenticate(header, '::1')))
  t.equal(new Set(all).size, 1)
  t.equal(counts.verified, 1)
})

t.test('a wrong signature is verified once and then remembered for five seconds', async (t) => {
  const { tokens, clock, counts, results } = open()
  const header = await headerOf({}, STRANGER)
  for (const at of [0, 4_999, 5_000]) {
    clock.ms = at
    await t.rejects(async () => tokens.authenticate(header, '::1'), refusedFor('signature'))
  }
  t.equal(counts.verified, 2)
  t.same(new Set(results), new Set(['failed oidc']))
})

t.test('a token that breaks another rule is refused without verifying its signature', async (t) => {
  const { tokens, counts, results } = open()
  const bad = [
    await headerOf({ iss: 'https://evil.example' }),
    await headerOf({ aud: 'x' }),
    await headerOf({ sub: '*' }),
  ]
  for (const header of bad) t.throws(() => tokens.authenticate(header, '::1'), REFUSED)
  t.equal(counts.verified, 0)
  t.same(results, ['failed bearer', 'failed oidc', 'failed oidc'])
})

t.test('after many wrong signatures from an address its tokens are verified in turns', async (t) => {
  const { tokens, clock, results, counts, time, delays } = open()
  const [bad, good, other] = [await headerOf({}, STRANGER), await headerOf(), await headerOf({ sub: 'ben' })]
  t.match(await tokens.authenticate(good, '10.0.0.1'), { userId: 'mary' })
  const guess = async (from: string) => tokens.authenticate(nextWrong(bad), from)
  for (let count = 0; count < 50; count += 1) await t.rejects(guess('10.0.0.1'), refusedFor('signature'))
  t.same(delays, [], 'nobody is slowed down by what is sent in his name')
  await t.rejects(guess('10.0.0.1'), refusedFor('signature'), 'the first turn')
  t.same(delays, [1000])
  counts.verified = 0
  results.length = 0
  const flood = Array.from({ length: 100 }, () => guess('10.0.0.1').catch((error: unknown) => error))
  t.match(tokens.authenticate(good, '10.0.0.1'), { userId: 'mary' }, 'who is known waits for nobody')
  t.match(await tokens.authenticate(await headerOf({ sub: 'anna' }), '10.0.0.2'), { userId: 'anna' })
  t.equal(counts.verified, 1, 'at another address')
  const late = tokens.authenticate(other, '10.0.0.1')
  await wait()
  t.equal(counts.verified, 1)
  // One token in the name of mary, and the token of ben, because users take turns.
  time.advance(10)
  t.match(await late, { userId: 'ben' })
  // The token of ben was valid and released its turn to another one.
  t.ok(counts.verified <= 4, `${counts.verified}`)
  clock.ms = 60_000
  t.match(await tokens.authenticate(good, '10.0.0.1'), { userId: 'mary' }, 'a token that was right before')
  time.advance(1000)
  const codes = (await Promise.all(flood)).map((error) => String(Object(error).code))
  t.equal(codes.filter((code) => code === 'GW_THROTTLED').length, 75)
  t.ok(codes.every((code) => ['GW_THROTTLED', 'GW_TOKEN_INVALID', 'GW_OVERLOADED'].includes(code)))
  t.equal(results.filter((result) => result === 'throttled oidc').length, 75)
  t.ok(delays.length > 75 && delays.every((ms) => ms === 1000), 'none of them is answered at once')
  time.advance(30_000)
  for (let count = 0; count < 10; count += 1) await t.rejects(guess('10.0.0.1'), refusedFor('signature'))
})

t.test('a flood of wrong signatures is bounded and does not block other addresses', async (t) => {
  const { tokens, results } = open()
  const bad = await headerOf({}, STRANGER)
  const good = await headerOf()
  const flood = Promise.allSettled(
    Array.from({ length: 200 }, async () => tokens.authenticate(nextWrong(bad), '10.0.0.1')),
  )
  t.match(await tokens.authenticate(good, '10.0.0.2'), { userId: 'mary' })
  const ends = await flood
  const codes = ends.map((end) => (end.status === 'rejected' ? Object(end.reason).code : 'open'))
  t.same(new Set(codes), new Set(['GW_TOKEN_INVALID', 'GW_OVERLOADED']))
  t.equal(codes.filter((code) => code === 'GW_OVERLOADED').length + results.length, 201)
})

let wrongOnes = 1000

/** Returns a token with the same claims and another signature. */
function nextWrong(bad: string): string {
  const at = bad.lastIndexOf('.') + 10
  wrongOnes += 1
  return `${bad.slice(0, at)}${wrongOnes}${bad.slice(at + 4)}`
}

const MARY: Principal = { userId: 'mary', groups: ['clerks'], tenants: ['acme'] }
const fromSource = { groups: 'both', tenants: 'source' } as const

t.test('groups of the source count for a user that the source has in the same spelling', async (t) => {
  const { tokens, users, clock, counts } = open({ issuer: fromSource, users: { mary: MARY } })
  const header = await headerOf({ groups: ['a', 'clerks'] })
  t.match(await tokens.authenticate(header, '::1'), { groups: ['a', 'clerks'], tenants: ['acme'] })
  users['mary'] = { ...MARY, groups: [] }
  t.match(await tokens.authenticate(header, '::1'), { groups: ['a', 'clerks'] })
  t.equal(counts.asked, 2, 'a change in the source counts at once')
  clock.ms = 5_000
  await tokens.authenticate(header, '::1')
  t.equal(counts.asked, 3, 'and the source is asked again after its own time')
  users['MARY'] = MARY
  await t.rejects(
    async () => tokens.authenticate(await headerOf({ sub: 'MARY' }), '::1'),
    refusedFor('unknown-user'),
  )
  delete users['mary']
  await t.rejects(async () => tokens.authenticate(header, '::1'), refusedFor('unknown-user'))
  const asked = counts.asked
  await t.rejects(async () => tokens.authenticate(header, '::1'), refusedFor('unknown-user'))
  t.equal(counts.asked, asked, 'an unknown user is not asked for again and again')
})

t.test('a token is refused if its source is unavailable', async (t) => {
  const away = new GatewayError('GW_RECORDS_UNAVAILABLE')
  const { tokens } = open({
    issuer: fromSource,
    source: { principalOf: () => Promise.reject(away), stampOf: () => 1 },
  })
  await t.rejects(async () => tokens.authenticate(await headerOf(), '::1'), {
    code: 'GW_RECORDS_UNAVAILABLE',
  })
})

/** Opens an authenticator whose source responds when and how the test says, and verifies a first token. */
async function openWithSource() {
  const pending: PromiseWithResolvers<Principal | null>[] = []
  const opened = open({
    issuer: fromSource,
    source: {
      principalOf: () => {
        const one = Promise.withResolvers<Principal | null>()
        pending.push(one)
        return one.promise
      },
      stampOf: () => 1,
    },
  })
  const header = await headerOf()
  const use = () => {
    const result = (async () => opened.tokens.authenticate(header, '::1'))()
    // A test may look at the result later than it is known.
    result.catch(() => undefined)
    return result
  }
  const isAsked = async () => {
    for (let tries = 0; pending.length === 0 && tries < 1_000; tries += 1) await wait(1)
    if (pending.length === 0) throw new Error('the source was not asked')
  }
  const respond = async (result: Principal | null | Error) => {
    await isAsked()
    const first = pending.shift()
    if (result instanceof Error) first?.reject(result)
    else first?.resolve(result)
    await wait(5)
  }
  const first = use()
  await respond(MARY)
  await first
  return { ...opened, use, respond, isAsked, pending }
}

t.test('a token in use is renewed in the background, with the groups of the source', async (t) => {
  const { use, respond, isAsked, clock, results, pending } = await openWithSource()
  clock.ms = 3_499
  await use()
  t.equal(pending.length, 0)
  clock.ms = 3_500
  for (let count = 0; count < 3; count += 1) t.match(await use(), { groups: ['clerks'] })
  await isAsked()
  t.equal(pending.length, 1)
  await respond({ ...MARY, groups: ['bosses'] })
  clock.ms = 8_499
  t.match(await use(), { groups: ['bosses'] })
  t.same(new Set(results), new Set(['verified oidc', 'remembered oidc']))
})

t.test('a token of a user whom the source removed is refused after its renewal', async (t) => {
  const { use, respond, clock } = await openWithSource()
  clock.ms = 4_000
  await use()
  await respond(null)
  await t.rejects(use(), refusedFor('unknown-user'))
})

t.test('while the source is away, a known token continues until the maximum age', async (t) => {
  const { use, respond, clock, results } = await openWithSource()
  for (clock.ms = 4_000; clock.ms < 60_000; clock.ms += 4_000) {
    t.match(await use(), { groups: ['clerks'] })
    await respond(new GatewayError('GW_NO_NODE'))
  }
  t.equal(results.at(-1), 'expired oidc')
  const refused = use()
  await respond(new GatewayError('GW_NO_NODE'))
  await t.rejects(refused, { code: 'GW_NO_NODE' })
})

t.test(
  'a token that is used again after a pause waits for the source, and continues without it',
  async (t) => {
    const { use, respond, clock, results, held } = await openWithSource()
    clock.ms = 30_000
    const both = [use(), use()]
    await respond(new GatewayError('GW_UPSTREAM_TIMEOUT'))
    t.match(await Promise.all(both), [{ groups: ['clerks'] }, { groups: ['clerks'] }])
    t.same(results.slice(-2), ['expired oidc', 'expired oidc'])
    held.keys = []
    await t.rejects(use(), refusedFor('key'), 'but not without its key')
  },
)

t.test('the late result of a renewal does not replace a later refusal', async (t) => {
  const { use, respond, isAsked, clock, pending } = await openWithSource()
  clock.ms = 4_000
  await use()
  await isAsked()
  const renewal = pending.shift()
  clock.ms = 60_000
  const refused = use()
  await respond(null)
  await t.rejects(refused, refusedFor('unknown-user'))
  renewal?.resolve(MARY)
  await wait(5)
  await t.rejects(use(), refusedFor('unknown-user'))
})

t.test('a token never continues after its expiry', async (t) => {
  const { use, respond, clock } = await openWithSource()
  clock.ms = 4_000
  await use()
  await respond(new GatewayError('GW_NO_NODE'))
  t.match(await use(), { userId: 'mary' })
  clock.ms = 301_000
  await t.rejects(use(), { code: 'GW_TOKEN_INVALID' })
})

t.test('a principal is not remembered if the source changes while it is read', async (t) => {
  const users = { mary: MARY }
  const { tokens, counts } = open({
    issuer: fromSource,
    source: {
      principalOf: async () => {
        counts.asked += 1
        users.mary = counts.asked === 1 ? { ...MARY, groups: ['for a moment'] } : MARY
        return users.mary
      },
      stampOf: () => users.mary,
    },
  })
  const header = await headerOf()
  t.match(await tokens.authenticate(header, '::1'), { groups: ['for a moment'] })
  users.mary = MARY
  t.match(await tokens.authenticate(header, '::1'), { groups: ['clerks'] })
})

t.test('the number of remembered tokens is bounded', async (t) => {
  const remembered = createRememberedTokens(2)
  const { tokens } = open({ remembered })
  for (const sub of ['a', 'b', 'c']) await tokens.authenticate(await headerOf({ sub }), '::1')
  t.equal(remembered.right.size, 2)
  for (const sub of ['a', 'b', 'c'])
    await t.rejects(async () => tokens.authenticate(await headerOf({ sub }, STRANGER), '::1'), REFUSED)
  t.equal(remembered.wrong.size, 2)
  const groups = Array.from({ length: 10 }, (_, at) => `${at}`.repeat(200))
  await tokens.authenticate(await headerOf({ groups }), '::1')
  t.equal(remembered.right.size, 1, 'one with many groups counts for two')
})

t.test('remembered tokens contain no part of the token itself', async (t) => {
  const remembered = createRememberedTokens()
  const { tokens } = open({ remembered })
  const header = await headerOf()
  await tokens.authenticate(header, '::1')
  const [, payload = ''] = header.split('.')
  t.notOk(JSON.stringify([...remembered.right.entries()]).includes(payload))
})
