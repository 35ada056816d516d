import { createServer } from 'node:net'
import t, { type Test } from 'tap'
import { createRateStore } from '../../src/redis/rate-store.ts'
import { RedisLink } from '../../src/redis/redis-link.ts'
import { startRedis } from '../support/redis.ts'
import { redisSkip } from '../support/requirements.ts'
import { ADDRESS, firstOf, ONCE, openReplays } from '../idempotency/claims.ts'
import { acceptAll, answerOf, fillOf, openSharedCache, until, loadShared } from '../support/cache-harness.ts'
import { listenUntilEnd } from '../support/listen-until-end.ts'

const now = () => performance.now()

/** Blocks the event loop of this process, as parsing a large body does. */
function block(ms: number): void {
  const start = now()
  while (now() - start < ms);
}

async function openLink(t: Test, url: string) {
  const lines: string[] = []
  const link = await new Promise<RedisLink>((resolve) => {
    const opened: RedisLink = new RedisLink({
      redis: { url },
      prefix: t.name,
      now,
      log: (level, _message, why) => void lines.push(`${level} ${why ?? ''}`),
      onReady: () => resolve(opened),
    })
    t.teardown(() => opened.close())
  })
  const ping = async () => {
    const start = now()
    const replies = await link.run([['ping']])
    return { answer: typeof replies === 'string' ? replies : 'answered', tookMs: now() - start }
  }
  return { lines, ping }
}

/** Starts a server that responds to every command with OK until it is silent. */
async function startFake(t: Test) {
  const fake = { url: '', isSilent: false, connections: 0 }
  const server = createServer((socket) => {
    fake.connections += 1
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      const commands = chunk.toString('latin1').match(/^\*\d+\r$/gm)?.length ?? 0
      if (!fake.isSilent) socket.write('+OK\r\n'.repeat(commands))
    })
  })
  fake.url = (await listenUntilEnd(t, server)).replace('http:', 'redis:')
  return fake
}

t.test('a busy process that uses Redis', { skip: redisSkip }, async (t) => {
  const server = await startRedis()
  t.teardown(() => server.stop())

  for (const blockedMs of [200, 350, 500])
    t.test(`a busy process accepts a Redis reply after blocking for ${blockedMs} ms`, async (t) => {
      const { lines, ping } = await openLink(t, server.url)
      await ping()
      for (let round = 0; round < 5; round += 1) {
        const pinged = ping()
        block(blockedMs)
        t.equal((await pinged).answer, 'answered')
      }
      t.equal((await ping()).answer, 'answered', 'the breaker is closed')
      t.same(lines, ['info '])
    })

  t.test('a busy process finds cached entries, counts requests and claims keys', async (t) => {
    const one = await openSharedCache(t, { redisUrl: server.url })
    const other = await openSharedCache(t, { redisUrl: server.url })
    const rule = { seconds: 60, tags: ['deployment'], accepts: acceptAll }
    await loadShared(one, { key: 'k', rule, answer: answerOf('x') })
    const rates = createRateStore({ redis: { url: server.url }, namespace: t.name, now })
    t.teardown(() => rates.close())
    const consume = () => rates.consume('a', { intervalMs: 1, burst: 1000 })
    await until(async () => (await consume()) !== null)
    const idempotencyStore = openReplays(t, server.url)
    await firstOf(await idempotencyStore.claim({ ...ONCE, key: 'warm' })).release()
    const all = [
      other.cache.load('k', rule, fillOf(answerOf('y'))),
      consume(),
      idempotencyStore.claim(ONCE),
    ] as const
    // These calls first wait for something else, which needs another turn of the event loop.
    await Promise.resolve().then(() => block(400))
    const [hit, spent, claiming] = await Promise.all(all)
    t.match(hit, { from: 'redis' })
    t.match(spent, { admitted: true })
    const kept = firstOf(claiming).keep({ answer: answerOf('{}'), address: ADDRESS })
    block(400)
    t.equal(await kept, true)
  })

  t.test('a busy process gives up on a frozen Redis within 145 to 300 ms', async (t) => {
    const { lines, ping } = await openLink(t, server.url)
    await ping()
    server.pause()
    t.teardown(() => server.resume())
    const pinged = await ping()
    t.equal(pinged.answer, 'error')
    t.ok(pinged.tookMs >= 145 && pinged.tookMs < 300, `${pinged.tookMs} ms`)
    t.equal((await ping()).answer, 'skipped', 'the breaker is open')
    t.match(lines, [/^info/, /^warn.*timed out/])
  })
})

t.test('a busy process gives up on a silent Redis after one turn of the event loop', async (t) => {
  const fake = await startFake(t)
  const { ping } = await openLink(t, fake.url)
  t.equal((await ping()).answer, 'answered')
  fake.isSilent = true
  const pinged = ping()
  block(400)
  const { answer, tookMs } = await pinged
  t.equal(answer, 'error')
  t.ok(tookMs < 500, `${tookMs} ms`)
})

t.test('a Redis connection that is accepted but silent is replaced by another one', async (t) => {
  const fake = await startFake(t)
  fake.isSilent = true
  const link = new RedisLink({
    redis: { url: fake.url },
    prefix: t.name,
    now,
  })
  t.teardown(() => link.close())
  await until(() => fake.connections > 1, 10_000)
  fake.isSilent = false
  await until(async () => typeof (await link.run([['ping']])) !== 'string', 10_000)
})
