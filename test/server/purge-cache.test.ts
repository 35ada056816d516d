import t from 'tap'
import { createCache } from '../../src/cache/cache.ts'
import { purgeCache } from '../../src/server/purge-cache.ts'
import { OPERATIONS } from '../../src/operations/all.ts'
import { CACHE_TAGS } from '../../src/operations/cached-content.ts'
import { openGateway } from '../support/open-gateway.ts'
import { acceptAll, answerOf } from '../support/cache-harness.ts'

const KEYS = ['default:deployment', 'default:external-task', 'second:deployment', 'second:external-task']

/** Returns the selections of a cache with one entry for each engine and tag, with the keys that a purge leaves. */
async function openPurge() {
  const { dependencies } = await gateway
  const cache = createCache({ maxBytes: 1_000_000, redis: null, now: () => 0, onEvent: () => undefined })
  for (const key of KEYS)
    await cache.load(key, { seconds: 60, tags: [key], accepts: acceptAll }, async () => answerOf('x'))
  return async (selection: unknown) => {
    const result = await purgeCache({ ...dependencies, cache }, selection)
    return { result, left: KEYS.filter((key) => cache.peek(key) !== null) }
  }
}

const gateway = openGateway(t)

t.test('a purge without a selection removes all responses', async (t) => {
  for (const selection of [undefined, null, {}]) {
    const purge = await openPurge()
    t.same(await purge(selection), { result: { evicted: 4, redis: 'none' }, left: [] })
  }
})

t.test('a purge removes the responses of an engine, of a tag, or of both', async (t) => {
  const ofEngine = await openPurge()
  t.same(await ofEngine({ engine: 'second' }), {
    result: { evicted: 2, redis: 'none' },
    left: KEYS.slice(0, 2),
  })
  const ofTag = await openPurge()
  t.same((await ofTag({ tag: 'deployment' })).left, ['default:external-task', 'second:external-task'])
  const ofBoth = await openPurge()
  t.same((await ofBoth({ engine: 'default', tag: 'external-task' })).left, [
    'default:deployment',
    'second:deployment',
    'second:external-task',
  ])
})

t.test('a selection that is not valid removes nothing', async (t) => {
  const purge = await openPurge()
  for (const selection of [
    { engine: 'third' },
    { engine: null },
    { tag: 'default:deployment' },
    { tag: '' },
    { engin: 'default' },
    [],
    'all',
    { __proto__: { tag: 'deployment' }, tags: ['deployment'] },
  ]) {
    const { result, left } = await purge(selection)
    t.type('problem' in result && result.problem, 'string', JSON.stringify(selection))
    t.same(left, KEYS)
  }
})

t.test('each cached operation has a tag that a purge selects', async (t) => {
  const cached = OPERATIONS.flatMap(({ cache }) => cache ?? [])
  t.ok(cached.length > 10)
  for (const { tags } of cached) t.ok(tags.length > 0 && tags.every((tag) => CACHE_TAGS.includes(tag)))
})
