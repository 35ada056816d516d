import { Redis } from 'ioredis'
import t from 'tap'
import type { Test } from 'tap'
import { createChangeBus } from '../../../src/redis/change-bus.ts'
import { createSigner } from '../../../src/redis/signature.ts'
import { startRedis } from '../../support/redis.ts'
import { redisSkip } from '../../support/requirements.ts'
import { until } from '../../support/cache-harness.ts'

interface Setup {
  readonly namespaces?: readonly [string, string]
  readonly keys?: readonly string[]
}

async function openNews(t: Test, { namespaces = ['n', 'n'], keys = [] }: Setup = {}) {
  const server = await startRedis()
  t.teardown(() => server.stop())
  const [one, other] = namespaces.map((namespace) => {
    const heard: string[] = []
    const news = createChangeBus({
      redis: { url: server.url },
      namespace,
      signer: createSigner(keys),
      now: () => performance.now(),
      onInvalidMessages: () => void heard.push('(doubt)'),
      onFlood: {
        onPause: () => void heard.push('(pause)'),
        onRecovery: () => void heard.push('(recovery)'),
      },
    })
    news.listen({
      onMessage: (topic, about) => void heard.push(`${topic} ${about}`),
      onGap: () => void heard.push('(gap)'),
    })
    t.teardown(() => news.close())
    return { news, heard }
  })
  if (one === undefined || other === undefined) throw new Error('two are needed')
  await until(() => one.heard.length === 1 && other.heard.length === 1)
  return { server, one, other }
}

t.test('all subscribers except the sender receive a published message', { skip: redisSkip }, async (t) => {
  const { one, other } = await openNews(t)
  await one.news.publish('default records')
  await one.news.publish('default failed', 'mary')
  await until(() => other.heard.length === 3)
  t.same(other.heard, ['(gap)', 'default records ', 'default failed mary'])
  t.same(one.heard, ['(gap)'])
})

t.test('another namespace receives no message', { skip: redisSkip }, async (t) => {
  const { server, one, other } = await openNews(t, { namespaces: ['n', 'm'] })
  await one.news.publish('records')
  await other.news.publish('identity')
  const control = new Redis(server.url)
  t.teardown(() => control.disconnect())
  await control.publish('engine-gateway:n:news', '["x","last",""]')
  await until(() => one.heard.length === 2)
  t.same(one.heard, ['(gap)', 'last '])
  t.same(other.heard, ['(gap)'])
})

t.test('pending messages are sent when Redis is reachable again', { skip: redisSkip }, async (t) => {
  const { server, one, other } = await openNews(t)
  await server.stop()
  await one.news.publish('records')
  const again = await startRedis({ port: server.port })
  t.teardown(() => again.stop())
  // Each process receives the message, or the notice that it may have missed one.
  await until(() => other.heard.length > 1)
  t.ok(other.heard.slice(1).every((heard) => heard === '(gap)' || heard === 'records '))
})

t.test('an invalid message is ignored', { skip: redisSkip }, async (t) => {
  const { server, one } = await openNews(t)
  const control = new Redis(server.url)
  t.teardown(() => control.disconnect())
  const junk = ['', 'x', '{}', '[]', '["x","t"]', '["x",1,""]', 'null', `["x","t","${'a'.repeat(5000)}"]`]
  for (const text of [...junk, '["x","last",""]']) await control.publish('engine-gateway:n:news', text)
  await until(() => one.heard.length > 1)
  t.same(one.heard, ['(gap)', 'last '])
})

const KEY = 'k'.repeat(32)
const CHANNEL = 'engine-gateway:n:news'

t.test(
  'with a signing key, a signed message is received once, and unsigned messages are reported',
  { skip: redisSkip },
  async (t) => {
    const { server, one, other } = await openNews(t, { keys: [KEY] })
    const control = new Redis(server.url)
    const spy = new Redis(server.url)
    t.teardown(() => [control, spy].forEach((redis) => redis.disconnect()))
    const texts: string[] = []
    spy.on('message', (_channel, text) => void texts.push(text))
    await spy.subscribe(CHANNEL)
    await one.news.publish('default failed', 'mary')
    await one.news.publish('default failed', 'mary')
    await until(() => other.heard.length === 3 && texts.length === 2)
    t.same(other.heard, ['(gap)', 'default failed mary', 'default failed mary'])
    const forged = ['["x","default succeeded","mary"]', `AAAA ["x"]`, 'x', '', `${texts[0]} `]
    for (const text of [...texts, ...forged]) await control.publish(CHANNEL, text)
    await until(() => other.heard.length > 3)
    await one.news.publish('last')
    await until(() => other.heard.includes('last '))
    t.same(other.heard.slice(3), ['(doubt)', '(gap)', 'last '], 'all of them are one doubt')
    t.ok(!one.heard.includes('default succeeded mary'))
  },
)

t.test(
  'a flood of invalid messages ends the subscription, and is reported once',
  { skip: redisSkip },
  async (t) => {
    const { server, one } = await openNews(t, { keys: ['a key of the test, 0123456789-0123456789'] })
    const control = new Redis(server.url)
    t.teardown(() => control.disconnect())
    const subscribers = async (): Promise<number> => {
      const [, count] = await control.pubsub('NUMSUB', 'engine-gateway:n:news')
      return Number(count)
    }
    t.equal(await subscribers(), 2)
    await Promise.all(
      Array.from({ length: 5000 }, () => control.publish('engine-gateway:n:news', '["x","records",""]')),
    )
    await until(() => one.heard.includes('(pause)'))
    await until(async () => (await subscribers()) === 0)
    t.equal(one.heard.filter((what) => what === '(pause)').length, 1)
    t.ok(
      one.heard.filter((what) => what === '(doubt)').length <= 1,
      'users and records are not read for each message',
    )
  },
)
