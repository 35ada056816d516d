import { performance } from 'node:perf_hooks'
import t from 'tap'
import { startRedis } from '../support/redis.ts'
import { redisSkip } from '../support/requirements.ts'
import { ADDRESS, firstOf, ONCE, openControl, openReplays } from '../idempotency/claims.ts'
import { answerOf, until } from '../support/cache-harness.ts'

t.test('the idempotency store while Redis fails', { skip: redisSkip }, async (t) => {
  t.test('no key is claimed if Redis was never reachable', async (t) => {
    const idempotencyStore = openReplays(t, 'redis://127.0.0.1:1')
    t.same(await idempotencyStore.claim(ONCE), { state: 'unavailable' })
    t.equal(await idempotencyStore.find(ONCE), null)
  })

  t.test('no key is claimed while Redis is frozen, and the key is free afterwards', async (t) => {
    const server = await startRedis()
    t.teardown(() => server.stop())
    const idempotencyStore = openReplays(t, server.url)
    await firstOf(await idempotencyStore.claim({ ...ONCE, key: 'warm' })).release()
    server.pause()
    const startMs = performance.now()
    t.same(await idempotencyStore.claim(ONCE), { state: 'unavailable' })
    t.ok(performance.now() - startMs < 1000, `${performance.now() - startMs} ms`)
    server.resume()
    const control = openControl(t, server.url)
    await until(async () => (await control.dbsize()) === 0, 10_000)
    // The connection of the store may recover slightly later than that of the control client.
    let again = await idempotencyStore.claim(ONCE)
    await until(async () => {
      if (again.state === 'unavailable') again = await idempotencyStore.claim(ONCE)
      return again.state !== 'unavailable'
    }, 10_000)
    await firstOf(again).release()
  })

  t.test('a response completed while Redis is frozen is stored when Redis recovers', async (t) => {
    const server = await startRedis()
    t.teardown(() => server.stop())
    const idempotencyStore = openReplays(t, server.url)
    const claim = firstOf(await idempotencyStore.claim(ONCE))
    server.pause()
    t.equal(await claim.keep({ answer: answerOf('{}'), address: ADDRESS }), false)
    server.resume()
    const other = openReplays(t, server.url, t.name)
    await until(async () => (await other.claim(ONCE)).state === 'done', 10_000)
  })

  t.test('a response is stored again if Redis restarts without its data', async (t) => {
    const first = await startRedis()
    const idempotencyStore = openReplays(t, first.url)
    const claim = firstOf(await idempotencyStore.claim(ONCE))
    process.kill(first.pid, 'SIGKILL')
    await first.stop()
    t.equal(await claim.keep({ answer: answerOf('{}'), address: ADDRESS }), false)
    const second = await startRedis({ port: first.port })
    t.teardown(() => second.stop())
    const control = openControl(t, second.url)
    await until(async () => (await control.dbsize()) === 1, 15_000)
    await until(async () => (await idempotencyStore.claim(ONCE)).state === 'done', 10_000)
  })

  t.test(
    'if Redis restarts without its data, an open claim is stored again before any repetition',
    async (t) => {
      const first = await startRedis()
      const idempotencyStore = openReplays(t, first.url)
      const claims = []
      for (let at = 0; at < 250; at += 1)
        claims.push(firstOf(await idempotencyStore.claim({ ...ONCE, key: `mary ${at}` })))
      process.kill(first.pid, 'SIGKILL')
      await first.stop()
      const second = await startRedis({ port: first.port })
      t.teardown(() => second.stop())
      const control = openControl(t, second.url)
      await until(async () => (await control.dbsize()) === claims.length, 15_000)
      const other = openReplays(t, second.url, t.name)
      t.same(await other.claim({ ...ONCE, key: 'mary 249' }), { state: 'in progress' })
      for (const claim of claims) await claim.keep({ answer: answerOf('{}'), address: ADDRESS })
      t.match(await other.claim({ ...ONCE, key: 'mary 249' }), { state: 'done' })
      t.equal(idempotencyStore.openClaims.size, 0)
    },
  )

  t.test('no key is claimed while Redis is full', async (t) => {
    const server = await startRedis()
    t.teardown(() => server.stop())
    const idempotencyStore = openReplays(t, server.url)
    await firstOf(await idempotencyStore.claim(ONCE)).release()
    const control = openControl(t, server.url)
    await control.config('SET', 'maxmemory', '1')
    t.same(await idempotencyStore.claim(ONCE), { state: 'unavailable' })
    await control.config('SET', 'maxmemory', '0')
    await firstOf(await idempotencyStore.claim(ONCE)).release()
  })
})
