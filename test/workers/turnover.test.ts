import t from 'tap'
import { createTurnover } from '../../src/workers/turnover.ts'

const [ONE, TWO] = [{}, {}]

function open() {
  const clock = { nowMs: 0 }
  return { clock, turnover: createTurnover<object>(() => clock.nowMs) }
}

t.test('the rate of a window is the sum of all workers, per second', async (t) => {
  const { clock, turnover } = open()
  t.equal(turnover.note(ONE, 1000), null, 'the first count of a worker is its start')
  t.equal(turnover.note(TWO, 0), null)
  clock.nowMs = 249
  t.equal(turnover.note(ONE, 1060), null)
  clock.nowMs = 500
  t.equal(turnover.note(TWO, 40), 200)
})

t.test('each window begins with zero', async (t) => {
  const { clock, turnover } = open()
  turnover.note(ONE, 0)
  clock.nowMs = 250
  t.equal(turnover.note(ONE, 100), 400)
  clock.nowMs = 500
  t.equal(turnover.note(ONE, 100), 0)
})
