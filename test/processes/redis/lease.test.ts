import { performance } from 'node:perf_hooks'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { createLeases, type Leases, OWN_LEASES } from '../../../src/redis/lease.ts'
import { until } from '../../support/cache-harness.ts'
import { startRedis } from '../../support/redis.ts'
import { redisSkip } from '../../support/requirements.ts'

const LEASE_MS = 1500
const NAMES = ['default', 'second']

function openLeases(t: Test, url: string, namespace = 'test'): Leases {
  const leases = createLeases({
    redis: { url },
    namespace,
    names: NAMES,
    leaseMs: LEASE_MS,
    now: () => performance.now(),
  })
  t.teardown(() => leases.close())
  leases.start()
  return leases
}

async function startServer(t: Test, port?: number) {
  const server = await startRedis(port === undefined ? {} : { port })
  t.teardown(() => server.stop())
  return server
}

const holders = (all: readonly Leases[], name: string): number => all.filter((one) => one.holds(name)).length

t.test('one of several processes holds the lease', { skip: redisSkip }, async (t) => {
  const { url } = await startServer(t)
  const all = Array.from({ length: 3 }, () => openLeases(t, url))
  await until(() => NAMES.every((name) => holders(all, name) === 1))
  const other = openLeases(t, url, 'other')
  await until(() => other.holds('default'))
  t.equal(holders(all, 'default'), 1, 'another deployment has leases of its own')
  t.notOk(other.holds('third'), 'a name of which there is no lease')
})

t.test('a process that closes releases its lease immediately', { skip: redisSkip }, async (t) => {
  const { url } = await startServer(t)
  const control = new Redis(url)
  t.teardown(() => control.disconnect())
  const first = openLeases(t, url)
  await until(() => first.holds('default'))
  const second = openLeases(t, url)
  first.close()
  t.notOk(first.holds('default'))
  await until(() => second.holds('default'))
  second.close()
  await until(async () => (await control.exists(KEY)) === 0)
})

t.test('a process that closes while it takes a lease leaves none', { skip: redisSkip }, async (t) => {
  const { url } = await startServer(t)
  const control = new Redis(url)
  t.teardown(() => control.disconnect())
  const leases = createLeases({
    redis: { url },
    namespace: 'test',
    names: NAMES,
    now: () => performance.now(),
    leaseMs: 600_000,
  })
  // Long enough to connect, because requests before that are skipped.
  await until(
    async () =>
      String(await control.client('LIST'))
        .trim()
        .split('\n').length === 2,
  )
  await new Promise((resolve) => setTimeout(resolve, 300))
  leases.start()
  leases.close()
  await until(async () => (await control.info('commandstats')).includes('cmdstat_eval'))
  await until(async () => (await control.exists(KEY)) === 0)
  t.notOk(leases.holds('default'))
})

t.test('without Redis a lease ends before another process can take it', { skip: redisSkip }, async (t) => {
  const server = await startServer(t)
  const leases = openLeases(t, server.url)
  await until(() => leases.holds('default'))
  const control = new Redis(server.url)
  t.teardown(() => control.disconnect())
  // In one step, so that no renewal comes between the two commands.
  const [[, leftMs] = []] = (await control.multi().pttl(KEY).client('PAUSE', 60_000).exec()) ?? []
  await new Promise((resolve) => setTimeout(resolve, Number(leftMs)))
  t.notOk(leases.holds('default'), 'from here on Redis would give it to another')
})

t.test('a lease without an expiry gets one', { skip: redisSkip }, async (t) => {
  const { url } = await startServer(t)
  const control = new Redis(url)
  t.teardown(() => control.disconnect())
  await control.set(KEY, 'somebody')
  const leases = openLeases(t, url)
  await until(() => leases.holds('default'))
})

t.test('without Redis every process holds the lease', async (t) => {
  t.ok(OWN_LEASES.holds('default'))
})

const KEY = 'engine-gateway:test:lease:default'
