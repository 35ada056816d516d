import { performance } from 'node:perf_hooks'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { createSharedValues, type SharedValues } from '../../../src/redis/shared-values.ts'
import { createSigner } from '../../../src/redis/signature.ts'
import { startRedis } from '../../support/redis.ts'
import { redisSkip } from '../../support/requirements.ts'

const KEYS = ['a key of at least thirty-two bytes, for signatures']
const PREFIX = 'engine-gateway:test:value:'

async function openValues(t: Test, url: string, keys: readonly string[]): Promise<SharedValues> {
  const ready = Promise.withResolvers<void>()
  const values = createSharedValues({
    redis: { url },
    namespace: 'test',
    signer: createSigner(keys),
    now: () => performance.now(),
    onReady: ready.resolve,
    onAway: () => undefined,
  })
  t.teardown(() => values.close())
  await ready.promise
  return values
}

/** Reads a value that exists. */
async function textOf(values: SharedValues, name: string): Promise<string | null> {
  const value = await values.read(name)
  if (value === null || value === 'unavailable') throw new Error(`${name} is ${value}`)
  return value.text
}

/** Returns what replaces a value. */
function nextOf(text: string) {
  return { text, keepMs: 60_000 }
}

/** Replaces the value that Redis has now. */
async function write(values: SharedValues, name: string, text: string) {
  const value = await values.read(name)
  return value === 'unavailable' ? value : values.replace(name, value, { text, keepMs: 60_000 })
}

t.test('a value is read by other processes, and expires', { skip: redisSkip }, async (t) => {
  const server = await startRedis()
  t.teardown(() => server.stop())
  const control = new Redis(server.url)
  t.teardown(() => control.disconnect())
  for (const keys of [[], KEYS]) {
    const [one, other] = [await openValues(t, server.url, keys), await openValues(t, server.url, keys)]
    const name = `with ${keys.length} keys`
    t.equal(await other.read(name), null)
    t.equal(await write(one, name, 'text'), 'replaced')
    t.equal(await textOf(other, name), 'text')
    const leftMs = await control.pttl(PREFIX + name)
    t.ok(leftMs > 50_000 && leftMs <= 60_000)
    t.equal(await write(one, name, 'x'.repeat(4097)), 'unavailable', 'a long text is not written')
    t.equal(await textOf(other, name), 'text')
  }
})

t.test('a value is replaced only if no other process has changed it', { skip: redisSkip }, async (t) => {
  const server = await startRedis()
  t.teardown(() => server.stop())
  for (const keys of [[], KEYS]) {
    const [one, other] = [await openValues(t, server.url, keys), await openValues(t, server.url, keys)]
    const name = `with ${keys.length} keys`
    const results = await Promise.all(
      [one, other].map((values) => values.replace(name, null, nextOf('first'))),
    )
    t.same(results.toSorted(), ['changed', 'replaced'])
    const found = await one.read(name)
    if (found === 'unavailable') throw new Error(found)
    t.equal(await write(other, name, 'second'), 'replaced')
    t.equal(await one.replace(name, found, nextOf('third')), 'changed')
    t.equal(await one.replace(name, null, nextOf('third')), 'changed')
    t.equal(await textOf(one, name), 'second')
  }
})

t.test(
  'with keys, a value that no key has signed for this name has no text, and can be replaced',
  { skip: redisSkip },
  async (t) => {
    const server = await startRedis()
    t.teardown(() => server.stop())
    const control = new Redis(server.url)
    t.teardown(() => control.disconnect())
    const values = await openValues(t, server.url, KEYS)
    await control.set(`${PREFIX}default`, 'invented')
    t.equal(await textOf(values, 'default'), null)
    await write(values, 'other', 'signed')
    await control.copy(`${PREFIX}other`, `${PREFIX}default`, 'REPLACE')
    t.equal(await textOf(values, 'default'), null)
    t.equal(await textOf(values, 'other'), 'signed')
    // A value that is longer than any of a gateway.
    await control.set(`${PREFIX}default`, 'x'.repeat(100_000))
    t.equal(await textOf(values, 'default'), null)
    t.equal(await write(values, 'default', 'own'), 'replaced')
    t.equal(await textOf(values, 'default'), 'own')
    await control.del(`${PREFIX}default`)
    await control.rpush(`${PREFIX}default`, 'a list')
    t.equal(await values.read('default'), 'unavailable')
  },
)

t.test('without Redis, no value is read or written', { skip: redisSkip }, async (t) => {
  const server = await startRedis()
  const values = await openValues(t, server.url, [])
  await server.stop()
  t.equal(await values.read('default'), 'unavailable')
  t.equal(await values.replace('default', null, { text: 'text', keepMs: 60_000 }), 'unavailable')
})
