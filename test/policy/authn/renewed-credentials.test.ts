import t from 'tap'
import { GatewayError } from '../../../src/errors.ts'
import type { Principal } from '../../../src/request/principal.ts'
import { createAuthenticator, type AuthenticatorOptions } from '../../../src/policy/authn/authenticate.ts'
import type { Proof } from '../../../src/policy/authn/identity-source.ts'
import { createRenewals, type RenewalResult } from '../../../src/policy/authn/renewals.ts'
import { createFakeTime } from '../../support/fake-time.ts'

const HOME = '10.0.0.1'
const HEADER = `Basic ${btoa('mary:secret')}`
const UNAUTHORIZED = { name: 'EngineRefusal', statusCode: 401 }
const MARY: Principal = { userId: 'mary', groups: ['clerks'], tenants: [] }
const LAST_GOOD_MS = 60_000

/** An authenticator that remembers credentials for five seconds, in front of a source whose responses the test decides. */
function open(options: Partial<AuthenticatorOptions> = {}) {
  const time = createFakeTime()
  const stamp = { now: {} }
  const results: string[] = []
  const renewals: RenewalResult[] = []
  const proofs: Proof[] = []
  const pending: PromiseWithResolvers<Principal | null>[] = []
  const ask = (): Promise<Principal | null> => {
    const one = Promise.withResolvers<Principal | null>()
    pending.push(one)
    return one.promise
  }
  const { now, schedule } = time
  const authenticator = createAuthenticator({
    engine: 'default',
    source: {
      verify: (proof) => {
        proofs.push(proof)
        return ask()
      },
      principalOf: ask,
      stampOf: () => stamp.now,
      noticesAll: false,
    },
    now,
    ttlMs: 5_000,
    renewals: createRenewals({
      lastGoodMs: LAST_GOOD_MS,
      now,
      schedule,
      onResult: (result) => renewals.push(result),
    }),
    onResult: (result) => results.push(result),
    ...options,
  })
  const use = (header = HEADER) => {
    const result = (async () => authenticator.authenticate(header, HOME))()
    // A test may look at the result later than it is known.
    result.catch(() => undefined)
    return result
  }
  /** Ends the verification that began first. */
  const respond = async (result: Principal | null | Error) => {
    const first = pending.shift()
    if (result instanceof Error) first?.reject(result)
    else first?.resolve(result)
    await settle()
  }
  const logIn = async () => {
    const first = use()
    await respond(MARY)
    return first
  }
  return {
    authenticator,
    time,
    stamp,
    results,
    renewals,
    proofs,
    pending,
    use,
    respond,
    logIn,
  }
}

/** Lets all asynchronous work that can continue do so. */
const settle = () => new Promise((resolve) => setImmediate(resolve))
const away = () => new GatewayError('GW_NO_NODE')

t.test('a credential that is used after 70 % of its time is renewed, and no request waits', async (t) => {
  const { use, time, logIn, proofs, pending, respond, renewals, results } = open()
  await logIn()
  time.advance(3_499)
  await use()
  t.equal(proofs.length, 1)
  time.advance(1)
  for (let count = 0; count < 3; count += 1) t.match(await use(), MARY)
  t.equal(proofs.length, 2, 'by one verification')
  t.match(proofs[1], { user: 'mary', password: 'secret', proven: true, inBackground: true })
  time.advance(800)
  await respond({ ...MARY, groups: ['bosses'] })
  t.match(await use(), { groups: ['bosses'] }, 'with the groups of the source')
  t.equal(pending.length, 0)
  time.advance(3_400)
  t.match(await use(), { groups: ['bosses'] })
  t.same(renewals, ['renewed'])
  t.same(results, [
    'verified',
    'remembered',
    'remembered',
    'remembered',
    'remembered',
    'remembered',
    'remembered',
  ])
})

t.test('the age of a renewed credential counts from the beginning of its renewal', async (t) => {
  const { use, time, logIn, pending, respond } = open()
  await logIn()
  time.advance(4_000)
  await use()
  time.advance(1_400)
  await respond(MARY)
  time.advance(2_100)
  await use()
  t.equal(pending.length, 1, 'the next renewal begins 3.5 s later')
  await respond(MARY)
  time.advance(5_000)
  const waiting = use()
  t.equal(pending.length, 1)
  await respond(null)
  await t.rejects(waiting, UNAUTHORIZED, 'a credential that was not used expires as before')
})

t.test('a renewal that takes longer than the rest of the time stops no request', async (t) => {
  const { use, time, logIn, pending, respond, results } = open()
  await logIn()
  time.advance(4_999)
  await use()
  time.advance(2_000)
  t.match(await use(), MARY)
  t.equal(results.at(-1), 'expired')
  t.equal(pending.length, 1)
  await respond(MARY)
  await use()
  t.equal(results.at(-1), 'remembered')
  t.equal(pending.length, 0, 'the credential is fresh, although its renewal was slow')
})

t.test('a credential that is wrong at its renewal is refused at once', async (t) => {
  const { use, time, logIn, proofs, respond, renewals } = open()
  await logIn()
  time.advance(4_000)
  await use()
  await respond(null)
  await t.rejects(use(), UNAUTHORIZED)
  t.equal(proofs.length, 2, 'and the refusal is remembered')
  t.same(renewals, ['refused'])
})

t.test('a user who changes during the renewal is verified again', async (t) => {
  const { use, time, logIn, stamp, respond, pending } = open()
  await logIn()
  time.advance(4_000)
  await use()
  stamp.now = {}
  const waiting = use()
  t.equal(pending.length, 2)
  await respond(MARY)
  t.equal(pending.length, 1, 'the result of the renewal is not used')
  await respond(null)
  await t.rejects(waiting, UNAUTHORIZED)
})

t.test('while the source is away, a known user continues until the maximum age', async (t) => {
  const { use, time, logIn, respond, results, pending } = open()
  await logIn()
  for (let second = 1; second < 60; second += 1) {
    time.advance(1_000)
    t.match(await use(), MARY, `after ${second} s`)
    if (pending.length > 0) await respond(away())
  }
  t.equal(results.filter((result) => result === 'verified').length, 1)
  t.equal(results.at(-1), 'expired')
  time.advance(1_000)
  const waiting = use()
  await respond(away())
  await t.rejects(waiting, { code: 'GW_NO_NODE' })
})

t.test('while the source hangs, a known user continues until the maximum age', async (t) => {
  const { use, time, logIn, pending, respond } = open()
  await logIn()
  time.advance(4_000)
  for (let second = 4; second < 60; second += 1) {
    t.match(await use(), MARY, `after ${second} s`)
    time.advance(1_000)
  }
  t.equal(pending.length, 1)
  const waiting = use()
  t.equal(pending.length, 2)
  await respond(MARY)
  await respond(MARY)
  t.match(await waiting, MARY)
})

t.test('the late result of a renewal does not replace a later refusal', async (t) => {
  const { use, time, logIn, pending, respond } = open()
  await logIn()
  time.advance(4_000)
  await use()
  const renewal = pending.shift()
  time.advance(LAST_GOOD_MS)
  const refused = use()
  await respond(null)
  await t.rejects(refused, UNAUTHORIZED)
  renewal?.resolve(MARY)
  await settle()
  await t.rejects(use(), UNAUTHORIZED)
})

t.test('a known user who returns waits for the verification', async (t) => {
  const { use, time, logIn, pending, respond, results } = open()
  await logIn()
  time.advance(30_000)
  const refused = use()
  await respond(null)
  await t.rejects(refused, UNAUTHORIZED, 'and is refused if the credential is wrong')
  time.advance(5_000)
  await logIn()
  time.advance(30_000)
  const [one, other] = [use(), use()]
  await respond(away())
  t.match(await Promise.all([one, other]), [MARY, MARY], 'and continues if the source is away')
  t.same(results.slice(-2), ['expired', 'expired'])
  time.advance(20_000)
  const slow = use()
  time.advance(3_000)
  t.match(await slow, MARY, 'and continues after three seconds if the source hangs')
  t.equal(pending.length, 1)
})

t.test('a user who has changed does not continue while the source is away', async (t) => {
  const { use, time, logIn, respond, stamp } = open()
  await logIn()
  time.advance(4_000)
  await use()
  await respond(away())
  t.match(await use(), MARY)
  stamp.now = {}
  const waiting = use()
  await respond(away())
  await t.rejects(waiting, { code: 'GW_NO_NODE' })
})

t.test('a user whom the gateway does not know is refused while the source is away', async (t) => {
  const { use, time, logIn, respond } = open()
  await logIn()
  time.advance(4_000)
  await use()
  await respond(away())
  const waiting = use(`Basic ${btoa('mary:other')}`)
  await respond(away())
  await t.rejects(waiting, { code: 'GW_NO_NODE' })
})

t.test('a renewal that the source throttles leaves the credential its time', async (t) => {
  const { use, time, logIn, respond } = open()
  await logIn()
  time.advance(4_000)
  await use()
  await respond(new GatewayError('GW_THROTTLED'))
  t.match(await use(), MARY)
  time.advance(1_000)
  const waiting = use()
  await respond(new GatewayError('GW_THROTTLED'))
  await t.rejects(waiting, { code: 'GW_THROTTLED' })
})

t.test('without a time to remember, no credential is renewed or used again', async (t) => {
  const { use, logIn, respond, pending, results } = open({ ttlMs: 0 })
  await logIn()
  const waiting = use()
  t.equal(pending.length, 1)
  await respond(away())
  await t.rejects(waiting, { code: 'GW_NO_NODE' })
  t.same(results, ['verified'])
})

t.test('the user of a certificate is renewed in the background, too', async (t) => {
  const { authenticator, time, respond, pending, results } = open()
  const use = async () => authenticator.authenticateUser('mary')
  const first = use()
  await respond(MARY)
  await first
  time.advance(4_000)
  t.match(await use(), MARY)
  t.equal(pending.length, 1)
  time.advance(2_000)
  t.match(await use(), MARY)
  await respond(null)
  await t.rejects(use(), UNAUTHORIZED)
  t.same(results, ['verified', 'remembered', 'expired', 'failed'])
})
