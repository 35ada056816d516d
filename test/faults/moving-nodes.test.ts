import { once } from 'node:events'
import http from 'node:http'
import t, { type Test } from 'tap'
import { READ, refusalOf } from '../support/fake-engine.ts'
import { LIMIT, readTimes, reservedUrl, watch } from '../support/watch-nodes.ts'

const LINUX = { skip: process.platform === 'linux' ? false : 'needs a second loopback address' }

/** Starts two servers with one port, at the two addresses to which the name may resolve. */
async function startMoving(t: Test) {
  const seen = { old: 0, new: 0 }
  const old = http.createServer((_request, response) => void response.end(String((seen.old += 1))))
  const url = await reservedUrl(old)
  const port = Number(new URL(url).port)
  old.listen(port, '127.0.0.1')
  const next = http.createServer((_request, response) => void response.end(String((seen.new += 1))))
  next.listen(port, '127.0.0.2')
  await Promise.all([once(old, 'listening'), once(next, 'listening')])
  t.teardown(() => {
    for (const server of [old, next]) {
      server.close()
      server.closeAllConnections()
    }
  })
  return { name: `http://engine.test:${port}`, old, seen }
}

const OLD = [{ address: '127.0.0.1', family: 4 }]
const NEW = [{ address: '127.0.0.2', family: 4 }]

t.test(
  'connections follow a host name to its new address, even while the previous address still responds',
  LINUX,
  async (t) => {
    const { name, seen } = await startMoving(t)
    const dns = { addresses: OLD }
    const { upstream, clock } = watch(t, [name], {
      renewedMs: 1,
      resolve: (_name, _options, answer) => answer(null, dns.addresses),
    })
    await readTimes(upstream, 2)
    dns.addresses = NEW
    clock.nowMs = 30_000
    const isOver = Date.now() + 5
    while (Date.now() < isOver) await new Promise(setImmediate) // waits for undici's own clock, which limits the lifetime of a connection
    await readTimes(upstream, 2)
    t.same(seen, { old: 2, new: 2 })
  },
)

t.test('a name that moved when its node died is resolved again for the next connection', LINUX, async (t) => {
  const { name, old, seen } = await startMoving(t)
  const dns = { addresses: OLD }
  const { upstream } = watch(t, [name], {
    resolve: (_name, _options, answer) => answer(null, dns.addresses),
  })
  await readTimes(upstream, 1)
  old.close()
  old.closeAllConnections()
  dns.addresses = NEW
  t.match(await refusalOf(upstream.fetch(READ, LIMIT)), { code: 'GW_NO_NODE' })
  t.same(await readTimes(upstream, 1), [200])
  t.same(seen, { old: 1, new: 1 })
})

t.test('a name that no longer resolves is served at its last known address', LINUX, async (t) => {
  const { name, seen } = await startMoving(t)
  const dns: { error: Error | null } = { error: null }
  const { upstream, clock } = watch(t, [name], {
    renewedMs: 1,
    resolve: (_name, _options, answer) => answer(dns.error, dns.error === null ? OLD : []),
  })
  await readTimes(upstream, 1)
  dns.error = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
  clock.nowMs = 30_000
  const isOver = Date.now() + 5
  while (Date.now() < isOver) await new Promise(setImmediate)
  t.same(await readTimes(upstream, 2), [200, 200])
  t.equal(seen.old, 3)
})
