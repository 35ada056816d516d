import { EventEmitter, once } from 'node:events'
import t, { type Test } from 'tap'
import { createCache } from '../../src/cache/cache.ts'
import type { SharedReading, SharedTier, TierListener } from '../../src/cache/shared-tier.ts'
import { keepsTheContract } from './contract.ts'
import { acceptAll, answerOf, clockAt, fillOf, openCache } from '../support/cache-harness.ts'

keepsTheContract(t, (t) => openCache(t))

t.test('an entry ages by the injected clock and expires after its seconds', async (t) => {
  const clock = clockAt(5000)
  const { cache } = openCache(t, { now: clock.now })
  await cache.load('k', { seconds: 10, tags: [], accepts: acceptAll }, fillOf(answerOf('x')))
  clock.nowMs += 9999
  t.match(cache.peek('k'), { ageSeconds: 9, ttlSeconds: 1 })
  clock.nowMs += 1
  t.equal(cache.peek('k'), null)
  t.equal(cache.size.entries, 0)
})

t.test('a load is a cache hit if the entry was filled just before', async (t) => {
  const { cache } = openCache(t)
  const rule = { seconds: 10, tags: [], accepts: acceptAll }
  await cache.load('k', rule, fillOf(answerOf('x')))
  const fill = fillOf(answerOf('y'))
  t.match(await cache.load('k', rule, fill), { from: 'memory' })
  t.equal(fill.calls, 0)
})

t.test('every step of a load is reported as an event', async (t) => {
  const { cache, events } = openCache(t)
  const rule = { seconds: 10, tags: ['a'], accepts: acceptAll }
  cache.peek('k')
  await Promise.all([1, 2].map(() => cache.load('k', rule, fillOf(answerOf('x')))))
  cache.peek('k')
  await cache.evict(['a'])
  await cache.load('k', rule, fillOf({ ...answerOf('x'), status: 404 }))
  await t.rejects(cache.load('k', rule, () => Promise.reject(new Error('away'))))
  t.same(events, [
    'memory:miss',
    'upstream:joined',
    'upstream:filled',
    'memory:stored',
    'memory:hit',
    'memory:evicted',
    'upstream:filled',
    'memory:refused',
    'upstream:failed',
  ])
})

t.test('with a limit of zero bytes nothing is stored', async (t) => {
  const { cache } = openCache(t, { maxBytes: 0 })
  t.match(await cache.load('k', { seconds: 10, tags: [], accepts: acceptAll }, fillOf(answerOf('x'))), {
    stored: false,
  })
  t.equal(cache.size.entries, 0)
})

const MISS: SharedReading = { result: 'miss', found: null, tokens: 'a' }

/** Opens a cache with a shared tier. The test sets its results and calls its listener. */
function openBefore(t: Test, read: () => Promise<SharedReading>) {
  const clock = clockAt(5000)
  const told: { listener: TierListener | null; written: string[]; evicted: string[] } = {
    listener: null,
    written: [],
    evicted: [],
  }
  const redis: SharedTier = {
    isUp: true,
    read,
    write: async (key) => {
      told.written.push(key)
      return 'stored'
    },
    evict: async (tags) => void told.evicted.push(...tags),
    listen: (listener) => {
      told.listener = listener
    },
    close: async () => {},
  }
  const cache = createCache({ maxBytes: 1024 ** 2, redis, now: clock.now, onEvent: () => {} })
  t.teardown(() => cache.close())
  return { cache, clock, told }
}

const TAGGED = { seconds: 10, tags: ['a'], accepts: acceptAll }

t.test('an entry from the shared tier keeps its remaining time to live', async (t) => {
  const found = { response: answerOf('x'), seconds: 10, ttlMs: 4000 }
  const { cache, clock } = openBefore(t, async () => ({ result: 'hit', found, tokens: 'a' }))
  const fill = fillOf(answerOf('y'))
  t.match(await cache.load('k', TAGGED, fill), { from: 'redis', ageSeconds: 6, ttlSeconds: 4 })
  t.equal(fill.calls, 0)
  clock.nowMs += 3999
  t.match(cache.peek('k'), { from: 'memory', ageSeconds: 9 })
  clock.nowMs += 1
  t.equal(cache.peek('k'), null)
})

t.test('an entry that was read from the shared tier before an eviction is not used afterwards', async (t) => {
  const read = new EventEmitter()
  const reading = once(read, 'end')
  const found = { response: answerOf('old'), seconds: 10, ttlMs: 4000 }
  const { cache, told } = openBefore(t, async () => {
    await reading
    return { result: 'hit', found, tokens: 'a' }
  })
  const loaded = cache.load('k', TAGGED, fillOf(answerOf('new')))
  await cache.evict(['a'])
  read.emit('end')
  const { response, stored } = await loaded
  t.equal(response.body.toString(), 'new')
  t.equal(stored, false)
  t.equal(cache.peek('k'), null)
  t.same(told, { ...told, evicted: ['a'], written: [] })
})

t.test('a response is stored only in memory if the shared tier cannot be read', async (t) => {
  const { cache, told } = openBefore(t, async () => ({ result: 'error', found: null, tokens: null }))
  t.match(await cache.load('k', TAGGED, fillOf(answerOf('x'))), { from: 'upstream', stored: true })
  t.same(told.written, [])
  t.ok(cache.peek('k'))
})

t.test('after a gap in evictions a response in flight is stored only if it has no tags', async (t) => {
  const { cache, told } = openBefore(t, async () => MISS)
  const engine = new EventEmitter()
  const filled = once(engine, 'end')
  const fill = fillOf(async () => {
    await filled
    return answerOf('x')
  })
  const loads = ['tagged', 'untagged'].map((key) =>
    cache.load(key, key === 'tagged' ? TAGGED : { seconds: 10, tags: [], accepts: acceptAll }, fill),
  )
  while (fill.calls < 2) await Promise.resolve()
  told.listener?.onGap()
  engine.emit('end')
  t.match(await Promise.all(loads), [{ stored: false }, { stored: true }])
  t.equal(cache.peek('tagged'), null)
  t.ok(cache.peek('untagged'))
  t.same(told.written, ['untagged'])
})

t.test('a fill that was overtaken by an eviction does not affect the next one', async (t) => {
  const { cache } = openCache(t)
  const engine = new EventEmitter()
  const [before, after] = [once(engine, 'before'), once(engine, 'after')]
  const first = cache.load('k', TAGGED, async () => {
    await before
    return answerOf('old')
  })
  await cache.evict(['a'])
  const fill = fillOf(async () => {
    await after
    return answerOf('new')
  })
  const second = cache.load('k', TAGGED, fill)
  engine.emit('before')
  t.match(await first, { stored: false })
  const third = cache.load('k', TAGGED, fill)
  engine.emit('after')
  for (const { response } of await Promise.all([second, third])) t.equal(response.body.toString(), 'new')
  t.equal(fill.calls, 1, 'who comes meanwhile waits for it')
  t.ok(cache.peek('k'))
})

t.test('one entry may use less than an eighth of the memory, and evictions by replicas apply', async (t) => {
  const { cache, told } = openBefore(t, async () => MISS)
  const large = answerOf(Buffer.alloc(1024 ** 2 / 8))
  t.match(await cache.load('large', TAGGED, fillOf(large)), { stored: false })
  t.same(told.written, [], 'what is not kept here is not shared')
  await cache.load('k', TAGGED, fillOf(answerOf('x')))
  told.listener?.onEvicted(['b'])
  t.ok(cache.peek('k'))
  told.listener?.onEvicted(['b', 'a'])
  t.equal(cache.peek('k'), null)
  t.match(cache.size, { entries: 0, bytes: 0 })
})
