import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { startDeadline } from '../../src/redis/deadline.ts'

function block(ms: number): void {
  const start = performance.now()
  while (performance.now() - start < ms);
}

t.test('a deadline is missed after its time', async (t) => {
  const start = performance.now()
  await new Promise<void>((resolve) => startDeadline(20, { onMissed: resolve }))
  t.ok(performance.now() - start >= 19)
})

t.test('a cancelled deadline is not missed, even between its time and the next turn', async (t) => {
  let missed = 0
  const onMissed = () => (missed += 1)
  startDeadline(1, { onMissed })()
  const cancel = startDeadline(1, { onMissed })
  // A timer of the same time runs in the same phase, before the next turn of the event loop.
  setTimeout(cancel, 1)
  block(5)
  await wait(20)
  t.equal(missed, 0)
})

t.test('a deadline waits while data arrives in each turn, up to a limit', async (t) => {
  const reads: number[] = []
  const readCount = () => reads.push(reads.length)
  await new Promise<void>((resolve) => startDeadline(1, { progress: readCount, onMissed: resolve }))
  t.equal(reads.length, 22)
})

t.test('a deadline is missed when no more data arrives', async (t) => {
  const reads: number[] = []
  const readCount = () => Math.min(reads.push(0), 5)
  await new Promise<void>((resolve) => startDeadline(1, { progress: readCount, onMissed: resolve }))
  t.equal(reads.length, 6)
})
