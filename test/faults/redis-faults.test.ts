import { performance } from 'node:perf_hooks'
import { Redis } from 'ioredis'
import t from 'tap'
import { startRedis } from '../support/redis.ts'
import { redisSkip } from '../support/requirements.ts'
import {
  acceptAll,
  answerOf,
  clockAt,
  fillOf,
  openCache,
  openSharedCache,
  until,
  loadShared,
} from '../support/cache-harness.ts'

const rule = { seconds: 60, tags: ['deployment'], accepts: acceptAll }

t.test('the cache while Redis fails', { skip: redisSkip }, async (t) => {
  t.test('killed Redis: loads have no error or delay, and its return is detected', async (t) => {
    const first = await startRedis()
    const opened = await openSharedCache(t, { redisUrl: first.url })
    await opened.cache.load('k', rule, fillOf(answerOf('x')))
    process.kill(first.pid, 'SIGKILL')
    await first.stop()
    for (let index = 0; index < 200; index += 1) {
      const spent = await timed(opened.cache.load(`k${index}`, rule, fillOf(answerOf('x'))))
      if (spent > 50) t.fail(`load ${index} took ${spent} ms`)
    }
    t.ok(opened.cache.peek('k'))
    const second = await startRedis({ port: first.port })
    t.teardown(() => second.stop())
    // About one second (1,022 ms). The limit has a margin for a machine that is busy while the other server starts.
    const back = await until(() => opened.lines.length === 3, 15_000)
    t.comment(`noticed after ${Math.round(back)} ms`)
    opened.events.length = 0
    // Change messages use a separate connection, and nothing is stored before that connection is back too.
    await until(async () => {
      await opened.cache.load(`after ${opened.events.length}`, rule, fillOf(answerOf('x')))
      return opened.events.includes('redis:stored')
    }, 15_000)
    t.match(opened.lines, [/^info/, /^warn/, /^info/])
  })

  t.test('frozen Redis: each waiting request is delayed by at most 200 ms, later ones are not', async (t) => {
    const server = await startRedis()
    t.teardown(() => server.stop())
    const opened = await openSharedCache(t, { redisUrl: server.url })
    server.pause()
    const load = async (key: string) => timed(opened.cache.load(key, rule, fillOf(answerOf('x'))))
    const atOnce = await Promise.all(Array.from({ length: 50 }, (_, index) => load(`a${index}`)))
    t.ok(Math.max(...atOnce) < 200, `${Math.max(...atOnce)} ms`)
    const after: number[] = []
    const start = performance.now()
    await until(async () => {
      after.push(await load(`b${after.length}`))
      return performance.now() - start > 1500
    })
    t.ok(Math.max(...after) < 50, `${Math.max(...after)} ms among ${after.length}`)
    server.resume()
    t.ok((await until(() => opened.lines.length === 3)) < 5000)
    t.match(opened.lines, [/^info/, /^warn.*timed out/, /^info/])
  })

  t.test('an eviction that did not reach Redis is repeated', async (t) => {
    const server = await startRedis()
    t.teardown(() => server.stop())
    const [one, other] = [
      await openSharedCache(t, { redisUrl: server.url }),
      await openSharedCache(t, { redisUrl: server.url }),
    ]
    await loadShared(one, { key: 'k', rule, answer: answerOf('old') })
    server.pause()
    const spent = await timed(one.cache.evict(['deployment']))
    t.ok(spent < 200, `${spent} ms`)
    server.resume()
    t.match(await one.cache.load('k', rule, fillOf(answerOf('new'))), { from: 'upstream' })
    await until(() => one.lines.length === 3)
    await until(
      async () =>
        (await other.cache.load('k', rule, fillOf(answerOf('new')))).response.body.toString() === 'new',
    )
  })

  t.test('if too many evictions are pending for Redis, everything is evicted', async (t) => {
    const server = await startRedis()
    t.teardown(() => server.stop())
    const one = await openSharedCache(t, { redisUrl: server.url })
    await loadShared(one, {
      key: 'k',
      rule: { seconds: 60, tags: ['apart'], accepts: acceptAll },
      answer: answerOf('old'),
    })
    server.pause()
    await one.cache.evict(Array.from({ length: 1001 }, (_, index) => `tag-${index}`))
    server.resume()
    await until(() => one.lines.length === 3)
    const other = await openSharedCache(t, { redisUrl: server.url })
    t.match(
      await other.cache.load(
        'k',
        { seconds: 60, tags: ['apart'], accepts: acceptAll },
        fillOf(answerOf('new')),
      ),
      {
        from: 'upstream',
      },
    )
  })

  t.test('full Redis: failed writes are counted, and reads are served', async (t) => {
    const server = await startRedis()
    t.teardown(() => server.stop())
    const clock = clockAt(0)
    const opened = await openSharedCache(t, { redisUrl: server.url, now: clock.now })
    await loadShared(opened, { key: 'k', rule, answer: answerOf('x') })
    const control = new Redis(server.url)
    t.teardown(() => control.disconnect())
    await control.config('SET', 'maxmemory', '1')
    for (let index = 0; index < 5; index += 1)
      await opened.cache.load(`k${index}`, rule, fillOf(answerOf('x')))
    await until(() => opened.events.filter((event) => event === 'redis:error').length === 5)
    clock.nowMs = 61_000
    t.match(await opened.cache.load('k', rule, fillOf(answerOf('y'))), { from: 'redis' })
    t.equal(opened.lines.length, 1)
  })

  t.test('Redis as a replica after a failover: reads work, and the primary is looked up', async (t) => {
    const server = await startRedis()
    t.teardown(() => server.stop())
    const opened = await openSharedCache(t, { redisUrl: server.url })
    const control = new Redis(server.url)
    t.teardown(() => control.disconnect())
    await control.replicaof('127.0.0.1', 1)
    t.match(await opened.cache.load('k', rule, fillOf(answerOf('x'))), { from: 'upstream' })
    await until(() => opened.lines.some((line) => line.includes('READONLY')))
    await control.replicaof('NO', 'ONE')
    await until(async () => {
      await opened.cache.load(`k${performance.now()}`, rule, fillOf(answerOf('x')))
      return opened.events.includes('redis:stored')
    })
  })

  t.test('a wrong Redis password is logged once, without the password', async (t) => {
    const server = await startRedis({ args: ['--requirepass', 'right'] })
    t.teardown(() => server.stop())
    const opened = openCache(t, { redisUrl: server.url.replace('//', '//default:wrong-secret@') })
    await until(() => opened.lines.length > 0)
    t.match(await opened.cache.load('k', rule, fillOf(answerOf('x'))), { from: 'upstream', stored: true })
    t.same(opened.events.slice(0, 1), ['redis:skipped'])
    t.equal(opened.lines.length, 1)
    t.match(opened.lines[0], /^warn.*WRONGPASS/)
    t.notMatch(opened.lines[0], /secret/)
  })

  t.test('without a reachable Redis the cache works, and this is logged once', async (t) => {
    const opened = openCache(t, { redisUrl: 'redis://127.0.0.1:1' })
    t.match(await opened.cache.load('k', rule, fillOf(answerOf('x'))), { from: 'upstream', stored: true })
    await until(() => opened.lines.length > 0)
    await opened.cache.evict(['deployment'])
    t.equal(opened.cache.peek('k'), null)
    t.equal(opened.lines.length, 1)
    t.match(opened.lines[0], /ECONNREFUSED/)
  })
})

async function timed(work: Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work
  return performance.now() - start
}
