import t from 'tap'
import type { CacheHit } from '../../src/cache/entry.ts'
import { cacheStatusOf } from '../../src/cache/cache-status.ts'
import { answerOf } from '../support/cache-harness.ts'

const hit: CacheHit = { response: answerOf(''), ageSeconds: 3, ttlSeconds: 27, from: 'memory', stored: true }

t.test('Cache-Status reports a hit with its tier, and a miss with and without storing', async (t) => {
  t.equal(cacheStatusOf(hit), 'engine-gateway; hit; ttl=27; detail=memory')
  t.equal(cacheStatusOf({ ...hit, from: 'redis' }), 'engine-gateway; hit; ttl=27; detail=redis')
  t.equal(cacheStatusOf({ ...hit, from: 'upstream' }), 'engine-gateway; fwd=uri-miss; stored')
  t.equal(cacheStatusOf({ ...hit, from: 'upstream', stored: false }), 'engine-gateway; fwd=uri-miss')
})
