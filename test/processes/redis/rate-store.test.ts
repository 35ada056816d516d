import { performance } from 'node:perf_hooks'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { createRateStore, type RateStore } from '../../../src/redis/rate-store.ts'
import { startRedis } from '../../support/redis.ts'
import { redisSkip } from '../../support/requirements.ts'
import { until } from '../../support/cache-harness.ts'

/** A rate so slow that no request is regained during a test. */
const RATE = { intervalMs: 600_000, burst: 5 }

/** Opens a store whose Redis connection is up. */
async function openStore(t: Test, url: string, namespace = 'test'): Promise<RateStore> {
  const store = createRateStore({ redis: { url }, namespace, now: () => performance.now() })
  t.teardown(() => store.close())
  await until(async () => (await store.consume('nobody', { intervalMs: 1, burst: 1000 })) !== null)
  return store
}

async function startServer(t: Test, port?: number) {
  const server = await startRedis(port === undefined ? {} : { port })
  t.teardown(() => server.stop())
  return server
}

t.test('rates in Redis', { skip: redisSkip }, async (t) => {
  t.test('two stores share one limit', async (t) => {
    const { url } = await startServer(t)
    const stores = [await openStore(t, url), await openStore(t, url)]
    const spent = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => stores[index % 2]?.consume('default mary', RATE)),
    )
    t.equal(spent.filter((one) => one?.admitted === true).length, 5)
    t.equal(spent.filter((one) => one?.admitted === false).length, 15)
    t.match(await stores[0]?.consume('default anna', RATE), { admitted: true }, 'another principal')
    t.match(await (await openStore(t, url, 'other')).consume('default mary', RATE), { admitted: true })
  })

  t.test('the burst refills with the clock of Redis, and the key then expires', async (t) => {
    const { url } = await startServer(t)
    const store = await openStore(t, url)
    const control = new Redis(url)
    t.teardown(() => control.disconnect())
    const one = { intervalMs: 300, burst: 1 }
    t.match(await store.consume('a', one), { admitted: true, debtMs: 300 })
    const refused = await store.consume('a', one)
    t.equal(refused?.admitted, false)
    t.ok(refused !== null && refused.debtMs > 0 && refused.debtMs <= 300, `${refused?.debtMs}`)
    await until(async () => (await store.consume('a', one))?.admitted === true)
    await until(async () => (await control.dbsize()) === 0)
  })

  t.test('after a change of the rate, the debt is at most the new burst', async (t) => {
    const { url } = await startServer(t)
    const store = await openStore(t, url)
    await store.consume('a', RATE)
    t.match(await store.consume('a', { intervalMs: 10_000, burst: 2 }), { admitted: false, debtMs: 20_000 })
  })

  t.test('an invalid value counts as no debt, and a value of another type as no response', async (t) => {
    const { url } = await startServer(t)
    const store = await openStore(t, url)
    const control = new Redis(url)
    t.teardown(() => control.disconnect())
    // The key of the first attempt, with which the store was opened, exists for one millisecond.
    await until(async () => (await control.keys('*')).length === 0)
    await store.consume('a', RATE)
    const [key = ''] = await control.keys('*')
    t.match(key, /^engine-gateway:test:rate:[\w-]{43}$/)
    for (const garbage of ['garbage', 'nan', '-nan', '-inf', '']) {
      await control.set(key, garbage)
      t.match(await store.consume('a', RATE), { admitted: true, debtMs: 600_000 }, garbage)
    }
    await control.set(key, 'inf')
    t.match(await store.consume('a', RATE), { admitted: false })
    await control.del(key)
    await control.lpush(key, 'x')
    t.equal(await store.consume('a', RATE), null)
    t.match(await store.consume('b', RATE), { admitted: true }, 'others are served on')
  })

  t.test('a restarted Redis is used again, even without its data', async (t) => {
    const first = await startServer(t)
    const store = await openStore(t, first.url)
    t.match(await store.consume('a', RATE), { admitted: true })
    process.kill(first.pid, 'SIGKILL')
    await first.stop()
    const start = performance.now()
    for (let index = 0; index < 100; index += 1) t.equal(await store.consume('a', RATE), null)
    // No request waits: each waiting request would take 200 ms.
    t.ok(performance.now() - start < 5000)
    await startServer(t, first.port)
    await until(async () => (await store.consume('a', RATE)) !== null, 15_000)
  })

  t.test('a frozen Redis delays concurrent requests once, by 200 ms at most', async (t) => {
    const server = await startServer(t)
    const store = await openStore(t, server.url)
    server.pause()
    t.teardown(() => server.resume())
    // Node.js warns if the number of listeners grows.
    const warnings: Error[] = []
    const warn = (warning: Error) => void warnings.push(warning)
    process.on('warning', warn)
    t.teardown(() => process.off('warning', warn))
    const timed = async () => {
      const start = performance.now()
      t.equal(await store.consume('a', RATE), null)
      return performance.now() - start
    }
    const atOnce = await Promise.all(Array.from({ length: 20 }, timed))
    // If they waited one after the other, they would take 4 seconds.
    t.ok(Math.max(...atOnce) < 2000, `${Math.max(...atOnce)} ms`)
    const after: number[] = []
    for (let index = 0; index < 50; index += 1) after.push(await timed())
    const [median = Infinity] = after.toSorted((one, other) => one - other).slice(25)
    t.ok(median < 100, `${median} ms`)
    t.same(warnings, [], 'the connection is ended once for all that wait')
  })
})
