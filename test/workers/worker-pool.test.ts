import { pino } from 'pino'
import t, { type Test } from 'tap'
import { type Config, ConfigError } from '../../src/config/config.ts'
import { createMetrics } from '../../src/metrics/registry.ts'
import { EXPLAIN } from '../../src/server/questions.ts'
import { WorkerPool } from '../../src/workers/worker-pool.ts'
import { until } from '../support/cache-harness.ts'
import { configOf } from '../support/open-gateway.ts'
import { createFakeFork, type FakeWorker, noAnswer } from './fake-worker.ts'

async function startCrew(t: Test, count = 2) {
  const config = configOf(t, 'http://127.0.0.1:1/engine-rest', { settings: { workers: count } })
  const metrics = createMetrics({ version: '1' })
  const { fork, workers } = createFakeFork()
  const workerPool = new WorkerPool({
    config,
    fork,
    onListening: () => undefined,
    metrics,
    log: pino({ level: 'silent' }),
  })
  await workerPool.start()
  t.teardown(() => workerPool.drain())
  const listening = async () => /^gateway_workers (\d+)$/m.exec(await metrics.text())?.[1]
  await until(async () => (await listening()) === String(count))
  return { config, workerPool, metrics, workers, at: (index: number) => workerAt(workers, index) }
}

function workerAt(workers: readonly FakeWorker[], index: number): FakeWorker {
  const worker = workers[index]
  if (worker === undefined) throw new Error(`There is no worker ${index}`)
  return worker
}

async function problemsOf(replaced: Promise<void>): Promise<readonly string[]> {
  const error: unknown = await replaced.catch((thrown: unknown) => thrown)
  return error instanceof ConfigError ? error.problems : []
}

function another(config: Config): Config {
  return { ...config, hosts: ['another'] }
}

function replacedBy({ asked }: FakeWorker): readonly unknown[] {
  return asked.filter(({ topic }) => topic === 'replace').map(({ value }) => value)
}

t.test('if one worker refuses a configuration, the others return to the previous one', async (t) => {
  const { config, workerPool, at } = await startCrew(t)
  const next = another(config)
  at(1).answer = () => Promise.resolve(['engines.a: no'])
  t.same(await problemsOf(workerPool.replace(next)), ['engines.a: no'])
  t.same(replacedBy(at(0)), [next, config])
  t.same(replacedBy(at(1)), [next])
  t.equal(workerPool.config, config)
  t.notOk(at(0).killed())
})

t.test('a worker that does not confirm a configuration is killed, and no worker keeps it', async (t) => {
  const { config, workerPool, at, workers } = await startCrew(t)
  at(0).answer = noAnswer
  t.match(await problemsOf(workerPool.replace(another(config))), [/worker 1.*did not respond/])
  t.ok(at(0).killed())
  t.same(replacedBy(at(1)).at(-1), config)
  // Another worker replaces it.
  await until(() => workers.length === 3)
})

t.test('a worker that cannot return to the previous configuration is killed', async (t) => {
  const { config, workerPool, at } = await startCrew(t)
  at(0).answer = (_topic, value) => Promise.resolve(value === config ? ['users.yaml: no'] : [])
  at(1).answer = () => Promise.resolve(['engines.a: no'])
  await t.rejects(workerPool.replace(another(config)))
  t.ok(at(0).killed())
})

t.test('a configuration accepted without a running worker applies to later ones', async (t) => {
  const { config, workerPool, at, workers } = await startCrew(t, 1)
  const next = another(config)
  at(0).end(1)
  await until(() => workers.length === 2)
  await workerPool.replace(next)
  t.equal(workerPool.config, next)
  await until(() => replacedBy(at(1)).length === 1)
  t.same(replacedBy(at(1)), [next])
})

t.test('the readiness of a busy worker is its last report', async (t) => {
  const { workerPool, at } = await startCrew(t)
  t.ok((await workerPool.readiness()).ready)
  at(0).answer = noAnswer
  at(1).answer = noAnswer
  t.match(await workerPool.readiness(), { ready: true, checks: { 'worker 1: drain': 'ok' } })
})

t.test('the pool is ready if at least one worker is ready', async (t) => {
  const { workerPool, at } = await startCrew(t)
  at(0).answer = () => Promise.resolve({ ready: false, checks: { records: 'away' } })
  t.match(await workerPool.readiness(), { ready: true, checks: { 'worker 1: records': 'away' } })
  at(1).answer = at(0).answer
  t.match(await workerPool.readiness(), { ready: false })
})

t.test('a question to one worker returns its answer, or null if the answer cannot be read', async (t) => {
  const { workerPool, at } = await startCrew(t, 1)
  at(0).answer = () => Promise.resolve({ status: 200, value: { decision: 'permitted' } })
  t.match(await workerPool.askOne(EXPLAIN, {}), { status: 200 })
  at(0).answer = () => Promise.resolve('strange')
  t.equal(await workerPool.askOne(EXPLAIN, {}), null)
})

t.test('a question to each worker returns the answers that arrive', async (t) => {
  const { workerPool, at } = await startCrew(t)
  const answer = { status: 200, value: 1 }
  at(0).answer = noAnswer
  at(1).answer = () => Promise.resolve(answer)
  t.same(await workerPool.askEach(EXPLAIN), [answer])
})
