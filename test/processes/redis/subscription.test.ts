import { setTimeout as wait } from 'node:timers/promises'
import { Redis } from 'ioredis'
import t from 'tap'
import type { Test } from 'tap'
import { RedisSubscription } from '../../../src/redis/subscription.ts'
import { startRedis } from '../../support/redis.ts'
import { redisSkip } from '../../support/requirements.ts'
import { until } from '../../support/cache-harness.ts'

async function openNews(t: Test) {
  const server = await startRedis()
  t.teardown(() => server.stop())
  const control = new Redis(server.url)
  t.teardown(() => control.disconnect())
  const heard: string[] = []
  const listen = () => {
    const news = new RedisSubscription({
      redis: { url: server.url },
      channel: 'c',
      onMessage: (text) => void heard.push(text),
      onGap: () => void heard.push('(gap)'),
      heartbeatMs: 50,
    })
    t.teardown(() => news.close())
  }
  return { server, control, heard, listen }
}

t.test('a subscription starts with a gap', { skip: redisSkip }, async (t) => {
  const { control, heard, listen } = await openNews(t)
  listen()
  await until(() => heard.length === 1)
  await control.publish('c', 'one')
  await until(() => heard.length === 2)
  t.same(heard, ['(gap)', 'one'])
})

t.test('a silent connection is closed, and the subscription is renewed', { skip: redisSkip }, async (t) => {
  const { server, heard, listen } = await openNews(t)
  listen()
  await until(() => heard.length === 1)
  // One heartbeat, one second for its reply, and the end of the connection. A busy machine needs longer.
  for (let silentMs = 3000; heard.length < 2; silentMs *= 2) {
    server.pause()
    await wait(silentMs)
    server.resume()
    await until(() => heard.length === 2, silentMs).catch(() => undefined)
  }
  t.same(heard, ['(gap)', '(gap)'])
})

t.test('a refused subscription is retried', { skip: redisSkip }, async (t) => {
  const { control, heard, listen } = await openNews(t)
  await control.acl('SETUSER', 'default', 'resetchannels')
  listen()
  await until(async () => /cmd=subscribe/.test(String(await control.client('LIST'))))
  t.same(heard, [])
  await control.acl('SETUSER', 'default', 'allchannels')
  await until(() => heard.length === 1)
})
