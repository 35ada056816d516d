import t from 'tap'
import { GatewayError } from '../../src/errors.ts'
import type { ThrottleOptions } from '../../src/policy/throttle.ts'
import { createThrottle, networkOf } from '../../src/policy/throttle.ts'

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
    ...options,
  })
  const fail = async (times: number, user: string, address: string) => {
    for (let time = 0; time < times; time += 1) await throttle.attempt({ user, address }, wrong)
  }
  return { clock, waits, throttle, fail }
}

t.test(
  'five failures of a user from an address close it for that user, for the rest of the window',
  async (t) => {
    const { clock, throttle, fail } = open()
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
  const { throttle, fail } = open()
  await fail(5, 'mary', '10.0.0.1')
  t.equal(await throttle.attempt({ user: 'mary', address: '10.0.0.2' }, right), 'mary')
  t.equal(await throttle.attempt({ user: 'demo', address: '10.0.0.1' }, right), 'mary')
})

t.test('nothing is verified for a throttled attempt', async (t) => {
  const { throttle, fail } = open()
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
  const { throttle } = open()
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

t.test('an address that fails for many users is closed for all', async (t) => {
  const { throttle, fail } = open({ perAddress: 10 })
  for (let user = 0; user < 10; user += 1) await fail(1, `user${user}`, '10.0.0.1')
  await t.rejects(throttle.attempt({ user: 'mary', address: '10.0.0.1' }, right), { code: 'GW_THROTTLED' })
  t.equal(await throttle.attempt({ user: 'mary', address: '10.0.0.2' }, right), 'mary')
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

t.test('counting is bounded: the oldest is forgotten', async (t) => {
  const { throttle, fail } = open({ maxCounted: 2 })
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
