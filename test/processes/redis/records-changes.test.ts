import t from 'tap'
import type { Test } from 'tap'
import { until } from '../../support/cache-harness.ts'
import { startRedis } from '../../support/redis.ts'
import { redisSkip } from '../../support/requirements.ts'
import { engineSources, type RunningGateway, startGateway } from '../../support/running-gateway.ts'
import { allOn, startStandIn } from '../../support/stand-in.ts'

const MARYS = '/authorization/mary-4'

/** Opens two gateways that share a Redis, in front of one engine. User admin may change everything. Mary and the clerks may read records. */
async function openReplicas(t: Test, refresh = '1h') {
  const redis = await startRedis()
  t.teardown(() => redis.stop())
  const engine = await startStandIn(t)
  for (const [subject, resourceType] of [
    ['admin', 4],
    ['admin', 3],
    ['mary', 4],
    ['@clerks', 4],
  ] as const)
    allOn(engine, subject, resourceType)
  engine.members.set('clerks', new Set(['bob']))
  const settings = engineSources(engine.base, {
    identity: { remember: '1h' },
    records: { refresh, staleAfter: '2h' },
    cache: { redis: redis.url },
  })
  const one = await startGateway(t, settings)
  const other = await startGateway(t, settings)
  return { redis, engine, one, other }
}

/** Returns the milliseconds until a caller gets this status. */
function becomes(gateway: RunningGateway, credential: string, status: number): Promise<number> {
  return until(async () => (await gateway.statusOf(credential, MARYS)) === status)
}

t.test(
  'a record deleted through one gateway stops being in force at all gateways within a second',
  { skip: redisSkip },
  async (t) => {
    const { one, other } = await openReplicas(t)
    t.equal(await other.statusOf('mary:mary', MARYS), 200)
    t.equal((await one.ask('admin:admin', 'DELETE', MARYS)).status, 204)
    t.equal((await one.ask('mary:mary', 'DELETE', '/authorization/admin-4')).status, 404, 'here at once')
    const ms = await becomes(other, 'mary:mary', 404)
    t.ok(ms < 1_000, `after ${ms} ms`)
  },
)

t.test(
  'a user removed from a group through one gateway is removed in all within a second',
  { skip: redisSkip },
  async (t) => {
    const { one, other } = await openReplicas(t)
    for (const gateway of [one, other]) t.equal(await gateway.statusOf('bob:bob', MARYS), 200)
    t.equal((await one.ask('admin:admin', 'DELETE', '/group/clerks/members/bob')).status, 204)
    t.equal(await one.statusOf('bob:bob', MARYS), 404, 'here at once')
    const ms = await becomes(other, 'bob:bob', 404)
    t.ok(ms < 1_000, `after ${ms} ms`)
  },
)

t.test('a wrong password at one gateway counts at all gateways', { skip: redisSkip }, async (t) => {
  const { engine, one, other } = await openReplicas(t)
  t.equal(await one.statusOf('mary:wrong', MARYS), 401)
  const startedAtMs = performance.now()
  // No attempt from this address has failed at the other gateway. It therefore waits until the engine's lock of three seconds ends.
  t.equal(await other.statusOf('mary:mary', MARYS), 200)
  t.ok(performance.now() - startedAtMs > 2500, 'the engine would refuse it before')
  t.equal(engine.asked.filter((line) => line === 'POST /identity/verify').length, 2)
})

t.test('records are read again after Redis was unreachable', { skip: redisSkip }, async (t) => {
  const { redis, engine, other } = await openReplicas(t)
  t.equal(await other.statusOf('mary:mary', MARYS), 200)
  await redis.stop()
  engine.records.delete('mary-4')
  const again = await startRedis({ port: redis.port })
  t.teardown(() => again.stop())
  await becomes(other, 'mary:mary', 404)
})

t.test('without Redis a changed record takes effect after a refresh', { skip: redisSkip }, async (t) => {
  const { redis, one, other } = await openReplicas(t, '500ms')
  t.equal(await other.statusOf('mary:mary', MARYS), 200)
  await redis.stop()
  t.equal((await one.ask('admin:admin', 'DELETE', MARYS)).status, 204)
  const ms = await becomes(other, 'mary:mary', 404)
  t.ok(ms < 1_500, `after ${ms} ms`)
})
