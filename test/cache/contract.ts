import { EventEmitter, once } from 'node:events'
import type { Test } from 'tap'
import type { BufferedResponse } from '../../src/request/buffered-response.ts'
import { acceptAll, answerOf, fillOf } from '../support/cache-harness.ts'
import type { OpenedCache } from '../support/cache-harness.ts'

const rule = { seconds: 60, tags: ['deployment'], accepts: acceptAll }

/** Tests the contract of a cache with any tiers. `open` returns an empty cache with `maxBytes` of 1 MiB. */
export function keepsTheContract(suite: Test, open: (t: Test) => OpenedCache | Promise<OpenedCache>): void {
  suite.test('a loaded response is a cache hit in memory', async (t) => {
    const { cache } = await open(t)
    const fill = fillOf(answerOf('{"id":"1"}'))
    t.equal(cache.peek('k'), null)
    t.match(await cache.load('k', rule, fill), { from: 'upstream', stored: true })
    const hit = cache.peek('k')
    t.match(hit, { from: 'memory', ageSeconds: 0, ttlSeconds: 60 })
    t.equal(hit?.response.body.toString(), '{"id":"1"}')
    t.equal(fill.calls, 1)
  })

  suite.test('a thousand simultaneous loads cause one fill', async (t) => {
    const { cache } = await open(t)
    const fill = fillOf(answerOf('once'))
    const all = await Promise.all(Array.from({ length: 1000 }, () => cache.load('k', rule, fill)))
    t.equal(fill.calls, 1)
    t.equal(new Set(all.map(({ response }) => response.body.toString())).size, 1)
  })

  suite.test('different keys are filled separately', async (t) => {
    const { cache } = await open(t)
    const [a, b] = await Promise.all([
      cache.load('a', rule, fillOf(answerOf('a'))),
      cache.load('b', rule, fillOf(answerOf('b'))),
    ])
    t.equal(`${a.response.body.toString()}${b.response.body.toString()}`, 'ab')
  })

  suite.test('a fill that fails rejects all waiting loads, and the next load fills again', async (t) => {
    const { cache } = await open(t)
    const failing = fillOf(() => Promise.reject(new Error('the engine is away')))
    const all = await Promise.allSettled([1, 2, 3].map(() => cache.load('k', rule, failing)))
    t.same(
      all.map(({ status }) => status),
      ['rejected', 'rejected', 'rejected'],
    )
    t.equal(failing.calls, 1)
    t.equal(cache.peek('k'), null)
    t.match(await cache.load('k', rule, fillOf(answerOf('back'))), { from: 'upstream', stored: true })
  })

  const unstorable: Record<string, Partial<BufferedResponse>> = {
    'a 404': { status: 404 },
    'a cookie': { headers: { 'set-cookie': 'a=b' } },
    private: { headers: { 'cache-control': 'max-age=5, Private' } },
    'no-store': { headers: { 'cache-control': 'no-store' } },
    'an encoded body': { headers: { 'content-encoding': 'gzip' } },
    'an answer for one origin': { headers: { vary: 'Accept, Origin' } },
  }
  for (const [name, part] of Object.entries(unstorable)) {
    suite.test(`a response is passed on and not stored: ${name}`, async (t) => {
      const { cache } = await open(t)
      const fill = fillOf({ ...answerOf('not for others'), ...part })
      t.match(await cache.load('k', rule, fill), { from: 'upstream', stored: false })
      t.equal(cache.peek('k'), null)
      await cache.load('k', rule, fill)
      t.equal(fill.calls, 2)
    })
  }

  suite.test('a response with no-cache of the engine is stored and keeps that header', async (t) => {
    const { cache } = await open(t)
    const fill = fillOf(answerOf('x', { 'cache-control': 'no-cache' }))
    t.match(await cache.load('k', rule, fill), { stored: true })
    t.equal(cache.peek('k')?.response.headers['cache-control'], 'no-cache')
  })

  suite.test('a response of more than an eighth of the memory limit is not stored', async (t) => {
    const { cache } = await open(t)
    const fill = fillOf(answerOf(Buffer.alloc(1024 ** 2 / 8)))
    t.match(await cache.load('k', rule, fill), { stored: false })
    await cache.load('k', rule, fill)
    t.equal(fill.calls, 2)
  })

  suite.test('a response with zero seconds to live is not stored', async (t) => {
    const { cache } = await open(t)
    const fill = fillOf(answerOf('now'))
    t.match(await cache.load('k', { seconds: 0, tags: [], accepts: acceptAll }, fill), { stored: false })
    await cache.load('k', { seconds: 0, tags: [], accepts: acceptAll }, fill)
    t.equal(fill.calls, 2)
  })

  suite.test('an eviction of a tag removes exactly the entries with that tag', async (t) => {
    const { cache } = await open(t)
    await cache.load('tagged', { seconds: 60, tags: ['a', 'b'], accepts: acceptAll }, fillOf(answerOf('old')))
    await cache.load('other', { seconds: 60, tags: ['c'], accepts: acceptAll }, fillOf(answerOf('other')))
    await cache.load('untagged', { seconds: 60, tags: [], accepts: acceptAll }, fillOf(answerOf('untagged')))
    await cache.evict(['b', 'never seen'])
    t.equal(cache.peek('tagged'), null)
    t.match(await cache.load('tagged', rule, fillOf(answerOf('new'))), { from: 'upstream' })
    t.match(cache.peek('other'), { from: 'memory' })
    t.match(cache.peek('untagged'), { from: 'memory' })
  })

  suite.test(
    'a response in flight while its tag is evicted is passed to its clients and not stored',
    async (t) => {
      const { cache } = await open(t)
      const engine = new EventEmitter()
      const asked = once(engine, 'asked')
      const loading = cache.load('k', rule, async () => {
        const answered = once(engine, 'answered')
        engine.emit('asked')
        await answered
        return answerOf('before')
      })
      await asked
      await cache.evict(['deployment'])
      const late = await cache.load('k', rule, fillOf(answerOf('after')))
      engine.emit('answered')
      t.match(await loading, { stored: false })
      t.match(late, { from: 'upstream', stored: true })
      t.equal(cache.peek('k')?.response.body.toString(), 'after')
    },
  )

  suite.test('a stored response has a strong etag and is immutable', async (t) => {
    const { cache } = await open(t)
    const body = Buffer.from('mine')
    await cache.load('k', rule, fillOf({ status: 200, headers: {}, body }))
    body.fill('x')
    const answer = cache.peek('k')?.response
    t.equal(answer?.body.toString(), 'mine')
    t.match(answer?.headers['etag'], /^"[\w+/]{27}="$/)
    t.ok(Object.isFrozen(answer?.headers))
  })
}
