import t from 'tap'
import type { LockoutOptions, LoginOutcome } from '../../../src/policy/authn/lockout.ts'
import { isSameName } from '../../../src/request/same-name.ts'
import { createLockout } from '../../../src/policy/authn/lockout.ts'

const THROTTLED = { code: 'GW_THROTTLED', statusCode: 429 }

const broken = () => Promise.reject(new Error('away'))

/** Starts an engine that counts failures as the real engine does. */
function startEngine(now: () => number) {
  const engine = {
    asked: 0,
    failures: 0,
    lockedUntil: 0,
    verify: async (right: boolean) => {
      engine.asked += 1
      if (now() < engine.lockedUntil || engine.failures >= 10) return false
      if (right) engine.failures = 0
      else {
        engine.failures += 1
        engine.lockedUntil = now() + Math.min(3_000 * 2 ** (engine.failures - 1), 60_000)
      }
      return right
    },
  }
  return engine
}

function open(options: LockoutOptions = {}) {
  const clock = { ms: 0 }
  const now = () => clock.ms
  const engine = startEngine(now)
  const told: string[] = []
  const onOutcome = (outcome: LoginOutcome, user: string) => void told.push(`${outcome} ${user}`)
  const lockout = createLockout({ now, onOutcome, ...options })
  const attempt = (right: boolean, proven = false, user = 'mary') =>
    lockout.attempt({ user, proven }, () => engine.verify(right))
  return { clock, engine, told, lockout, attempt, guess: () => attempt(false) }
}

t.test('after a wrong password the right one is accepted when the engine would accept it', async (t) => {
  const { clock, engine, attempt, guess } = open()
  t.equal(await guess(), false)
  clock.ms += 1_000
  await t.rejects(attempt(true), { ...THROTTLED, retryAfterSeconds: 3 })
  t.equal(engine.asked, 1, 'the engine would say no to the right one too')
  clock.ms += 2_250
  t.equal(await attempt(true), true)
})

t.test('a client that guesses for a day stays below the engine’s tenth failure', async (t) => {
  const { clock, engine, guess } = open()
  for (let time = 0; time < 8_640; time += 1) {
    await guess().catch(() => undefined)
    clock.ms += 10_000
  }
  t.equal(engine.failures, 8)
  await t.rejects(guess(), { ...THROTTLED, retryAfterSeconds: 300 })
})

t.test('four guesses reach the engine, and then one in five minutes', async (t) => {
  const { clock, engine, guess } = open()
  for (let second = 0; second < 300; second += 1) {
    await guess().catch(() => undefined)
    clock.ms += 1_000
  }
  t.equal(engine.asked, 4)
  clock.ms += 100_000
  await guess()
  await t.rejects(guess(), THROTTLED)
  t.equal(engine.asked, 5)
})

t.test('while others guess, a proven credential waits no longer than the engine requires', async (t) => {
  const { clock, engine, attempt, guess } = open()
  let waitedMs = 0
  for (let minute = 0; minute < 60; minute += 1) {
    await guess().catch(() => undefined)
    const since = clock.ms
    while (!(await attempt(true, true).catch(() => false))) clock.ms += 50
    waitedMs = Math.max(waitedMs, clock.ms - since)
    clock.ms += 10_000
  }
  t.equal(waitedMs, 3_250)
  t.ok(engine.failures <= 1)
})

t.test('a new success resets both counts, that of a proven credential only the engine’s', async (t) => {
  const { clock, engine, told, attempt, guess } = open()
  const wait = () => (clock.ms += 60_000)
  for (const right of [false, false, false, true]) {
    await attempt(right)
    wait()
  }
  t.same(told, ['failed mary', 'failed mary', 'failed mary', 'succeeded mary'])
  for (let time = 0; time < 4; time += 1) {
    await guess()
    wait()
    await attempt(true, true)
  }
  t.equal(engine.failures, 0)
  const renewed = (count: number) => t.equal(told.filter((one) => one === 'renewed mary').length, count)
  renewed(4)
  await attempt(true, true)
  renewed(4)
  await t.rejects(guess(), THROTTLED, 'four guesses were made')
})

t.test('a success without an earlier failure is not reported', async (t) => {
  const { told, attempt } = open()
  await attempt(true)
  await attempt(true, true)
  t.same(told, [])
})

t.test('only one of several simultaneous guesses reaches the engine', async (t) => {
  const { engine, guess } = open()
  const results = await Promise.allSettled(Array.from({ length: 20 }, guess))
  t.equal(engine.failures, 1)
  t.equal(results.filter(({ status }) => status === 'rejected').length, 19)
})

t.test('a right password that the engine refused due to a simultaneous guess does not count', async (t) => {
  const { clock, engine, lockout, guess } = open()
  const owner = lockout.attempt({ user: 'mary', proven: true }, async () => {
    await guess()
    return engine.verify(true)
  })
  await t.rejects(owner, THROTTLED)
  clock.ms += 3_250
  t.equal(await lockout.attempt({ user: 'mary', proven: true }, () => engine.verify(true)), true)
})

t.test('failures and successes at replicas count here', async (t) => {
  const { clock, engine, lockout, guess } = open()
  for (let time = 0; time < 4; time += 1) lockout.count('failed', 'mary')
  clock.ms += 100_000
  await t.rejects(guess(), THROTTLED)
  t.equal(engine.asked, 0)
  lockout.count('succeeded', 'mary')
  t.equal(await guess(), false)
})

t.test('after an unlock the count starts again from zero', async (t) => {
  const { clock, lockout, guess } = open({ maxFailures: 1 })
  await guess()
  clock.ms += 10_000
  await t.rejects(guess(), THROTTLED)
  lockout.count('succeeded', 'mary')
  t.equal(await guess(), false)
})

t.test('an error of the engine does not count as a failure', async (t) => {
  const { lockout, guess } = open()
  await t.rejects(lockout.attempt({ user: 'mary', proven: false }, broken), { message: 'away' })
  t.equal(await guess(), false)
})

t.test('another spelling of a user name counts as the same user', async (t) => {
  const { lockout, attempt, guess } = open()
  await guess()
  for (const spelling of ['Mary', 'MARY', 'mary ', 'máry'])
    await t.rejects(attempt(true, false, spelling), THROTTLED)
  t.equal(await lockout.attempt({ user: 'marc', proven: false }, async () => true), true)
  t.equal(isSameName('Jürgen', 'jurgen '), true)
})

t.test('if too many users are counted, the one who failed longest ago is forgotten', async (t) => {
  const { attempt } = open({ maxCounted: 2 })
  for (const user of ['a', 'b', 'c']) await attempt(false, false, user)
  t.equal(await attempt(false, false, 'a').catch(() => 'refused'), false)
  t.equal(await attempt(false, false, 'c').catch(() => 'refused'), 'refused')
})
