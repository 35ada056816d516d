import t from 'tap'
import type { LockoutOptions, LoginOutcome } from '../../../src/policy/authn/lockout.ts'
import { isSameName } from '../../../src/request/same-name.ts'
import { createLockout } from '../../../src/policy/authn/lockout.ts'

const THROTTLED = { code: 'GW_THROTTLED', statusCode: 429 }

/** The address of all attempts of a test that names no other one. */
const HOME = '192.0.2.1'

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
  // A real timer may end one millisecond too early.
  const delay = async (ms: number) => void (clock.ms += ms - 1)
  const lockout = createLockout({ now, delay, onOutcome, ...options })
  const attempt = (right: boolean, proven = false, user = 'mary', from = HOME) =>
    lockout.attempt({ user, from, proven }, () => engine.verify(right))
  /** Logs in from an address, as a request does. */
  const logIn = async (right: boolean, from: string, user = 'mary') => {
    await lockout.waitForUnlock({ user, from, proven: false })
    return attempt(right, false, user, from)
  }
  return { clock, engine, told, lockout, attempt, logIn, guess: () => attempt(false) }
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
  const owner = lockout.attempt({ user: 'mary', from: HOME, proven: true }, async () => {
    await guess()
    return engine.verify(true)
  })
  await t.rejects(owner, THROTTLED)
  clock.ms += 3_250
  t.equal(await lockout.attempt({ user: 'mary', from: HOME, proven: true }, () => engine.verify(true)), true)
})

t.test('failures and successes at replicas count here', async (t) => {
  const { clock, engine, lockout, attempt, guess } = open()
  await attempt(false, false, 'ben')
  for (let time = 0; time < 4; time += 1) lockout.count('failed', 'mary')
  clock.ms += 100_000
  await t.rejects(guess(), THROTTLED)
  t.equal(engine.asked, 1)
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
  await t.rejects(lockout.attempt({ user: 'mary', from: HOME, proven: false }, broken), { message: 'away' })
  t.equal(await guess(), false)
})

t.test('another spelling of a user name counts as the same user', async (t) => {
  const { lockout, attempt, guess } = open()
  await guess()
  for (const spelling of ['Mary', 'MARY', 'mary ', 'máry'])
    await t.rejects(attempt(true, false, spelling), THROTTLED)
  t.equal(await lockout.attempt({ user: 'marc', from: HOME, proven: false }, async () => true), true)
  t.equal(isSameName('Jürgen', 'jurgen '), true)
})

t.test('if too many users are counted, the one who failed longest ago is forgotten', async (t) => {
  const { attempt } = open({ maxCounted: 2 })
  for (const user of ['a', 'b', 'c']) await attempt(false, false, user)
  t.equal(await attempt(false, false, 'a').catch(() => 'refused'), false)
  t.equal(await attempt(false, false, 'c').catch(() => 'refused'), 'refused')
})

t.test(
  'after one wrong password, the right one from another address waits for the engine and is accepted',
  async (t) => {
    const { clock, engine, logIn } = open()
    t.equal(await logIn(false, '192.0.2.66'), false)
    clock.ms += 1_000
    t.equal(await logIn(true, '192.0.2.7'), true)
    t.same([clock.ms, engine.asked], [3_250, 2])
  },
)

t.test('an address from which any password was wrong does not wait for the engine', async (t) => {
  const { clock, logIn } = open()
  await logIn(false, '192.0.2.7', 'ben')
  await logIn(false, '192.0.2.66')
  await t.rejects(logIn(true, '192.0.2.7'), { ...THROTTLED, retryAfterSeconds: 4 })
  t.equal(clock.ms, 0)
})

t.test(
  'a longer lock of the engine is refused at once, and so are more attempts than may wait',
  async (t) => {
    const { clock, lockout, logIn } = open({ maxPatient: 0 })
    await logIn(false, '192.0.2.66')
    await t.rejects(logIn(true, '192.0.2.7'), THROTTLED)
    const other = open()
    await other.logIn(false, '192.0.2.66')
    other.clock.ms += 4_000
    await other.logIn(false, '192.0.2.67')
    await t.rejects(other.logIn(true, '192.0.2.7'), { ...THROTTLED, retryAfterSeconds: 7 })
    t.same([clock.ms, other.clock.ms], [0, 4_000])
    await lockout.waitForUnlock({ user: 'ben', from: HOME, proven: false })
    t.equal(clock.ms, 0)
  },
)

t.test('the end of a longer lock is awaited when it is as near as that of the first one', async (t) => {
  const { clock, engine, logIn } = open()
  await logIn(false, '192.0.2.66')
  clock.ms += 4_000
  await logIn(false, '192.0.2.67')
  clock.ms += 2_999
  await t.rejects(logIn(true, '192.0.2.7'), { ...THROTTLED, retryAfterSeconds: 4 })
  t.same([clock.ms, engine.asked], [6_999, 2])
  clock.ms += 1
  t.equal(await logIn(true, '192.0.2.7'), true)
  t.equal(clock.ms, 10_250)
})

/** Lets four wrong passwords from one address reach the engine, and waits until the engine's lock ends. */
async function openPaused() {
  const opened = open()
  for (let time = 0; time < 4; time += 1) {
    await opened.logIn(false, '192.0.2.66')
    opened.clock.ms += 30_000
  }
  return opened
}

t.test(
  'during the pause, the right password from an address that never failed reaches the engine',
  async (t) => {
    const { engine, logIn } = await openPaused()
    await t.rejects(logIn(true, '192.0.2.66'), THROTTLED)
    t.equal(engine.asked, 4)
    t.equal(await logIn(true, '192.0.2.7'), true)
    t.equal(engine.failures, 0)
  },
)

t.test('only one attempt of a pause passes because its address never failed', async (t) => {
  const { clock, engine, logIn } = await openPaused()
  t.equal(await logIn(false, '192.0.2.8'), false)
  clock.ms += 60_000
  for (const address of ['192.0.2.8', '192.0.2.9', '192.0.2.10'])
    await t.rejects(logIn(true, address), THROTTLED)
  t.equal(engine.asked, 5)
})

t.test('guesses for a day, each from a new address, stay below the engine’s tenth failure', async (t) => {
  const { clock, engine, logIn } = open()
  for (let time = 0; time < 8_640; time += 1) {
    await logIn(false, `address ${time}`).catch(() => undefined)
    clock.ms += 10_000
  }
  t.equal(engine.failures, 8)
  await t.rejects(logIn(true, 'another address'), { ...THROTTLED, retryAfterSeconds: 300 })
})
