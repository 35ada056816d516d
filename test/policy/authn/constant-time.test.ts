import t from 'tap'
import { createConstantTime } from '../../../src/policy/authn/constant-time.ts'

const wrong = async () => false

function open(options: Parameters<typeof createConstantTime>[0] = {}) {
  const clock = { ms: 0 }
  const inEvenTime = createConstantTime({
    now: () => clock.ms,
    delay: async (ms) => {
      clock.ms += ms
    },
    ...options,
  })
  /** Returns how long a response takes if the engine takes `engineMs`. */
  const timeOf = async (right: boolean, engineMs: number) => {
    const start = clock.ms
    const result = await inEvenTime(async () => {
      clock.ms += engineMs
      return right
    })
    t.equal(result, right)
    return clock.ms - start
  }
  return { timeOf, inEvenTime }
}

t.test('a failure is reported after a constant time, however fast the engine was', async (t) => {
  const { timeOf } = open()
  for (const engineMs of [0, 1, 7, 30, 50]) t.equal(await timeOf(false, engineMs), 50, `${engineMs} ms`)
})

t.test('a success is reported at once', async (t) => {
  const { timeOf } = open()
  t.equal(await timeOf(true, 3), 3)
})

t.test('the time of a failure grows with the time of successes, up to a second', async (t) => {
  const { timeOf } = open()
  await timeOf(true, 100)
  t.equal(await timeOf(false, 10), 200)
  t.equal(await timeOf(false, 190), 200)
  await timeOf(true, 100_000)
  t.equal(await timeOf(false, 10), 1_000)
})

t.test('a failure that took longer is reported at a later step of the time grid', async (t) => {
  const { timeOf } = open()
  t.equal(await timeOf(false, 51), 100)
  t.equal(await timeOf(false, 999), 1_000)
})

t.test('a failure beyond the bound is refused instead of delayed', async (t) => {
  const { inEvenTime } = open({ maxWaiting: 2, delay: () => new Promise(() => undefined) })
  void inEvenTime(wrong)
  void inEvenTime(wrong)
  await t.rejects(inEvenTime(wrong), { code: 'GW_THROTTLED', retryAfterSeconds: 1 })
  t.equal(await inEvenTime(async () => true), true)
})
