import { pino } from 'pino'
import t, { type Test } from 'tap'
import { Slot } from '../../src/workers/slot.ts'
import { until } from '../support/cache-harness.ts'
import { configOf } from '../support/open-gateway.ts'
import { createFakeFork, noAnswer } from './fake-worker.ts'

async function startSlot(t: Test) {
  const config = configOf(t, 'http://127.0.0.1:1/engine-rest')
  const { fork, workers } = createFakeFork()
  const reasons: string[] = []
  const slot = new Slot({
    number: 1,
    fork,
    config: () => config,
    onListening: () => undefined,
    onEnd: (reason) => void reasons.push(reason),
    log: pino({ level: 'silent' }),
  })
  await slot.start()
  t.teardown(() => slot.drain())
  const [first] = workers
  if (first === undefined) throw new Error('Nothing was forked')
  return { slot, first, workers, reasons }
}

t.test('a worker that does not respond is killed and replaced', async (t) => {
  const { slot, first, workers, reasons } = await startSlot(t)
  await slot.watch()
  t.notOk(first.killed())
  first.answer = noAnswer
  await slot.watch()
  t.ok(first.killed())
  await until(() => workers.length === 2)
  t.same(reasons, ['silent'])
})

t.test('a worker that responds with an error is not killed', async (t) => {
  const { slot, first } = await startSlot(t)
  first.answer = () => Promise.reject(new Error('no'))
  await slot.watch()
  t.notOk(first.killed())
})

t.test('the slot reports how a worker ended', async (t) => {
  const { first, workers, reasons } = await startSlot(t)
  first.end(1)
  await until(() => workers.length === 2)
  t.same(reasons, ['exit'])
})

t.test('no worker is started after a drain', async (t) => {
  const { slot, first, workers, reasons } = await startSlot(t)
  await slot.drain()
  first.end(1)
  await slot.drain()
  t.equal(workers.length, 1)
  t.same(reasons, [])
  t.match(await slot.readiness(1), { ready: false })
})
