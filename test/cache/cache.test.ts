import t from 'tap'
import { keepsTheContract } from './contract.ts'
import { answerOf, clockAt, fillOf, openCache } from '../support/cache-harness.ts'

keepsTheContract(t, (t) => openCache(t))

t.test('an entry ages by the clock it was given, and ends with its seconds', async (t) => {
  const clock = clockAt(5000)
  const { cache } = openCache(t, { now: clock.now })
  await cache.load('k', { seconds: 10, tags: [] }, fillOf(answerOf('x')))
  clock.nowMs += 9999
  t.match(cache.peek('k'), { ageSeconds: 9, ttlSeconds: 1 })
  clock.nowMs += 1
  t.equal(cache.peek('k'), null)
  t.equal(cache.size.entries, 0)
})

t.test('a load that finds what was filled a moment ago does not fill', async (t) => {
  const { cache } = openCache(t)
  const rule = { seconds: 10, tags: [] }
  await cache.load('k', rule, fillOf(answerOf('x')))
  const fill = fillOf(answerOf('y'))
  t.match(await cache.load('k', rule, fill), { from: 'memory' })
  t.equal(fill.calls, 0)
})

t.test('every step is reported', async (t) => {
  const { cache, events } = openCache(t)
  const rule = { seconds: 10, tags: ['a'] }
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

t.test('with a bound of zero nothing is kept', async (t) => {
  const { cache } = openCache(t, { maxBytes: 0 })
  t.match(await cache.load('k', { seconds: 10, tags: [] }, fillOf(answerOf('x'))), { stored: false })
  t.equal(cache.size.entries, 0)
})
