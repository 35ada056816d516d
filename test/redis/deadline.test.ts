import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { startDeadline } from '../../src/redis/deadline.ts'

function block(ms: number): void {
  const start = performance.now()
  while (performance.now() - start < ms);
}

t.test('it is missed after its time, and no later than a turn', async (t) => {
  const start = performance.now()
  await new Promise<void>((resolve) => startDeadline(20, { onMissed: resolve }))
  t.ok(performance.now() - start >= 19)
})

t.test('what is called off is not missed, also between the time and the turn', async (t) => {
  let missed = 0
  const onMissed = () => (missed += 1)
  startDeadline(1, { onMissed })()
  const callOff = startDeadline(1, { onMissed })
  // A timer of the same time comes in the same round, before any turn.
  setTimeout(callOff, 1)
  block(5)
  await wait(20)
  t.equal(missed, 0)
})

t.test('as long as something is heard in each turn, it waits, up to a bound', async (t) => {
  const heard: number[] = []
  const hear = () => heard.push(heard.length)
  await new Promise<void>((resolve) => startDeadline(1, { heard: hear, onMissed: resolve }))
  t.equal(heard.length, 22)
})

t.test('when nothing more is heard, it is missed', async (t) => {
  const heard: number[] = []
  const hear = () => Math.min(heard.push(0), 5)
  await new Promise<void>((resolve) => startDeadline(1, { heard: hear, onMissed: resolve }))
  t.equal(heard.length, 6)
})
