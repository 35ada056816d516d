import t from 'tap'
import { FloodGuard } from '../../src/redis/flood-guard.ts'

const LIMITS = { maxInvalid: 3, windowMs: 100, pauseMs: 1000 }

function open() {
  const clock = { nowMs: 0 }
  const guard = new FloodGuard({ ...LIMITS, now: () => clock.nowMs })
  const addAt = (nowMs: number): boolean => {
    clock.nowMs = nowMs
    return guard.add()
  }
  const nextAt = (nowMs: number): string => {
    clock.nowMs = nowMs
    return guard.next()
  }
  return { guard, addAt, nextAt }
}

t.test('more invalid messages in one window than the limit begin a pause', async (t) => {
  const { guard, addAt } = open()
  t.same([0, 10, 99].map(addAt), [false, false, false])
  t.equal(guard.isFlooded, false)
  t.equal(addAt(99), true)
  t.same([guard.isPaused, guard.isFlooded], [true, true])
  t.equal(addAt(99), false, 'a pause begins once')
})

t.test('as many messages in two windows are no flood', async (t) => {
  const { guard, addAt } = open()
  t.same([0, 50, 99, 100, 150, 199].map(addAt), Array(6).fill(false))
  t.equal(guard.isFlooded, false)
})

t.test('after a pause, one window without a flood ends it', async (t) => {
  const { guard, addAt, nextAt } = open()
  for (const nowMs of [0, 0, 0, 0]) addAt(nowMs)
  t.equal(nextAt(999), 'none')
  t.equal(nextAt(1000), 'subscribe')
  t.same([guard.isPaused, guard.isFlooded], [false, true])
  t.same([1010, 1020, 1030].map(addAt), [false, false, false])
  t.equal(nextAt(1099), 'none')
  t.equal(nextAt(1100), 'recovered')
  t.equal(guard.isFlooded, false)
  t.equal(nextAt(9999), 'none')
})

t.test('a flood during the trial begins the next pause', async (t) => {
  const { guard, addAt, nextAt } = open()
  for (const nowMs of [0, 0, 0, 0]) addAt(nowMs)
  nextAt(1000)
  t.same([1000, 1000, 1000, 1000].map(addAt), [false, false, false, true])
  t.equal(guard.isPaused, true)
  t.equal(nextAt(1999), 'none')
  t.equal(nextAt(2000), 'subscribe')
})
