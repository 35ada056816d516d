import { performance } from 'node:perf_hooks'
import { Redis } from 'ioredis'
import t from 'tap'
import type { CacheRule } from '../../../src/cache/entry.ts'
import { IdempotencyStore } from '../../../src/idempotency/idempotency-store.ts'
import { createLeases } from '../../../src/redis/lease.ts'
import { createRateStore } from '../../../src/redis/rate-store.ts'
import { createSigner } from '../../../src/redis/signature.ts'
import { tlsOptionsOf } from '../../../src/tls/tls-material.ts'
import {
  acceptAll,
  answerOf,
  fillOf,
  openCache,
  openSharedCache,
  until,
  loadShared,
} from '../../support/cache-harness.ts'
import { writeCertificates } from '../../support/certificates.ts'
import { startCluster } from '../../support/redis-cluster.ts'
import { redisSkip } from '../../support/requirements.ts'

const now = () => performance.now()
const NAMES = Array.from({ length: 20 }, (_, index) => `engine-${index}`)

function ruleOf(name: string): CacheRule {
  return { seconds: 60, tags: ['deployment', 'process-definition', 'task', name], accepts: acceptAll }
}

t.test('a Redis cluster', { skip: redisSkip }, async (t) => {
  const { masters, nodes } = await startCluster(t)
  const redis = { cluster: { nodes } }
  const controls = masters.map(({ url }) => new Redis(url))
  t.teardown(() => controls.forEach((control) => control.disconnect()))
  const keys = async (pattern: string): Promise<number[]> =>
    Promise.all(controls.map(async (control) => (await control.keys(pattern)).length))

  t.test('gateways share cached responses in a cluster and evict each other’s entries', async (t) => {
    const one = await openSharedCache(t, { redisSettings: redis })
    const other = await openSharedCache(t, { redisSettings: redis })
    const names = Array.from({ length: 20 }, (_, index) => `k${index}`)
    for (const name of names) await loadShared(one, { key: name, rule: ruleOf(name), answer: answerOf(name) })
    for (const name of names)
      t.match(await other.cache.load(name, ruleOf(name), fillOf(answerOf('other'))), { from: 'redis' })
    await one.cache.evict(['deployment', 'unrelated'])
    await until(() => other.cache.peek('k0') === null)
    t.match(await other.cache.load('k0', ruleOf('k0'), fillOf(answerOf('other'))), { from: 'upstream' })
    t.equal(
      (await keys(`engine-gateway:{${t.name}}:*`)).filter((count) => count > 0).length,
      1,
      'one server has them',
    )
    t.match([...one.lines, ...other.lines], [/^info/, /^info/])
  })

  t.test('idempotency keys, rates and leases work in a cluster', async (t) => {
    const store = new IdempotencyStore({
      redis,
      namespace: 'c',
      signer: createSigner([]),
      keepMs: 60_000,
      now,
    })
    const rates = createRateStore({ redis, namespace: 'c', now })
    const all = [1, 2].map(() => createLeases({ redis, namespace: 'c', names: NAMES, now }))
    t.teardown(() => {
      rates.close()
      for (const leases of all) leases.close()
    })
    await until(async () => (await rates.consume('mary', { intervalMs: 1000, burst: 1 })) !== null)
    for (const name of NAMES) {
      const request = { key: name, fingerprint: name, underWayMs: 1000 }
      const claiming = await store.claim(request)
      if (claiming.state !== 'first') throw new Error(claiming.state)
      t.match(await store.claim(request), { state: 'in progress' })
      t.ok(await claiming.claim.keep({ answer: answerOf(name), address: 'http://node' }))
      t.match(await store.claim(request), { state: 'done', answer: { body: Buffer.from(name) } })
      t.match(await rates.consume(name, { intervalMs: 60_000, burst: 1 }), { admitted: true })
      t.match(await rates.consume(name, { intervalMs: 60_000, burst: 1 }), { admitted: false })
    }
    t.notOk((await keys('engine-gateway:c:once:*')).includes(0), 'every server has some')
    t.notOk((await keys('engine-gateway:c:rate:*')).includes(0), 'every server has some')
    for (const leases of all) leases.start()
    await until(() => NAMES.every((name) => all.filter((leases) => leases.holds(name)).length === 1))
    await store.close()
  })

  t.test('keys that move to another server of a cluster are found there', async (t) => {
    const opened = await openSharedCache(t, { redisSettings: redis })
    const rule = { seconds: 60, tags: ['deployment'], accepts: acceptAll }
    await loadShared(opened, { key: 'k', rule, answer: answerOf('x') })
    const counts = await keys(`engine-gateway:{${t.name}}:*`)
    const from = controls[counts.findIndex((count) => count > 0)]
    const to = controls[counts.indexOf(0)]
    if (from === undefined || to === undefined) throw new Error(`keys lie on ${counts.join()}`)
    const [sample = ''] = await from.keys(`engine-gateway:{${t.name}}:*`)
    const slot = await from.cluster('KEYSLOT', sample)
    const [fromId, toId] = [await from.cluster('MYID'), await to.cluster('MYID')]
    await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId)
    await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId)
    const moving = await from.keys(`engine-gateway:{${t.name}}:*`)
    const [first = '', ...others] = moving
    await from.call('MIGRATE', '127.0.0.1', to.options.port ?? 0, first, 0, 5000)
    const fresh = await openSharedCache(t, { redisSettings: redis })
    t.match(await fresh.cache.load('k', rule, fillOf(answerOf('y'))), { from: 'redis' }, 'half of them moved')
    for (const key of others) await from.call('MIGRATE', '127.0.0.1', to.options.port ?? 0, key, 0, 5000)
    for (const control of [to, from, ...controls])
      await control.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId)
    const late = await openSharedCache(t, { redisSettings: redis })
    t.match(await late.cache.load('k', rule, fillOf(answerOf('y'))), { from: 'redis' }, 'all of them moved')
    await opened.cache.evict(['deployment'])
    await until(() => late.cache.peek('k') === null)
    t.match([...opened.lines, ...fresh.lines, ...late.lines], [/^info/, /^info/, /^info/])
  })

  t.test('an unreachable first node of a cluster causes no delay', async (t) => {
    const away = { host: '127.0.0.1', port: 1 }
    const opened = await openSharedCache(t, {
      redisSettings: { cluster: { nodes: [away, ...nodes.slice(0, 1)] } },
    })
    t.ok(opened.lines.some((line) => line.startsWith('info')))
  })

  t.test('an unreachable cluster or a wrong password is logged once, without the password', async (t) => {
    const none = openCache(t, { redisSettings: { cluster: { nodes: [{ host: '127.0.0.1', port: 1 }] } } })
    const wrong = openCache(t, { redisSettings: { ...redis, username: 'nobody', password: 'hidden' } })
    for (const { lines } of [none, wrong]) await until(() => lines.length > 0)
    t.match(none.lines, [/^warn.*ECONNREFUSED/])
    t.match(wrong.lines, [/^warn.*WRONGPASS/])
    t.notMatch(wrong.lines.join(), /hidden/)
    t.match(await none.cache.load('k', { seconds: 1, tags: [], accepts: acceptAll }, fillOf(answerOf('x'))), {
      from: 'upstream',
    })
  })
})

t.test('a cluster with TLS and a password works', { skip: redisSkip }, async (t) => {
  const files = writeCertificates(t)
  const tls = {
    ca: files['ca.crt'],
    cert: files['client.crt'],
    key: files['client.key'],
    serverName: 'localhost',
  }
  const { nodes } = await startCluster(t, {
    hasTls: true,
    args: [
      '--tls-cert-file',
      files['server.crt'],
      '--tls-key-file',
      files['server.key'],
      '--tls-ca-cert-file',
      files['ca.crt'],
      '--tls-cluster',
      'yes',
      '--requirepass',
      'secret',
    ],
    connect: (port) => new Redis({ host: '127.0.0.1', port, password: 'secret', tls: tlsOptionsOf(tls) }),
  })
  const redisSettings = { cluster: { nodes }, password: 'secret', tls }
  const opened = await openSharedCache(t, { redisSettings })
  await loadShared(opened, {
    key: 'k',
    rule: { seconds: 60, tags: ['deployment'], accepts: acceptAll },
    answer: answerOf('x'),
  })
  const unknown = openCache(t, {
    redisSettings: { ...redisSettings, tls: { ...tls, ca: files['other.crt'] } },
  })
  await until(() => unknown.lines.length > 0)
  t.match(unknown.lines, [/^warn.*certificate/])
})
