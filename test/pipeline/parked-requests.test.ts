import t from 'tap'
import { ParkedRequests } from '../../src/pipeline/parked-requests.ts'
import { createFakeTime } from '../support/fake-time.ts'
import { until } from '../support/cache-harness.ts'

function parkedOf(reviewed: string[], name: string, isCurrent = false) {
  return {
    isCurrent: () => isCurrent,
    review: async () => void reviewed.push(name),
  }
}

t.test('only requests whose decision may no longer hold are reviewed, at each interval', async (t) => {
  const time = createFakeTime()
  const parked = new ParkedRequests({ intervalMs: 1000, schedule: time.schedule, now: time.now })
  const reviewed: string[] = []
  t.equal(time.nextMs(), null, 'no timer runs without parked requests')
  parked.add(parkedOf(reviewed, 'current', true))
  parked.add(parkedOf(reviewed, 'outdated'))
  const left = parkedOf(reviewed, 'left')
  parked.add(left)
  parked.delete(left)
  time.advance(1000)
  await until(() => time.nextMs() !== null)
  t.same(reviewed, ['outdated'])
  time.advance(1000)
  await until(() => reviewed.length === 2)
  t.same(reviewed, ['outdated', 'outdated'])
})

t.test('the timer ends when no request is parked', async (t) => {
  const time = createFakeTime()
  const parked = new ParkedRequests({ intervalMs: 1000, schedule: time.schedule, now: time.now })
  const one = parkedOf([], 'one', true)
  parked.add(one)
  parked.delete(one)
  time.advance(1000)
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(time.nextMs(), null)
  t.equal(parked.size, 0)
})

t.test('10,000 reviews leave the event loop to other work after each slice of 5 ms', async (t) => {
  let nowMs = 0
  const scheduled: (() => void)[] = []
  const parked = new ParkedRequests({
    schedule: (work) => {
      scheduled.push(work)
      return () => undefined
    },
    now: () => nowMs,
  })
  let reviews = 0
  let longestMs = 0
  let turnBeganMs = 0
  for (let i = 0; i < 10_000; i += 1)
    parked.add({
      isCurrent: () => false,
      review: async () => {
        reviews += 1
        nowMs += 0.1
        longestMs = Math.max(longestMs, nowMs - turnBeganMs)
      },
    })
  let isOver = false
  const turn = (): void => {
    turnBeganMs = nowMs
    if (!isOver) setImmediate(turn)
  }
  turn()
  scheduled.shift()?.()
  await until(() => reviews === 10_000)
  isOver = true
  t.ok(longestMs <= 12, `${longestMs} ms`)
})
