import { performance } from 'node:perf_hooks'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { createSharedTurns, type TurnTaker } from '../../../src/redis/shared-turns.ts'
import { until } from '../../support/cache-harness.ts'
import { startRedis } from '../../support/redis.ts'
import { redisSkip } from '../../support/requirements.ts'

const LONG_MS = 600_000
const KEY = 'engine-gateway:test:turn:default node'

async function openTurns(t: Test, url: string, namespace = 'test'): Promise<TurnTaker> {
  const turns = createSharedTurns({ redis: { url }, namespace, now: () => performance.now() })
  t.teardown(() => turns.close())
  const control = new Redis(url)
  t.teardown(() => control.disconnect())
  // Until the connection is open, the process takes its own turns.
  await until(async () => {
    await turns.take(`probe of ${namespace}`, 0)
    return (await control.exists(`engine-gateway:${namespace}:turn:probe of ${namespace}`)) === 1
  })
  return turns
}

t.test(
  'one of several processes takes a turn, and the other processes learn when the next turn starts',
  { skip: redisSkip },
  async (t) => {
    const server = await startRedis()
    t.teardown(() => server.stop())
    const all = await Promise.all([1, 2, 3].map(() => openTurns(t, server.url)))
    const results = await Promise.all(all.map((turns) => turns.take('default node', LONG_MS)))
    t.equal(results.filter(({ isTaken }) => isTaken).length, 1)
    for (const result of results)
      if (!result.isTaken)
        t.ok(result.leftMs > LONG_MS / 2 && result.leftMs <= LONG_MS && result.previous === 1)
    t.match(await all[0]?.take('other node', LONG_MS), { isTaken: true }, 'each name has turns of its own')
    const other = await openTurns(t, server.url, 'other')
    t.match(await other.take('default node', LONG_MS), { isTaken: true }, 'so has another deployment')
  },
)

t.test('a taken turn changes the number that the other processes see', { skip: redisSkip }, async (t) => {
  const server = await startRedis()
  t.teardown(() => server.stop())
  const [one, other] = [await openTurns(t, server.url), await openTurns(t, server.url)]
  await one.take('default node', 0)
  t.match(await other.take('default node', LONG_MS), { isTaken: false, previous: 1 })
  await one.take('default node', 0)
  t.match(await other.take('default node', LONG_MS), { isTaken: false, previous: 2 })
})

t.test(
  'a turn in the future, after the clock was set back, blocks no process',
  { skip: redisSkip },
  async (t) => {
    const server = await startRedis()
    t.teardown(() => server.stop())
    const turns = await openTurns(t, server.url)
    const control = new Redis(server.url)
    t.teardown(() => control.disconnect())
    await control.hset(KEY, { at: Date.now() + 3_600_000, count: 1 })
    t.match(await turns.take('default node', 750), { isTaken: true })
  },
)

t.test('while Redis is unreachable, each process takes its own turns', { skip: redisSkip }, async (t) => {
  const server = await startRedis()
  const turns = await openTurns(t, server.url)
  await server.stop()
  t.match(await turns.take('default node', LONG_MS), { isTaken: true })
  t.match(await turns.take('default node', LONG_MS), { isTaken: false, previous: 1 })
})
