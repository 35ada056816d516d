import t from 'tap'
import { createBackOff } from '../../src/workers/back-off.ts'

t.test('the first restart is immediate, and later delays double up to a limit', async (t) => {
  const backOff = createBackOff()
  const waits = Array.from({ length: 9 }, () => backOff(10))
  t.same(waits, [0, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
})

t.test('a worker that ran long enough resets the delay', async (t) => {
  const backOff = createBackOff()
  t.same([backOff(10), backOff(10), backOff(29_999)], [0, 500, 1000])
  t.same([backOff(30_000), backOff(10)], [0, 500])
})

t.test('the back-off never exceeds its limit', async (t) => {
  const backOff = createBackOff()
  for (let count = 0; count < 2000; count += 1) backOff(0)
  t.equal(backOff(0), 30_000)
})
