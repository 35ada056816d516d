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
  'if the source locks users, five failures from one address refuse that user at this address',
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

t.test('the same user is accepted at another address, and another user at the same address', async (t) => {
  const { throttle, fail } = open({ refusesPairs: true })
  await fail(5, 'mary', '10.0.0.1')
  t.equal(await throttle.attempt({ user: 'mary', address: '10.0.0.2' }, right), 'mary')
  t.equal(await throttle.attempt({ user: 'demo', address: '10.0.0.1' }, right), 'mary')
})

t.test('a refused attempt is not verified', async (t) => {
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

t.test('attempts in flight count, so a burst of guesses does not pass before the first fails', async (t) => {
  const { throttle } = open({ refusesPairs: true })
  const burst = Array.from({ length: 20 }, () =>
    throttle.attempt({ user: 'mary', address: '10.0.0.1' }, wrong),
  )
  const refused = (await Promise.allSettled(burst)).filter(({ status }) => status === 'rejected')
  t.equal(refused.length, 15)
})

t.test('successes and errors do not count as failures', async (t) => {
  const { throttle } = open()
  for (let time = 0; time < 20; time += 1) {
    await throttle.attempt({ user: 'mary', address: '10.0.0.1' }, right)
    await t.rejects(throttle.attempt({ user: 'mary', address: '10.0.0.1' }, broken), {
      code: 'GW_OVERLOADED',
    })
  }
})

/** Opens attempts at one address, with a clock of the test. Each hash takes 20 ms. */
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
  /** Calls `act` every 10 ms. */
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
  t.test(`no right password is refused during 4 wrong passwords a second ${who}`, async (t) => {
    const { attempt, run, refused, took } = openInTime()
    await run(120_000, (at) => {
      if (at % 250 === 0) attempt(nameOf(at), false)
      if (at % 1000 === 130) for (const user of GOOD) attempt(user, true)
    })
    await run(5_000)
    t.same(refused, [])
    t.equal(took.length, 480)
    // One second of this is the delay for a user whose password is being guessed.
    t.ok(Math.max(...took) < 2_500, `${Math.max(...took)} ms`)
  })

t.test('a hundred right passwords that arrive at once from a busy address are accepted', async (t) => {
  const { attempt, run, refused, took } = openInTime()
  await run(1_000, (at) => attempt(`user${at}`, false))
  await run(5_000, (at) => {
    if (at % 250 === 0) attempt(`other${at}`, false)
    if (at === 0) for (let user = 0; user < 100; user += 1) attempt(`good${user}`, true)
  })
  t.same([refused, took.length], [[], 100])
})

t.test('guesses are bounded to five a second for a user and twenty for an address', async (t) => {
  const one = openInTime()
  await one.run(60_000, () => one.attempt('mary', false))
  t.ok(one.wrongVerified() <= 5 + 60 * 5 + 1, `${one.wrongVerified()} of 6,000`)
  const many = openInTime()
  await many.run(60_000, (at) => many.attempt(`user${at}`, false))
  // The first 50 failures of each window are not slowed down.
  t.ok(many.wrongVerified() <= 2 * 55 + 60 * 20, `${many.wrongVerified()} of 6,000`)
  t.ok(many.wrongVerified() > 1_000, 'but not much fewer: a turn is not lost')
})

t.test('a flood of guesses for one user does not block other users of the address', async (t) => {
  const { attempt, run, refused, took } = openInTime()
  await run(2_000, (at) => attempt(`user${at}`, false))
  await run(20_000, (at) => {
    for (let guess = 0; guess < 5; guess += 1) attempt('mary', false)
    if (at % 1000 === 0) attempt('demo', true)
  })
  t.same([refused, took.length], [[], 20])
})

t.test('after many failures the response to a wrong password is delayed by a second', async (t) => {
  const { waits, fail } = open()
  await fail(5, 'mary', '10.0.0.1')
  t.same(waits, [])
  await fail(1, 'mary', '10.0.0.1')
  t.same(waits, [1_000])
})

/** Schedules a timer that keeps the process alive, unlike the timer of the gateway. */
const schedule: Schedule = (work, ms) => {
  const timer = setTimeout(work, ms)
  return () => clearTimeout(timer)
}

t.test('the number of delayed responses is bounded', async (t) => {
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

t.test('a user who is guessed from many addresses is delayed and then accepted', async (t) => {
  const { waits, throttle, fail } = open()
  for (let address = 0; address < 20; address += 1) await fail(1, 'mary', `10.0.1.${address}`)
  t.same(waits, [])
  t.equal(await throttle.attempt({ user: 'mary', address: '10.0.0.2' }, right), 'mary')
  t.same(waits, [1_000])
})

t.test('the number of delayed attempts is bounded', async (t) => {
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

t.test('refusals of a full queue are delayed by different times', async (t) => {
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

t.test('the number of counts is bounded, and the oldest is removed', async (t) => {
  const { throttle, fail } = open({ maxCounted: 2, refusesPairs: true })
  await fail(5, 'mary', '10.0.0.1')
  await fail(1, 'x', '10.0.0.2')
  await fail(1, 'y', '10.0.0.3')
  t.equal(await throttle.attempt({ user: 'mary', address: '10.0.0.1' }, right), 'mary')
})

t.test('all addresses of an IPv6 /64 network count as one address', async (t) => {
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
