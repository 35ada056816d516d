import { setTimeout as wait } from 'node:timers/promises'
import { queryObjects } from 'node:v8'
import t, { type Test } from 'tap'
import { Pool } from 'undici'
import { until } from '../support/cache-harness.ts'
import { BASE } from '../support/open-gateway.ts'
import { startNode } from '../support/fake-engine.ts'
import { startReloadable } from '../support/reloadable.ts'

/** Answers at once, but what ends with `held`. */
const node = await startNode(t, ({ url }, response) => {
  if (url.endsWith('/held')) return
  response.setHeader('content-type', 'application/json').end('{"id":"1"}')
})

/** Every round is another configuration. */
function settingsOf(round: number) {
  const limits = { body: `${1 + (round % 7)}MiB` }
  return { engines: { default: { nodes: [node.url + BASE] } }, health: { probe: false }, limits }
}

/** Each generation has pools of its own, and each pool that is left is one of a generation that is left. Collects garbage first. */
function countPools(): number {
  return queryObjects(Pool, { format: 'count' })
}

/** Of one runtime, with the connections that `held` keeps. */
const POOLS = 4

/** A gateway that was asked and reloaded once: what is made once is there. */
async function open(t: Test) {
  const gateway = await startReloadable(t, settingsOf(0))
  const reload = async (round: number) => {
    t.equal((await gateway.reload(settingsOf(round))).status, 200)
    t.equal((await gateway.ask('demo', '/version')).status, 200)
  }
  await reload(1)
  await wait(500)
  return { gateway, reload, pools: countPools() }
}

t.test('as many generations are left after ten reloads as after one', async (t) => {
  const { reload, pools } = await open(t)
  for (let round = 2; round <= 11; round += 1) await reload(round)
  // The last one before may still close its connections.
  await until(() => countPools() <= pools, 10_000)
  t.ok(pools > 0, `${pools} pools`)
})

t.test('a request that runs on holds its own generation, and none of those that came after', async (t) => {
  const { gateway, reload, pools } = await open(t)
  const over = new AbortController()
  const held = gateway.ask('demo', '/task/held', { signal: over.signal }).catch(() => null)
  await until(() => node.seen.some(({ url }) => url.endsWith('/held')))
  for (let round = 2; round <= 11; round += 1) await reload(round)
  await until(() => countPools() <= pools + POOLS, 10_000)
  over.abort()
  await held
})
