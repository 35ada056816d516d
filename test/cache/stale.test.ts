import t from 'tap'
import { type GatewayCode, GatewayError } from '../../src/errors.ts'
import { createCache } from '../../src/cache/cache.ts'
import type { CacheRule } from '../../src/cache/entry.ts'
import type { SharedReading, SharedTier } from '../../src/cache/shared-tier.ts'
import type { BufferedResponse } from '../../src/request/buffered-response.ts'
import { acceptAll, answerOf, clockAt } from '../support/cache-harness.ts'

const RULE = { seconds: 30, tags: ['a'], accepts: acceptAll }
const WHILE_REVALIDATE: CacheRule = { ...RULE, stale: { whileRevalidate: 10, ifError: 0 } }
const IF_ERROR: CacheRule = { ...RULE, stale: { whileRevalidate: 0, ifError: 60 } }

/** Opens a cache with a response of 30 s ago, in front of an engine whose responses the test decides. */
async function openWithExpired(rule: CacheRule, redis: SharedTier | null = null) {
  const clock = clockAt(0)
  const events: string[] = []
  const pending: PromiseWithResolvers<BufferedResponse>[] = []
  const onEvent = (tier: string, result: string) => void events.push(`${tier}:${result}`)
  const cache = createCache({ maxBytes: 1024 ** 2, redis, now: clock.now, onEvent })
  const fill = () => {
    const one = Promise.withResolvers<BufferedResponse>()
    pending.push(one)
    return one.promise
  }
  const load = () => {
    const result = cache.load('k', rule, fill)
    // A test may look at the result later than it is known.
    result.catch(() => undefined)
    return result
  }
  /** Ends the request to the engine that began first. */
  const respond = async (response: BufferedResponse | Error) => {
    await settle()
    const first = pending.shift()
    if (response instanceof Error) first?.reject(response)
    else first?.resolve(response)
    await settle()
  }
  const first = load()
  await respond(answerOf('old'))
  await first
  clock.nowMs = 30_000
  events.length = 0
  return { cache, clock, events, pending, load, respond }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))
const failure = (code: GatewayCode = 'GW_NO_NODE') => new GatewayError(code)
const bodyOf = async (hit: Promise<{ readonly response: BufferedResponse }>) =>
  (await hit).response.body.toString()

t.test('an expired response is served while one request reads it again', async (t) => {
  const { cache, clock, events, pending, load, respond } = await openWithExpired(WHILE_REVALIDATE)
  clock.nowMs = 39_999
  t.equal(cache.peek('k'), null)
  const hits = await Promise.all([load(), load(), load()])
  t.match(hits[0], { from: 'memory', ageSeconds: 39, ttlSeconds: -9, stored: true })
  t.equal(pending.length, 1)
  await respond(answerOf('new'))
  t.match(cache.peek('k'), { ageSeconds: 0, ttlSeconds: 30 })
  t.equal(await bodyOf(load()), 'new')
  t.same(events.slice(0, 6), [
    'memory:miss',
    'memory:stale',
    'memory:stale',
    'memory:stale',
    'upstream:filled',
    'memory:stored',
  ])
})

t.test('after the stale time a request waits for the engine', async (t) => {
  const { cache, clock, pending, load, respond } = await openWithExpired(WHILE_REVALIDATE)
  clock.nowMs = 40_000
  const waiting = load()
  t.equal(cache.size.entries, 0)
  t.equal(pending.length, 1)
  await respond(answerOf('new'))
  t.equal(await bodyOf(waiting), 'new')
})

t.test('a response that the engine no longer has is not served again', async (t) => {
  const { load, respond, cache, pending } = await openWithExpired(WHILE_REVALIDATE)
  await load()
  await respond({ ...answerOf('gone'), status: 404 })
  t.equal(cache.size.entries, 0)
  const waiting = load()
  t.equal(pending.length, 1)
  await respond({ ...answerOf('gone'), status: 404 })
  t.match(await waiting, { response: { status: 404 } })
})

t.test('an eviction removes an expired response, and the result of its revalidation', async (t) => {
  const { cache, load, respond, pending } = await openWithExpired(WHILE_REVALIDATE)
  await load()
  await cache.evict(['a'])
  const waiting = load()
  t.equal(pending.length, 2)
  await respond(answerOf('older than the eviction'))
  t.equal(cache.size.entries, 0)
  await respond(answerOf('new'))
  t.equal(await bodyOf(waiting), 'new')
  t.equal(await bodyOf(load()), 'new')
})

t.test('a revalidation that fails is repeated after a second, until the stale time is over', async (t) => {
  const { clock, load, respond, pending } = await openWithExpired(WHILE_REVALIDATE)
  await load()
  await respond(failure())
  clock.nowMs += 999
  await load()
  t.equal(pending.length, 0)
  clock.nowMs += 1
  t.equal(await bodyOf(load()), 'old')
  await respond({ ...answerOf('busy'), status: 503 })
  t.equal(await bodyOf(load()), 'old')
  clock.nowMs = 40_000
  const waiting = load()
  await respond(failure())
  await t.rejects(waiting, { code: 'GW_NO_NODE' })
})

t.test('if the engine does not work, an expired response is served for the time of the rule', async (t) => {
  const { clock, load, respond, events, pending } = await openWithExpired(IF_ERROR)
  const both = [load(), load()]
  t.equal(pending.length, 1, 'the first requests wait for the engine')
  await respond(failure('GW_UPSTREAM_TIMEOUT'))
  for (const one of both) t.equal(await bodyOf(one), 'old')
  t.same(events, ['upstream:joined', 'upstream:failed', 'memory:stale'])
  clock.nowMs += 1_000
  t.equal(await bodyOf(load()), 'old', 'further requests do not wait')
  t.equal(pending.length, 1)
  await respond({ ...answerOf('broken'), status: 500 })
  t.equal(await bodyOf(load()), 'old')
  clock.nowMs = 90_000
  const late = load()
  await respond(failure())
  await t.rejects(late, { code: 'GW_NO_NODE' })
})

t.test('an error response of the engine is replaced by an expired response', async (t) => {
  const { load, respond } = await openWithExpired(IF_ERROR)
  const waiting = load()
  await respond({ ...answerOf('broken'), status: 500 })
  t.equal(await bodyOf(waiting), 'old')
})

t.test('an error that is not a failure of the engine is not replaced', async (t) => {
  for (const error of [failure('GW_DECISION_OUTDATED'), failure('GW_DRAINING'), new TypeError('a mistake')]) {
    const { load, respond } = await openWithExpired(IF_ERROR)
    const waiting = load()
    await respond(error)
    await t.rejects(waiting, error)
  }
})

t.test('a revalidation uses a response that another replica has stored', async (t) => {
  let reading: SharedReading = { result: 'miss', found: null, tokens: null }
  const redis: SharedTier = {
    isUp: true,
    read: async () => reading,
    write: async () => 'stored',
    evict: async () => undefined,
    listen: () => undefined,
    close: async () => undefined,
  }
  const { load, cache, clock, pending } = await openWithExpired(WHILE_REVALIDATE, redis)
  const found = { response: answerOf('of another replica'), seconds: 30, ttlMs: 20_000 }
  reading = { result: 'hit', found, tokens: null }
  t.equal(await bodyOf(load()), 'old')
  await settle()
  t.equal(pending.length, 0)
  t.match(cache.peek('k'), { ageSeconds: 10 })
  clock.nowMs += 25_000
  t.equal(await bodyOf(load()), 'of another replica', 'also after its time')
})
