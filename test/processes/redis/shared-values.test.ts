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
  })
  t.teardown(() => values.close())
  await ready.promise
  return values
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
    t.equal(await one.write(name, 'text', 60_000), true)
    t.same(await other.read(name), { text: 'text' })
    const leftMs = await control.pttl(PREFIX + name)
    t.ok(leftMs > 50_000 && leftMs <= 60_000)
    t.equal(await one.write(name, 'x'.repeat(4097), 60_000), false, 'a long text is not written')
    t.same(await other.read(name), { text: 'text' })
  }
})

t.test(
  'with keys, a value that no key has signed for this name is not read',
  { skip: redisSkip },
  async (t) => {
    const server = await startRedis()
    t.teardown(() => server.stop())
    const control = new Redis(server.url)
    t.teardown(() => control.disconnect())
    const values = await openValues(t, server.url, KEYS)
    await control.set(`${PREFIX}default`, 'invented')
    t.equal(await values.read('default'), 'unsigned')
    await values.write('other', 'signed', 60_000)
    await control.copy(`${PREFIX}other`, `${PREFIX}default`, 'REPLACE')
    t.equal(await values.read('default'), 'unsigned')
    t.same(await values.read('other'), { text: 'signed' })
  },
)

t.test('without Redis, no value is read or written', { skip: redisSkip }, async (t) => {
  const server = await startRedis()
  const values = await openValues(t, server.url, [])
  await server.stop()
  t.equal(await values.read('default'), 'unavailable')
  t.equal(await values.write('default', 'text', 60_000), false)
})
