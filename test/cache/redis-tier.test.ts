import { Redis } from 'ioredis'
import t from 'tap'
import type { Test } from 'tap'
import { startRedis } from '../support/redis.ts'
import { redisSkip } from '../support/requirements.ts'
import { keepsTheContract } from './contract.ts'
import {
  acceptAll,
  answerOf,
  clockAt,
  fillOf,
  openSharedCache,
  until,
  loadShared,
} from '../support/cache-harness.ts'

const rule = { seconds: 60, tags: ['deployment'], accepts: acceptAll }

t.test('the shared tier in Redis', { skip: redisSkip }, async (t) => {
  const server = await startRedis()
  t.teardown(() => server.stop())
  const redisUrl = server.url
  const open = (t: Test) => openSharedCache(t, { redisUrl })

  t.test('the contract of a cache holds with a shared tier', async (t) => keepsTheContract(t, open))

  t.test('an entry of one replica is a cache hit at another, with its remaining time to live', async (t) => {
    const [one, other] = [await open(t), await open(t)]
    const body = Buffer.from([0, 255, 10, 13])
    await loadShared(one, { key: 'k', rule, answer: answerOf(body) })
    const fill = fillOf(answerOf('not asked'))
    const hit = await other.cache.load('k', rule, fill)
    t.match(hit, { from: 'redis', stored: true, ageSeconds: 0 })
    t.same(hit.response.body, body)
    t.same(hit.response, one.cache.peek('k')?.response)
    t.equal(fill.calls, 0)
    t.match(other.cache.peek('k'), { from: 'memory' })
  })

  t.test('an eviction reaches the memory of another replica in less than a second', async (t) => {
    const [one, other] = [await open(t), await open(t)]
    await one.cache.load('k', rule, fillOf(answerOf('old')))
    await other.cache.load('k', rule, fillOf(answerOf('old')))
    await one.cache.evict(['deployment'])
    t.ok((await until(() => other.cache.peek('k') === null)) < 1000)
    t.match(await other.cache.load('k', rule, fillOf(answerOf('new'))), { from: 'upstream' })
  })

  t.test('a response in flight while another replica evicts its tag is not stored in Redis', async (t) => {
    const [one, other] = [await open(t), await open(t)]
    await one.cache.load('k', rule, async () => {
      await other.cache.evict(['deployment'])
      return answerOf('before')
    })
    t.match(await other.cache.load('k', rule, fillOf(answerOf('after'))), { from: 'upstream' })
  })

  t.test('after an interrupted subscription all tagged entries are removed', async (t) => {
    const { cache } = await open(t)
    const control = controlOf(t, redisUrl)
    await cache.load('tagged', rule, fillOf(answerOf('x')))
    await cache.load('untagged', { seconds: 60, tags: [], accepts: acceptAll }, fillOf(answerOf('x')))
    await control.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await until(() => cache.peek('tagged') === null)
    t.ok(cache.peek('untagged'))
  })

  t.test('invalid eviction messages are ignored', async (t) => {
    const { cache } = await open(t)
    const control = controlOf(t, redisUrl)
    const channel = `engine-gateway:${t.name}:evict`
    await cache.load('k', rule, fillOf(answerOf('x')))
    for (const text of ['', '{', 'null', '{"from":1,"tags":[]}', '{"from":"a","tags":"deployment"}'])
      await control.publish(channel, text)
    await control.publish(
      channel,
      JSON.stringify({ from: 'a', tags: ['deployment', 7], pad: 'x'.repeat(70_000) }),
    )
    await control.publish(channel, JSON.stringify({ from: 'a', tags: [7, 'other'] }))
    t.ok(cache.peek('k'))
    await control.publish(channel, JSON.stringify({ from: 'a', tags: ['*'] }))
    await until(() => cache.peek('k') === null)
  })

  const damages: Record<string, (control: Redis, name: string) => Promise<unknown>> = {
    'a cut value': (control, name) => control.set(name, 'EGC1', 'PX', 1000),
    'a foreign value': (control, name) => control.set(name, 'hello', 'PX', 60_000),
    'a foreign type': async (control, name) => {
      await control.del(name)
      return control.lpush(name, 'x')
    },
    'a value without an end': (control, name) => control.persist(name),
    'a value with more time than it was given': (control, name) => control.pexpire(name, 61_000),
    'a value that is longer than any': (control, name) => control.append(name, 'x'.repeat(4 * 1024 ** 2)),
  }
  const KEYS = [['k'.repeat(32)], []] as const
  const cases = Object.entries(damages).flatMap(([what, damage]) =>
    KEYS.map((signingKeys) => ({ what, damage, signingKeys })),
  )
  for (const { what, damage, signingKeys } of cases) {
    const how = signingKeys.length > 0 ? ', where values are signed,' : ''
    t.test(`${what}${how} is a miss, is counted and is removed`, async (t) => {
      const setup = { redisUrl, signingKeys }
      const [one, other] = [await openSharedCache(t, setup), await openSharedCache(t, setup)]
      const control = controlOf(t, redisUrl)
      await loadShared(one, { key: 'k', rule, answer: answerOf('good') })
      const [name = ''] = await control.keys(`engine-gateway:${t.name}:entry:*`)
      await damage(control, name)
      t.match(await other.cache.load('k', rule, fillOf(answerOf('new'))), { from: 'upstream' })
      t.match(other.events, ['redis:corrupt', 'upstream:filled', 'memory:stored'])
      await until(() => other.events.includes('redis:stored'))
      t.ok((await control.pttl(name)) > 0)
    })
  }

  t.test('with a signing key an entry without its signature is a miss, is counted and removed', async (t) => {
    const [signingKeys, foreign] = [['k'.repeat(32)], ['f'.repeat(32)]]
    const signed = await openSharedCache(t, { redisUrl, signingKeys })
    for (const keys of [[], foreign]) {
      const other = await openSharedCache(t, { redisUrl, signingKeys: keys })
      const key = `of ${keys.length}`
      await loadShared(other, { key, rule, answer: answerOf('forged') })
      signed.events.length = 0
      t.match(await signed.cache.load(key, rule, fillOf(answerOf('new'))), { from: 'upstream' })
      t.equal(signed.events[0], 'redis:corrupt')
      await until(() => signed.events.includes('redis:stored'))
    }
  })

  t.test('with a signing key replicas share their entries, even during a change of the key', async (t) => {
    const [old, next] = ['o'.repeat(32), 'n'.repeat(32)]
    const one = await openSharedCache(t, { redisUrl, signingKeys: [old, next] })
    const other = await openSharedCache(t, { redisUrl, signingKeys: [next, old] })
    await loadShared(one, { key: 'k', rule, answer: answerOf('x') })
    t.match(await other.cache.load('k', rule, fillOf(answerOf('y'))), { from: 'redis' })
    await loadShared(other, { key: 'l', rule, answer: answerOf('x') })
    t.match(await one.cache.load('l', rule, fillOf(answerOf('y'))), { from: 'redis' })
  })

  t.test('a signed entry that was restored after its expiry is a miss', async (t) => {
    const signingKeys = ['k'.repeat(32)]
    const one = await openSharedCache(t, { redisUrl, signingKeys })
    const later = await openSharedCache(t, { redisUrl, signingKeys, wallNow: () => Date.now() + 361_000 })
    const early = await openSharedCache(t, { redisUrl, signingKeys, wallNow: () => Date.now() - 301_000 })
    const load = ({ cache }: typeof one) => cache.load('k', rule, fillOf(answerOf('new')))
    await load(one)
    await until(() => one.events.includes('redis:stored'))
    const control = controlOf(t, redisUrl)
    const [name = ''] = await control.keys(`engine-gateway:${t.name}:entry:*`)
    for (const other of [later, early]) {
      const kept = await control.getBuffer(name)
      t.match(await load(other), { from: 'upstream' })
      t.equal(other.events[0], 'redis:corrupt')
      await until(() => other.events.includes('redis:stored'))
      await control.set(name, kept ?? '', 'PX', 60_000)
    }
  })

  t.test('an entry with a longer time to live than its rule is a miss', async (t) => {
    const [one, other] = [await open(t), await open(t)]
    await one.cache.load('k', { ...rule, seconds: 61 }, fillOf(answerOf('x')))
    await until(() => one.events.includes('redis:stored'))
    t.match(await other.cache.load('k', rule, fillOf(answerOf('y'))), { from: 'upstream' })
    t.equal(other.events[0], 'redis:corrupt')
  })

  const strangers: Record<string, (control: Redis, name: string) => Promise<unknown>> = {
    'a token that is too long': (control, name) => control.set(name, 'x'.repeat(1024 ** 2)),
    'a token of other characters': (control, name) => control.set(name, 'one two thre'),
    'a token of another type': (control, name) => control.lpush(name, 'x'),
  }
  for (const [what, put] of Object.entries(strangers)) {
    t.test(`${what} is removed, and responses are shared again`, async (t) => {
      const { cache, events } = await open(t)
      const control = controlOf(t, redisUrl)
      await cache.load('k', rule, fillOf(answerOf('x')))
      await until(() => events.includes('redis:stored'))
      const names = await control.keys(`engine-gateway:${t.name}:tag:*`)
      await control.del(names)
      for (const name of names) await put(control, name)
      t.match(await cache.load('l', rule, fillOf(answerOf('x'))), { from: 'upstream' })
      events.length = 0
      await cache.load('m', rule, fillOf(answerOf('x')))
      await until(() => events.includes('redis:stored'))
    })
  }

  const evictions: Record<string, readonly string[]> = {
    'an evicted tag': ['deployment'],
    'very many evicted tags': Array.from({ length: 1001 }, (_, index) => `${index}`),
  }
  for (const [what, tags] of Object.entries(evictions)) {
    t.test(`entries in Redis are not used until Redis has received ${what}`, async (t) => {
      const [one, other] = [await open(t), await open(t)]
      await loadShared(one, { key: 'k', rule, answer: answerOf('old') })
      // The first eviction is in flight, so the second one has to wait.
      const first = other.cache.evict(['another'])
      const second = other.cache.evict(tags)
      t.match(await other.cache.load('k', rule, fillOf(answerOf('new'))), { from: 'upstream' })
      await Promise.all([first, second])
      t.match(await other.cache.load('l', rule, fillOf(answerOf('new'))), { from: 'upstream' })
    })
  }

  t.test('an eviction that Redis refuses is retried, and until then its entries are not used', async (t) => {
    const own = await startRedis()
    t.teardown(() => own.stop())
    const [one, other] = [
      await openSharedCache(t, { redisUrl: own.url }),
      await openSharedCache(t, { redisUrl: own.url }),
    ]
    const control = controlOf(t, own.url)
    await loadShared(one, { key: 'k', rule, answer: answerOf('old') })
    await control.acl('SETUSER', 'default', '-del')
    const refused = other.cache.evict(['deployment'])
    t.match(await other.cache.load('k', rule, fillOf(answerOf('new'))), { from: 'upstream' })
    await refused
    await control.acl('SETUSER', 'default', '+del')
    let asked = 0
    await until(async () => {
      asked += 1
      await other.cache.load(`other ${asked}`, rule, fillOf(answerOf('x')))
      return other.events.includes('redis:stored')
    })
    const third = await openSharedCache(t, { redisUrl: own.url })
    t.match(await third.cache.load('k', rule, fillOf(answerOf('new'))), { from: 'upstream' })
  })

  t.test('after a reconnection the evictions of the last minute are published again', async (t) => {
    const clock = clockAt(0)
    const { cache } = await openSharedCache(t, { redisUrl, now: clock.now })
    const control = controlOf(t, redisUrl)
    const told: string[] = []
    const listener = control.duplicate()
    t.teardown(() => listener.disconnect())
    await listener.subscribe(`engine-gateway:${t.name}:evict`)
    listener.on('message', (_channel, text: string) => told.push(...JSON.parse(text).tags))
    await cache.evict(['old'])
    clock.nowMs = 1000
    await cache.evict(['edge'])
    clock.nowMs = 61_000
    await cache.evict(['new'])
    await until(() => told.length === 3)
    told.length = 0
    await control.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await until(() => told.length > 0)
    t.same(told, ['edge', 'new'])
  })

  t.test('an eviction message with more than a thousand tags evicts every tagged entry', async (t) => {
    const { cache } = await open(t)
    const tags = Array.from({ length: 1001 }, (_, index) => `${index}`)
    await cache.load('k', rule, fillOf(answerOf('x')))
    await controlOf(t, redisUrl).publish(
      `engine-gateway:${t.name}:evict`,
      JSON.stringify({ from: 'a', tags }),
    )
    await until(() => cache.peek('k') === null)
    t.equal(cache.size.entries, 0)
  })

  t.test('a closed tier leaves no connection open', async (t) => {
    const own = await startRedis()
    t.teardown(() => own.stop())
    const control = controlOf(t, own.url)
    const connections = async () =>
      String(await control.call('CLIENT', 'LIST'))
        .trim()
        .split('\n').length
    const { cache } = await openSharedCache(t, { redisUrl: own.url })
    t.equal(await connections(), 3)
    await cache.close()
    await until(async () => (await connections()) === 1, 10_000)
  })

  t.test('a response that is too large for the shared tier is stored in memory', async (t) => {
    const opened = await openSharedCache(t, { redisUrl, maxBytes: 64 * 1024 ** 2 })
    await opened.cache.load('k', rule, fillOf(answerOf(Buffer.alloc(2 * 1024 ** 2))))
    t.ok(opened.cache.peek('k'))
    t.ok(opened.events.includes('redis:refused'))
  })

  t.test('keys and tags are hashes under the namespace in Redis, and all have a time to live', async (t) => {
    const opened = await open(t)
    const control = controlOf(t, redisUrl)
    await loadShared(opened, {
      key: 'secret-key',
      rule: { seconds: 60, tags: ['secret-tag'], accepts: acceptAll },
      answer: answerOf('x'),
    })
    const names = await control.keys(`engine-gateway:${t.name}:*`)
    t.equal(names.length, 3)
    t.notMatch(names.join(), /secret/)
    for (const name of names) t.ok((await control.pttl(name)) > 0, name)
  })
})

function controlOf(t: Test, url: string): Redis {
  const control = new Redis(url)
  t.teardown(() => control.disconnect())
  return control
}
