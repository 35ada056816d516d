import t from 'tap'
import { MemoryTier } from '../../src/cache/memory.ts'
import { answerOf } from '../support/cache-harness.ts'

const entryOf = (body: Buffer | string, tags: readonly string[] = []) => ({
  response: answerOf(body),
  seconds: 60,
  tags,
  storedAtMs: 0,
})

t.test('the size of an entry includes body, headers, key and a fixed overhead', async (t) => {
  const tier = new MemoryTier({ maxBytes: 20_000, onDisplaced: () => undefined })
  tier.set('key', entryOf(Buffer.alloc(100)))
  t.equal(tier.size.bytes, 1536 + 6 + 100 + 'content-typeapplication/json'.length)
})

t.test('the least recently used entry is removed first, with its tags', async (t) => {
  const displaced: true[] = []
  const tier = new MemoryTier({ maxBytes: 20_000, onDisplaced: () => void displaced.push(true) })
  for (let index = 0; index < 50; index += 1) {
    tier.get('k0', 1)
    tier.set(`k${index}`, entryOf(Buffer.alloc(1000), [`tag-${index}`, 'all']))
  }
  t.ok(tier.size.bytes <= 20_000)
  t.equal(displaced.length, 50 - tier.size.entries)
  t.equal(tier.size.tags, tier.size.entries + 1)
  t.ok(tier.get('k0', 1))
  t.equal(tier.get('k1', 1), undefined)
})

t.test('an entry that is set again has only its new tags', async (t) => {
  const tier = new MemoryTier({ maxBytes: 20_000, onDisplaced: () => undefined })
  tier.set('k', entryOf('old', ['a', 'b']))
  tier.set('k', entryOf('new', ['b', 'c']))
  t.equal(tier.evict(['a']), 0)
  t.equal(tier.evict(['c']), 1)
  t.same(tier.size, { entries: 0, bytes: 0, tags: 0 })
})

t.test('evictTagged keeps entries without tags', async (t) => {
  const tier = new MemoryTier({ maxBytes: 20_000, onDisplaced: () => undefined })
  tier.set('tagged', entryOf('x', ['a', 'b']))
  tier.set('plain', entryOf('y'))
  t.equal(tier.evictTagged(), 1)
  t.ok(tier.get('plain', 0))
})
