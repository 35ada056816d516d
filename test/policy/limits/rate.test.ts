import t from 'tap'
import { clockAt } from '../../support/cache-harness.ts'
import {
  createGcraLimiter,
  createTakeRate,
  type Rate,
  rateHeadersOf,
  rateLimited,
  consume,
} from '../../../src/policy/limits/rate.ts'

/** One request per 100 ms, with a burst of three. */
const RATE: Rate = { requests: 600, perMs: 60_000, burst: 3 }

/** Returns how many of `count` successive requests are admitted. */
function admittedOf(rate: Rate, count: number): number {
  let [admitted, debtMs] = [0, 0]
  for (let index = 0; index < count; index += 1) {
    const spent = consume(rate, debtMs)
    debtMs = spent.debtMs
    admitted += Number(spent.admitted)
  }
  return admitted
}

t.test('the burst is admitted at once, and nothing beyond it', (t) => {
  t.equal(admittedOf(RATE, 10), 3)
  t.equal(admittedOf({ requests: 7, perMs: 60_000, burst: 7 }, 10), 7, 'intervals that are no whole number')
  t.equal(admittedOf({ requests: 999_983, perMs: 1000, burst: 999_983 }, 1_000_100), 999_983)
  t.end()
})

t.test('a refused request costs nothing', (t) => {
  const spent = consume(RATE, 300)
  t.same(spent, { admitted: false, debtMs: 300 })
  t.equal(consume(RATE, 300 - 100).admitted, true)
  t.end()
})

t.test('in any period at most the rate and one burst are admitted', (t) => {
  const clock = clockAt(0)
  const limiter = createGcraLimiter({ now: clock.now })
  let admitted = 0
  for (; clock.nowMs < 10_000; clock.nowMs += 7) admitted += Number(limiter.consume('mary', RATE).admitted)
  t.ok(admitted >= 100 && admitted <= 103, `${admitted}`)
  t.end()
})

t.test('the remaining requests and the time to the full burst are whole numbers in the headers', (t) => {
  const first = consume(RATE, 0)
  t.same(rateHeadersOf(RATE, first), {
    'ratelimit-policy': '"default";q=600;w=60',
    ratelimit: '"default";r=2;t=1',
  })
  t.match(rateHeadersOf(RATE, consume(RATE, 300)), { ratelimit: '"default";r=0;t=1' })
  t.match(rateHeadersOf(RATE, { admitted: true, debtMs: 0 }), { ratelimit: '"default";r=3;t=0' })
  t.end()
})

t.test('a refused request may be retried when one request is admitted, not the whole burst', (t) => {
  const slow: Rate = { requests: 6, perMs: 60_000, burst: 3 }
  const refusal = rateLimited(slow, consume(slow, 30_000))
  t.match(refusal, { code: 'GW_RATE_LIMITED', statusCode: 429, retryAfterSeconds: 10 })
  t.equal(rateLimited(slow, consume(slow, 20_001)).retryAfterSeconds, 1)
  t.end()
})

t.test('after a change of the rate the debt is at most the new burst', (t) => {
  const clock = clockAt(0)
  const limiter = createGcraLimiter({ now: clock.now })
  const hourly: Rate = { requests: 1, perMs: 3_600_000, burst: 1 }
  limiter.consume('mary', hourly)
  t.equal(limiter.consume('mary', hourly).admitted, false)
  t.same(limiter.consume('mary', RATE), { admitted: false, debtMs: 300 })
  clock.nowMs = 100
  t.equal(limiter.consume('mary', RATE).admitted, true)
  t.end()
})

t.test('the user without a request for the longest time is forgotten first', (t) => {
  const limiter = createGcraLimiter({ max: 2, now: () => 0 })
  const one: Rate = { requests: 1, perMs: 1000, burst: 1 }
  const admitted = (user: string) => limiter.consume(user, one).admitted
  t.same(['anna', 'ben', 'anna', 'mary'].map(admitted), [true, true, false, true])
  t.equal(admitted('anna'), false, 'asked after ben')
  t.equal(admitted('ben'), true, 'was forgotten')
  t.end()
})

t.test('users and engines have separate limits', (t) => {
  const limiter = createGcraLimiter({ now: () => 0 })
  const one: Rate = { requests: 1, perMs: 1000, burst: 1 }
  const takeOf = (engine: string) => createTakeRate({ engine, rateOf: () => one, limiter, shared: null })
  const [a, b] = [takeOf('a'), takeOf('b')]
  for (const first of [a('mary'), a('anna'), b('mary')]) t.match(first, { refusal: null })
  t.match(a('mary'), { refusal: { code: 'GW_RATE_LIMITED' } })
  t.end()
})

t.test('a user without a limit is admitted at once, without rate headers', (t) => {
  const take = createTakeRate({
    engine: 'default',
    rateOf: (user) => (user === 'worker' ? null : RATE),
    limiter: createGcraLimiter(),
    shared: () => Promise.reject(new Error('was asked')),
  })
  t.equal(take('worker'), null)
  t.end()
})

t.test('if the shared count is unavailable, this process continues from the last known one', async (t) => {
  const answers = [{ admitted: true, debtMs: 250 }, null, null]
  const take = createTakeRate({
    engine: 'default',
    rateOf: () => RATE,
    limiter: createGcraLimiter({ now: () => 0 }),
    shared: async () => answers.shift() ?? null,
  })
  t.match(await take('mary'), { refusal: null, headers: { ratelimit: '"default";r=0;t=1' } })
  t.match(await take('mary'), { refusal: { code: 'GW_RATE_LIMITED' } })
})

t.test('the rate of a rule replaces the rate of the user, and its requests are counted separately', (t) => {
  const rate = { requests: 1, perMs: 60_000, burst: 1 }
  const take = createTakeRate({
    engine: 'default',
    rateOf: () => rate,
    limiter: createGcraLimiter({ now: () => 0 }),
    shared: null,
  })
  const twice = { rate: { ...rate, requests: 2, burst: 2 }, counter: '\0ceiling:0' }
  const isAdmitted = (rule: typeof twice | null) => {
    const taken = take('mary', rule)
    return taken !== null && !(taken instanceof Promise) && taken.refusal === null
  }
  t.same([isAdmitted(null), isAdmitted(null)], [true, false])
  t.same([isAdmitted(twice), isAdmitted(twice), isAdmitted(twice)], [true, true, false])
  t.equal(isAdmitted({ ...twice, counter: '\0ceiling:1' }), true, 'another rule has another counter')
  t.end()
})
