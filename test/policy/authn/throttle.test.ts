import t from 'tap'
import { GatewayError } from '../../../src/errors.ts'
import type { ThrottleOptions } from '../../../src/policy/authn/throttle.ts'
import { createThrottle, networkOf } from '../../../src/policy/authn/throttle.ts'
import type { Schedule } from '../../../src/files/source-state.ts'
import { createFakeTime } from '../../support/fake-time.ts'

const wrong = async () => null
const right = async () => 'mary'
const broken = async () => {
  throw new GatewayError('GW_OVERLOADED')
}

function open(options: ThrottleOptions = {}) {
  const clock = { ms: 0 }
  const waits: number[] = []
  const throttle = createThrottle({
    now: () => clock.ms,
    delay: async (ms) => {
      waits.push(ms)
    },
    spread: () => 0,
    ...options,
  })
  const fail = async (times: number, user: string, address: string) => {
    for (let time = 0; time < times; time += 1) await throttle.attempt({ user, address }, wrong)
  }
  return { clock, waits, throttle, fail }
}

t.test(
  'before a source that locks users, five failures of one from an address close it for that user',
  async (t) => {
    const { clock, throttle, fail } = open({ refusesPairs: true })
    await fail(5, 'mary', '10.0.0.1')
    clock.ms += 10_000
    await t.rejects(throttle.attempt({ user: 'mary', address: '10.0.0.1' }, right), {
      code: 'GW_THROTTLED',
      statusCode: 429,
      retryAfterSeconds: 20,
    })
    clock.ms += 20_000
    t.equal(await throttle.attempt({ user: 'mary', address: '10.0.0.1' }, right), 'mary')
  },
)

t.test('the same user gets in from another address, and another user from the same', async (t) => {
  const { throttle, fail } = open({ refusesPairs: true })
  await fail(5, 'mary', '10.0.0.1')
  t.equal(await throttle.attempt({ user: 'mary', address: '10.0.0.2' }, right), 'mary')
  t.equal(await throttle.attempt({ user: 'demo', address: '10.0.0.1' }, right), 'mary')
})

t.test('nothing is verified for a throttled attempt', async (t) => {
  const { throttle, fail } = open({ refusesPairs: true })
  await fail(5, 'mary', '10.0.0.1')
  let verified = 0
  const counted = async () => {
    verified += 1
    return null
  }
  await t.rejects(throttle.attempt({ user: 'mary', address: '10.0.0.1' }, counted))
  t.equal(verified, 0)
})

t.test('a burst of guesses does not slip through before the first one has failed', async (t) => {
  const { throttle } = open({ refusesPairs: true })
  const burst = Array.from({ length: 20 }, () =>
    throttle.attempt({ user: 'mary', address: '10.0.0.1' }, wrong),
  )
  const refused = (await Promise.allSettled(burst)).filter(({ status }) => status === 'rejected')
  t.equal(refused.length, 15)
})

t.test('successes and errors are no failures', async (t) => {
  const { throttle } = open()
  for (let time = 0; time < 20; time += 1) {
    await throttle.attempt({ user: 'mary', address: '10.0.0.1' }, right)
    await t.rejects(throttle.attempt({ user: 'mary', address: '10.0.0.1' }, broken), {
      code: 'GW_OVERLOADED',
    })
  }
})

/** Attempts at one address on a clock of the test's own, each hash of which takes 20 ms. */
function openInTime(options: ThrottleOptions = {}) {
  const time = createFakeTime()
  const delay = (ms: number) => new Promise<void>((resolve) => void time.schedule(resolve, ms))
  const throttle = createThrottle({ now: time.now, schedule: time.schedule, delay, ...options })
  const refused: string[] = []
  const took: number[] = []
  let wrongVerified = 0
  const attempt = (user: string, isRight: boolean, address = '10.0.0.1') => {
    const begun = time.now()
    const verify = async () => {
      await delay(20)
      if (!isRight) wrongVerified += 1
      return isRight ? user : null
    }
    void throttle
      .attempt({ user, address }, verify)
      .then((who) => who !== null && took.push(time.now() - begun))
      .catch(() => isRight && refused.push(user))
  }
  /** Calls `act` at each 10 ms. */
  const run = async (ms: number, act: (at: number) => void = () => undefined) => {
    for (let at = 0; at < ms; at += 10) {
      act(at)
      time.advance(10)
      await new Promise(setImmediate)
    }
  }
  return { time, attempt, run, refused, took, wrongVerified: () => wrongVerified }
}

const GOOD = ['demo', 'mary', 'anna', 'ben']

for (const [who, nameOf] of [
  ['of names that nobody has', (at: number) => `user${at}`],
  ['of the good callers themselves', (at: number) => GOOD[(at / 250) % GOOD.length] ?? ''],
  ['of one of them', () => 'mary'],
] as const)
  t.test(`beside 4 wrong passwords a second ${who}, nobody with the right one is refused`, async (t) => {
    const { attempt, run, refused, took } = openInTime()
    await run(120_000, (at) => {
      if (at % 250 === 0) attempt(nameOf(at), false)
      if (at % 1000 === 130) for (const user of GOOD) attempt(user, true)
    })
    await run(5_000)
    t.same(refused, [])
    t.equal(took.length, 480)
    // A second of it because somebody guesses this user.
    t.ok(Math.max(...took) < 2_500, `${Math.max(...took)} ms`)
  })

t.test('a hundred good callers who come at once to a busy address are let in', async (t) => {
  const { attempt, run, refused, took } = openInTime()
  await run(1_000, (at) => attempt(`user${at}`, false))
  await run(5_000, (at) => {
    if (at % 250 === 0) attempt(`other${at}`, false)
    if (at === 0) for (let user = 0; user < 100; user += 1) attempt(`good${user}`, true)
  })
  t.same([refused, took.length], [[], 100])
})

t.test('guesses are bounded: five a second of a user, twenty of an address', async (t) => {
  const one = openInTime()
  await one.run(60_000, () => one.attempt('mary', false))
  t.ok(one.wrongVerified() <= 5 + 60 * 5 + 1, `${one.wrongVerified()} of 6,000`)
  const many = openInTime()
  await many.run(60_000, (at) => many.attempt(`user${at}`, false))
  // Each window begins with 50 for nothing.
  t.ok(many.wrongVerified() <= 2 * 55 + 60 * 20, `${many.wrongVerified()} of 6,000`)
  t.ok(many.wrongVerified() > 1_000, 'but not much fewer: a turn is not lost')
})

t.test('a flood of guesses at one user keeps no other user of the address out', async (t) => {
  const { attempt, run, refused, took } = openInTime()
  await run(2_000, (at) => attempt(`user${at}`, false))
  await run(20_000, (at) => {
    for (let guess = 0; guess < 5; guess += 1) attempt('mary', false)
    if (at % 1000 === 0) attempt('demo', true)
  })
  t.same([refused, took.length], [[], 20])
})

t.test('a wrong password costs its sender a second where there were many', async (t) => {
  const { waits, fail } = open()
  await fail(5, 'mary', '10.0.0.1')
  t.same(waits, [])
  await fail(1, 'mary', '10.0.0.1')
  t.same(waits, [1_000])
})

/** Unlike the gateway's own timer it keeps the process alive. */
const schedule: Schedule = (work, ms) => {
  const timer = setTimeout(work, ms)
  return () => clearTimeout(timer)
}

t.test('no more than so many answers are held at once', async (t) => {
  let held = 0
  const delay = () => {
    held += 1
    return new Promise(() => undefined)
  }
  const throttle = createThrottle({ perUserAndAddress: 1, maxHeld: 1, delay, schedule })
  const guess = () => throttle.attempt({ user: 'mary', address: '10.0.0.1' }, wrong)
  t.equal(await guess(), null)
  void guess()
  t.equal(await guess(), null, 'told at once')
  t.equal(held, 1)
})

t.test('a user who is guessed from many addresses waits, and gets in', async (t) => {
  const { waits, throttle, fail } = open()
  for (let address = 0; address < 20; address += 1) await fail(1, 'mary', `10.0.1.${address}`)
  t.same(waits, [])
  t.equal(await throttle.attempt({ user: 'mary', address: '10.0.0.2' }, right), 'mary')
  t.same(waits, [1_000])
})

t.test('no more than so many wait at once', async (t) => {
  const { throttle, fail } = open({
    slowUserAfter: 1,
    maxWaiting: 2,
    delay: () => new Promise(() => undefined),
  })
  await fail(1, 'mary', '10.0.0.1')
  for (const address of ['10.0.0.2', '10.0.0.3']) void throttle.attempt({ user: 'mary', address }, right)
  await t.rejects(throttle.attempt({ user: 'mary', address: '10.0.0.4' }, right), {
    code: 'GW_THROTTLED',
    retryAfterSeconds: 1,
  })
})

t.test('who finds no place to wait is not answered at once, and not with all others', async (t) => {
  const time = createFakeTime()
  const spreads = [0, 0.5, 1]
  const { throttle, fail, waits } = open({
    perAddress: 1,
    now: time.now,
    schedule: time.schedule,
    spread: () => spreads.shift() ?? 0,
  })
  await fail(1, 'mary', '10.0.0.1')
  t.same(waits, [], 'one is no flood')
  await fail(1, 'mary', '10.0.0.1')
  const attempts = Array.from({ length: 27 }, () =>
    throttle.attempt({ user: 'mary', address: '10.0.0.1' }, right),
  )
  for (const attempt of attempts.slice(25)) await t.rejects(attempt, { code: 'GW_THROTTLED' })
  t.same(waits, [1_000, 1_500, 2_000])
  time.advance(60_000)
  t.same(
    await Promise.all(attempts.slice(0, 25)),
    attempts.slice(0, 25).map(() => 'mary'),
  )
})

t.test('counting is bounded: the oldest is forgotten', async (t) => {
  const { throttle, fail } = open({ maxCounted: 2, refusesPairs: true })
  await fail(5, 'mary', '10.0.0.1')
  await fail(1, 'x', '10.0.0.2')
  await fail(1, 'y', '10.0.0.3')
  t.equal(await throttle.attempt({ user: 'mary', address: '10.0.0.1' }, right), 'mary')
})

t.test('an IPv6 subscriber is one address', async (t) => {
  const cases = [
    ['2001:db8:1:2:aaaa:bbbb:cccc:dddd', '2001:db8:1:2::/64'],
    ['2001:0DB8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['10.0.0.1', '10.0.0.1'],
    ['', ''],
  ] as const
  for (const [address, network] of cases) t.equal(networkOf(address), network, address)
})
