import t from 'tap'
import { GatewayError, type GatewayCode } from '../../../src/errors.ts'
import { createRenewals, type RenewalResult, type RenewalState } from '../../../src/policy/authn/renewals.ts'
import { createFakeTime } from '../../support/fake-time.ts'

const LAST_GOOD_MS = 300_000

function open() {
  const time = createFakeTime()
  const results: RenewalResult[] = []
  const { now, schedule } = time
  const renewals = createRenewals({
    lastGoodMs: LAST_GOOD_MS,
    now,
    schedule,
    onResult: (result) => results.push(result),
  })
  return { renewals, time, results }
}

const newEntry = (): RenewalState => ({ isRunning: false, notBeforeMs: 0 })
/** Lets all asynchronous work that can continue do so. */
const settle = () => new Promise((resolve) => setImmediate(resolve))
const endless = () => Promise.withResolvers<'renewed'>().promise
const failWith = (code: GatewayCode) => () => Promise.reject(new GatewayError(code))

t.test('one renewal of an entry runs at a time, and its entry is usable until it ends', async (t) => {
  const { renewals, results } = open()
  const entry = newEntry()
  const renewal = Promise.withResolvers<'renewed'>()
  let begun = 0
  const renew = () => {
    begun += 1
    return renewal.promise
  }
  t.equal(renewals.isUsable(entry, 5_000), false)
  renewals.begin(entry, renew)
  renewals.begin(entry, renew)
  t.equal(begun, 1)
  t.equal(renewals.isUsable(entry, 5_000), true)
  t.equal(renewals.isUsable(newEntry(), 5_000), false, 'other entries are not')
  t.equal(renewals.isUsable(entry, LAST_GOOD_MS), false, 'never for longer than the maximum age')
  renewal.resolve('renewed')
  await settle()
  t.equal(renewals.isUsable(entry, 5_000), false)
  t.same(results, ['renewed'])
})

t.test('at most sixteen renewals run at a time', async (t) => {
  const { renewals } = open()
  const entries = Array.from({ length: 20 }, newEntry)
  for (const entry of entries) renewals.begin(entry, endless)
  t.equal(entries.filter(({ isRunning }) => isRunning).length, 16)
})

t.test('a renewal that fails is repeated after a second, and all entries are usable for five', async (t) => {
  for (const code of ['GW_NO_NODE', 'GW_UPSTREAM_TIMEOUT', 'GW_UPSTREAM_INVALID', 'GW_OVERLOADED'] as const) {
    const { renewals, time, results } = open()
    const entry = newEntry()
    renewals.begin(entry, failWith(code))
    await settle()
    t.same(results, ['failed'], code)
    renewals.begin(entry, failWith(code))
    time.advance(999)
    renewals.begin(entry, failWith(code))
    t.equal(entry.isRunning, false)
    t.equal(renewals.isUsable(newEntry(), 60_000), true)
    time.advance(4_001)
    t.equal(renewals.isUsable(newEntry(), 60_000), false)
    renewals.begin(entry, async () => 'renewed')
    await settle()
    t.same(results, ['failed', 'renewed'])
  }
})

t.test('a refusal for another reason makes no entry usable', async (t) => {
  for (const error of [
    new GatewayError('GW_THROTTLED'),
    new GatewayError('GW_INTERNAL'),
    new TypeError('a mistake'),
  ]) {
    const { renewals, results } = open()
    renewals.begin(newEntry(), () => Promise.reject(error))
    await settle()
    t.same(results, ['failed'])
    t.equal(renewals.isUsable(newEntry(), 60_000), false)
    await t.rejects(
      renewals.orLastGood(newEntry(), Promise.reject(error), () => 'last'),
      error,
    )
  }
})

t.test('a response of the source ends the use of expired entries', async (t) => {
  const { renewals } = open()
  renewals.begin(newEntry(), failWith('GW_NO_NODE'))
  await settle()
  renewals.begin(newEntry(), async () => 'refused')
  await settle()
  t.equal(renewals.isUsable(newEntry(), 60_000), false)
})

t.test('while a verification has had no response for three seconds, all entries are usable', async (t) => {
  const { renewals, time } = open()
  const renewal = Promise.withResolvers<'renewed'>()
  renewals.begin(newEntry(), () => renewal.promise)
  time.advance(2_999)
  t.equal(renewals.isUsable(newEntry(), 60_000), false)
  time.advance(1)
  t.equal(renewals.isUsable(newEntry(), 60_000), true)
  time.advance(60_000)
  t.equal(renewals.isUsable(newEntry(), 60_000), true)
  renewal.resolve('renewed')
  await settle()
  t.equal(renewals.isUsable(newEntry(), 60_000), false)
})

t.test('a request waits three seconds for a verification, and then gets the last result', async (t) => {
  const { renewals, time } = open()
  const entry = newEntry()
  const verification = Promise.withResolvers<string>()
  const result = renewals.orLastGood(entry, verification.promise, () => 'last')
  time.advance(2_999)
  await settle()
  t.equal(entry.isRunning, false, 'other requests wait for the same verification')
  time.advance(1)
  t.equal(await result, 'last')
  t.equal(entry.isRunning, true, 'no other verification of the entry begins')
  verification.resolve('late')
  await settle()
  t.equal(entry.isRunning, false)
})

t.test('a request gets the result of a verification that ends in time', async (t) => {
  const { renewals } = open()
  t.equal(await renewals.orLastGood(newEntry(), Promise.resolve('new'), () => 'last'), 'new')
  const failed = failWith('GW_NO_NODE')
  t.equal(await renewals.orLastGood<string>(newEntry(), failed(), () => 'last'), 'last')
  await t.rejects(
    renewals.orLastGood<string>(newEntry(), failed(), () => null),
    { code: 'GW_NO_NODE' },
  )
})

t.test('a request that does not wait for a renewal does not end it', async (t) => {
  const { renewals } = open()
  const entry = newEntry()
  renewals.begin(entry, endless)
  await renewals.orLastGood(entry, Promise.resolve('new'), () => 'last')
  t.equal(entry.isRunning, true)
})

t.test('without a maximum age no expired entry is usable', async (t) => {
  const renewals = createRenewals()
  const entry = newEntry()
  renewals.begin(entry, () => Promise.withResolvers<'renewed'>().promise)
  t.equal(renewals.isUsable(entry, 0), false)
})
