import t, { type Test } from 'tap'
import { createDateFormat } from '../../../src/request/date-format.ts'
import { createPoller, type PollerOptions } from '../../../src/features/gauges/poller.ts'
import type { GaugeQuery } from '../../../src/features/gauges/queries.ts'
import { until } from '../../support/cache-harness.ts'

const countOf = (name: string): GaugeQuery => ({
  name,
  read: async (ask) => {
    const answer = await ask(`/${name}`)
    return [{ gauge: 'camunda_jobs_executable', label: name, value: Number(answer) }]
  },
})

interface Asked {
  readonly path: string
  readonly atMs: number
}

/** Opens a poller with two queries in front of an engine. By default each response is 1. */
function open(
  t: Test,
  {
    answer = () => ({ status: 200, body: '1' }),
    ...options
  }: {
    readonly answer?: (path: string) => { readonly status: number; readonly body: string }
  } & Partial<PollerOptions> = {},
) {
  const asked: Asked[] = []
  const failed: string[] = []
  const answered: string[] = []
  const poller = createPoller({
    ask: async ({ path, isRead }) => {
      asked.push({ path, atMs: performance.now() })
      t.equal(isRead, false, 'is not repeated')
      const { status, body } = answer(path)
      return { status, body: Buffer.from(body) }
    },
    reading: { topics: 0, definitions: 0, dateFormat: createDateFormat(), wallNow: () => 5000 },
    everyMs: 1,
    isElected: () => true,
    now: () => performance.now(),
    onResponse: (query) => answered.push(query),
    onFailure: (query) => failed.push(query),
    queries: [countOf('one'), countOf('two')],
    spacingMs: 20,
    ...options,
  })
  t.teardown(() => poller.stop())
  return { poller, asked, failed, answered }
}

t.test('the poller sends one query at a time, in repeated rounds', async (t) => {
  const { poller, asked } = open(t)
  const beganMs = performance.now()
  poller.start()
  await until(() => asked.length >= 6)
  t.same(
    asked.slice(0, 4).map(({ path }) => path),
    ['/one', '/two', '/one', '/two'],
  )
  // Timers have a resolution of whole milliseconds.
  for (const [index, { atMs }] of asked.entries())
    t.ok(atMs - (asked[index - 1]?.atMs ?? beganMs) >= 18, `request ${index}`)
  t.same(
    poller.samples().map(({ label, value }) => [label, value]),
    [
      ['one', 1],
      ['two', 1],
    ],
  )
  t.equal(poller.lastReadSeconds(), 5)
})

t.test('the next round starts after the configured interval', async (t) => {
  const { poller, asked } = open(t, { everyMs: 300 })
  // Not the time of the first query: on a busy machine it may be late, and the second round is not.
  const beganMs = performance.now()
  poller.start()
  await until(() => asked.length >= 3)
  t.ok((asked[2]?.atMs ?? 0) - beganMs >= 298)
})

t.test('a failed query does not affect the others', async (t) => {
  const { poller, failed, answered } = open(t, {
    answer: (path) => (path === '/one' ? { status: 503, body: '' } : { status: 200, body: '2' }),
  })
  poller.start()
  await until(() => failed.length >= 2)
  t.same(
    poller.samples().map(({ label, value }) => [label, value]),
    [['two', 2]],
  )
  t.same([...new Set(failed)], ['one'])
  t.same([...new Set(answered)], ['two'])
  t.equal(poller.lastReadSeconds(), null, 'no round was complete')
})

t.test('a query that the engine does not know has a null response', async (t) => {
  const { poller, answered } = open(t, { answer: () => ({ status: 400, body: '{}' }) })
  poller.start()
  await until(() => answered.length >= 2)
  t.same(
    poller.samples().map(({ value }) => value),
    [0, 0],
  )
})

t.test('a poller that is not elected sends no queries and shows no values', async (t) => {
  let elected = false
  const { poller, asked } = open(t, { isElected: () => elected })
  poller.start()
  await new Promise((resolve) => setTimeout(resolve, 100))
  t.equal(asked.length, 0)
  const electedAtMs = performance.now()
  elected = true
  await until(() => poller.samples().length === 2)
  t.ok((asked[0]?.atMs ?? 0) - electedAtMs >= 18, 'who was elected before may just have asked')
  elected = false
  t.same(poller.samples(), [])
  t.equal(poller.lastReadSeconds(), null)
  const before = asked.length
  await new Promise((resolve) => setTimeout(resolve, 100))
  t.ok(asked.length - before <= 1, 'at most what was under way')
  elected = true
  t.same(poller.samples(), [], 'what was read in an earlier term is not shown again')
  await until(() => poller.samples().length === 2)
})

t.test('values that are too old are not shown', async (t) => {
  let nowMs = 1000
  const { poller, asked } = open(t, { everyMs: 10_000, now: () => nowMs, spacingMs: 0 })
  poller.start()
  await until(() => poller.samples().length === 2)
  nowMs += 29_000
  t.equal(poller.samples().length, 2)
  nowMs += 2000
  t.same(poller.samples(), [])
  t.equal(asked.length, 2)
})

t.test('a stopped poller sends no queries', async (t) => {
  const { poller, asked } = open(t)
  poller.start()
  await until(() => asked.length >= 1)
  poller.stop()
  const before = asked.length
  await new Promise((resolve) => setTimeout(resolve, 100))
  t.ok(asked.length - before <= 1)
})
