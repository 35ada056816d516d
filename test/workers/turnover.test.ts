import t from 'tap'
import { createTurnover } from '../../src/workers/turnover.ts'

function open() {
  const clock = { nowMs: 0 }
  return { clock, turnover: createTurnover<string>(() => clock.nowMs) }
}

t.test('the rate of a window is the sum of all workers, per second', async (t) => {
  const { clock, turnover } = open()
  t.equal(turnover.note('one', 1000), null, 'the first count of a worker is its start')
  t.equal(turnover.note('two', 0), null)
  clock.nowMs = 249
  t.equal(turnover.note('one', 1060), null)
  clock.nowMs = 500
  t.equal(turnover.note('two', 40), 200)
})

t.test('each window begins with zero', async (t) => {
  const { clock, turnover } = open()
  turnover.note('one', 0)
  clock.nowMs = 250
  t.equal(turnover.note('one', 100), 400)
  clock.nowMs = 500
  t.equal(turnover.note('one', 100), 0)
})

t.test('a worker that was removed begins with its next count', async (t) => {
  const { clock, turnover } = open()
  turnover.note('one', 500)
  turnover.remove('one')
  turnover.note('one', 0)
  clock.nowMs = 250
  t.equal(turnover.note('one', 25), 100)
})

t.test('a value that is not a number is ignored', async (t) => {
  const { clock, turnover } = open()
  clock.nowMs = 250
  for (const value of [undefined, null, '7']) t.equal(turnover.note('one', value), null)
})
