import type { LookupAddress } from 'node:dns'
import t from 'tap'
import { createAddresses } from '../../../src/proxy/nodes/addresses.ts'

const NAME = 'engine.test'
const OLD: LookupAddress = { address: '10.0.0.1', family: 4 }
const NEW: LookupAddress = { address: '10.0.0.2', family: 4 }

/** Opens a host whose name the test resolves. */
function openHost() {
  const clock = { nowMs: 0 }
  const asked: ((error: Error | null, addresses: LookupAddress[]) => void)[] = []
  const addresses = createAddresses({
    now: () => clock.nowMs,
    resolve: (_hostname, _options, answer) => asked.push(answer),
  })
  /** Resolves with the address that a connection would use. */
  const look = () =>
    new Promise<string>((resolve, reject) => {
      addresses.lookup(NAME, { all: true }, (error, found) => {
        if (error === null) resolve(Array.isArray(found) ? found.map(({ address }) => address).join() : found)
        else reject(error)
      })
    })
  return { addresses, clock, asked, look }
}

t.test('a name is resolved once in 30 seconds, even for many connections', async (t) => {
  const { clock, asked, look } = openHost()
  const looks = [look(), look(), look()]
  asked[0]?.(null, [OLD])
  t.same(await Promise.all(looks), [OLD.address, OLD.address, OLD.address])
  clock.nowMs = 29_999
  t.equal(await look(), OLD.address)
  t.equal(asked.length, 1)
  clock.nowMs = 30_000
  const next = look()
  asked[1]?.(null, [NEW])
  t.equal(await next, NEW.address)
})

t.test('a name is resolved again after a failed connection', async (t) => {
  const { addresses, asked, look } = openHost()
  const first = look()
  asked[0]?.(null, [OLD])
  await first
  addresses.expire()
  const next = look()
  asked[1]?.(null, [NEW])
  t.equal(await next, NEW.address)
})

t.test('a name that no longer resolves keeps its last good address', async (t) => {
  const { addresses, asked, look } = openHost()
  const first = look()
  asked[0]?.(null, [OLD])
  await first
  for (const [error, found] of [[new Error('ENOTFOUND'), []] as const, [null, []] as const]) {
    addresses.expire()
    const next = look()
    asked.at(-1)?.(error, [...found])
    t.equal(await next, OLD.address)
  }
})

t.test('a resolver that does not respond does not delay a connection to the last good address', async (t) => {
  const { addresses, asked, look } = openHost()
  const first = look()
  asked[0]?.(null, [OLD])
  await first
  addresses.expire()
  t.equal(await look(), OLD.address)
  asked[1]?.(null, [NEW])
  t.equal(await look(), NEW.address, 'its late answer counts')
})

t.test('a resolver that hangs is called once, even for many connections', async (t) => {
  const { addresses, asked, look } = openHost()
  const first = look()
  asked[0]?.(null, [OLD])
  await first
  addresses.expire()
  for (let round = 0; round < 3; round += 1) {
    const looks = [look(), look()]
    t.same(await Promise.all(looks), [OLD.address, OLD.address])
    t.equal(asked.length, 2)
  }
  asked[1]?.(new Error('EAI_AGAIN'), [])
  const next = look()
  t.equal(asked.length, 3, 'once it has said something, it is asked again')
  asked[2]?.(null, [NEW])
  t.equal(await next, NEW.address)
})

t.test('a name that never resolved is an error', async (t) => {
  const { asked, look } = openHost()
  const first = look()
  asked[0]?.(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }), [])
  await t.rejects(first, { code: 'ENOTFOUND' })
  const second = look()
  asked[1]?.(null, [])
  await t.rejects(second, { message: 'engine.test has no address' })
})

t.test('a lookup of a single address returns one address', (t) => {
  const { addresses, asked } = openHost()
  addresses.lookup(NAME, {}, (error, address, family) => {
    t.same([error, address, family], [null, OLD.address, 4])
    t.end()
  })
  asked[0]?.(null, [OLD, NEW])
})
