import { performance } from 'node:perf_hooks'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import type { RedisSettings } from '../../src/config/redis-types.ts'
import { createLeases, type Leases } from '../../src/redis/lease.ts'
import {
  acceptAll,
  answerOf,
  fillOf,
  type OpenedCache,
  openSharedCache,
  until,
  loadShared,
} from '../support/cache-harness.ts'
import { startCluster } from '../support/redis-cluster.ts'
import { MASTER, startSentinel, untilWatched } from '../support/redis-sentinel.ts'
import { redisSkip } from '../support/requirements.ts'

const rule = { seconds: 600, tags: ['deployment'], accepts: acceptAll }
const LEASE_MS = 3000
/** A command has a timeout of 150 ms. The rest is a margin for a busy machine. */
const LONGEST_MS = 400
const BACK_MS = 60_000

const now = () => performance.now()

t.test('the master that the sentinels name fails', { skip: redisSkip }, async (t) => {
  t.test(
    'killed master: loads return in time, one process holds a lease, and the replica takes over',
    async (t) => {
      const watched = await startSentinel(t)
      await untilWatched(watched)
      const redis = { sentinel: { nodes: watched.nodes, master: MASTER } }
      await survives(t, redis, () => process.kill(watched.master.pid, 'SIGKILL'))
    },
  )

  t.test('frozen master: loads return in time, and the replica takes over', async (t) => {
    const watched = await startSentinel(t)
    await untilWatched(watched)
    const redis = { sentinel: { nodes: watched.nodes, master: MASTER } }
    await survives(t, redis, () => watched.master.pause())
  })

  t.test('manual failover: the new master is looked up immediately', async (t) => {
    const watched = await startSentinel(t)
    await untilWatched(watched)
    const redis = { sentinel: { nodes: watched.nodes, master: MASTER } }
    const [first] = watched.nodes
    await survives(t, redis, async () => {
      const sentinel = new Redis(first ?? {})
      await sentinel.call('SENTINEL', 'FAILOVER', MASTER)
      sentinel.disconnect()
    })
  })

  t.test('an eviction that the replica did not receive is repeated', async (t) => {
    const watched = await startSentinel(t)
    await untilWatched(watched)
    const redisSettings = { sentinel: { nodes: watched.nodes, master: MASTER } }
    const one = await openSharedCache(t, { redisSettings })
    await loadShared(one, { key: 'k', rule, answer: answerOf('old') })
    const control = new Redis(watched.replica.url)
    t.teardown(() => control.disconnect())
    await until(async () => (await control.dbsize()) > 2)
    watched.replica.pause()
    await one.cache.evict(['deployment'])
    process.kill(watched.master.pid, 'SIGKILL')
    watched.replica.resume()
    await until(() => one.lines.length === 3, BACK_MS)
    const other = await openSharedCache(t, { redisSettings })
    await until(async () => {
      const { response } = await other.cache.load('k', rule, fillOf(answerOf('new')))
      return response.body.toString() === 'new'
    })
    t.match(one.lines, [/^info/, /^warn/, /^info/])
  })
})

t.test('a node of a Redis cluster fails', { skip: redisSkip }, async (t) => {
  t.test(
    'killed node: loads return in time, one process holds a lease, and the replica takes over',
    async (t) => {
      const cluster = await startCluster(t, { hasReplicas: true })
      await survives(t, { cluster: { nodes: cluster.nodes } }, async () => {
        for (const { pid, url } of cluster.masters) {
          const control = new Redis(url)
          const hasEntries = (await control.keys('*:entry:*')).length > 0
          control.disconnect()
          if (hasEntries) process.kill(pid, 'SIGKILL')
        }
      })
    },
  )

  t.test('frozen node: loads return in time, and the replica takes over', async (t) => {
    const cluster = await startCluster(t, { hasReplicas: true })
    await survives(t, { cluster: { nodes: cluster.nodes } }, async () => {
      for (const { pause, url } of cluster.masters) {
        const control = new Redis(url)
        const hasEntries = (await control.keys('*:entry:*')).length > 0
        control.disconnect()
        if (hasEntries) pause()
      }
    })
  })

  t.test('a killed node without keys of the cache has no effect', async (t) => {
    const { masters, nodes } = await startCluster(t, { args: ['--cluster-require-full-coverage', 'no'] })
    const opened = await openSharedCache(t, { redisSettings: { cluster: { nodes } } })
    await loadShared(opened, { key: 'k', rule, answer: answerOf('x') })
    for (const { pid, url } of masters) {
      const control = new Redis(url)
      const isEmpty = (await control.dbsize()) === 0
      control.disconnect()
      if (!isEmpty) continue
      process.kill(pid, 'SIGKILL')
      break
    }
    for (let index = 0; index < 100; index += 1)
      await opened.cache.load(`k${index}`, rule, fillOf(answerOf('x')))
    // The subscription may have been at the lost server. Entries that are read at that moment are not stored.
    const numberOf = (name: string) => opened.events.filter((event) => event === name).length
    await until(() => numberOf('redis:stored') + numberOf('memory:refused') > 100)
    t.ok(numberOf('redis:stored') > 95)
    t.match(opened.lines, [/^info/])
  })
})

/** Loses a server and checks two processes meanwhile. */
async function survives(t: Test, redis: RedisSettings, lose: () => unknown): Promise<void> {
  const opened = await openSharedCache(t, { redisSettings: redis })
  const other = await openSharedCache(t, { redisSettings: redis })
  await loadShared(opened, { key: 'before', rule, answer: answerOf('x') })
  const all = [1, 2, 3].map(() => openLeases(t, redis, t.name))
  await until(() => all.filter((leases) => leases.holds('default')).length === 1, BACK_MS)
  const watch = watchHolders(t, all)
  const lostAt = now()
  await lose()
  const longest = await loadUntilBack(opened, lostAt)
  t.ok(longest < LONGEST_MS, `the longest load took ${Math.round(longest)} ms`)
  t.comment(`Redis was used again after ${Math.round(now() - lostAt)} ms`)
  await until(() => all.some((leases) => leases.holds('default')), BACK_MS)
  t.comment(`a lease was held again after ${Math.round(now() - lostAt)} ms`)
  t.ok(watch.longestMs() <= LEASE_MS, `two processes held one lease for ${Math.round(watch.longestMs())} ms`)
  t.match(opened.lines[1], /^warn/)
  t.match(opened.lines.at(-1), /^info/)
  // Messages between processes are delivered again.
  await until(async () => {
    await other.cache.load('shared', rule, fillOf(answerOf('x')))
    await opened.cache.evict(['deployment'])
    return until(() => other.cache.peek('shared') === null, 500).then(
      () => true,
      () => false,
    )
  }, BACK_MS)
}

async function loadUntilBack(opened: OpenedCache, lostAt: number): Promise<number> {
  let longest = 0
  let index = 0
  await until(async () => {
    opened.events.length = 0
    const start = now()
    await opened.cache.load(`after ${(index += 1)}`, rule, fillOf(answerOf('x')))
    longest = Math.max(longest, now() - start)
    return opened.lines.length > 2 && opened.events.includes('redis:miss') && now() - lostAt > 500
  }, BACK_MS)
  return longest
}

function openLeases(t: Test, redis: RedisSettings, namespace: string): Leases {
  const leases = createLeases({ redis, namespace, names: ['default'], now, leaseMs: LEASE_MS })
  t.teardown(() => leases.close())
  leases.start()
  return leases
}

/** Measures how long two processes held the same lease. */
function watchHolders(t: Test, all: readonly Leases[]) {
  let since: number | null = null
  let longest = 0
  const timer = setInterval(() => {
    const isTwice = all.filter((leases) => leases.holds('default')).length > 1
    since = isTwice ? (since ?? now()) : null
    if (since !== null) longest = Math.max(longest, now() - since)
  }, 10)
  t.teardown(() => clearInterval(timer))
  return { longestMs: () => longest }
}
