import { setTimeout as wait } from 'node:timers/promises'
import { queryObjects } from 'node:v8'
import t, { type Test } from 'tap'
import { Pool } from 'undici'
import { until } from '../support/cache-harness.ts'
import { BASE } from '../support/open-gateway.ts'
import { startNode } from '../support/fake-engine.ts'
import { startReloadable } from '../support/reloadable.ts'

/** Responds immediately, except to paths that end with `held`. */
const node = await startNode(t, ({ url }, response) => {
  if (url.endsWith('/held')) return
  response.setHeader('content-type', 'application/json').end('{"id":"1"}')
})

/** Returns a different configuration for every round. */
function settingsOf(round: number) {
  const limits = { body: `${1 + (round % 7)}MiB` }
  return { engines: { default: { nodes: [node.url + BASE] } }, health: { probe: false }, limits }
}

/** Returns the number of pools. Each generation has its own pools, so a remaining pool belongs to a remaining generation. Collects garbage first. */
function countPools(): number {
  return queryObjects(Pool, { format: 'count' })
}

/** Number of pools of one runtime, with the connections that `held` keeps open. */
const POOLS = 4

/** Opens a gateway, reloads it once and sends a request, so that everything that is created once exists. */
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

t.test('ten reloads leave as many generations in memory as one reload', async (t) => {
  const { reload, pools } = await open(t)
  for (let round = 2; round <= 11; round += 1) await reload(round)
  // The previous generation may still be closing its connections.
  await until(() => countPools() <= pools, 10_000)
  t.ok(pools > 0, `${pools} pools`)
})

t.test('a long request keeps its own generation in memory, and no later generation', async (t) => {
  const { gateway, reload, pools } = await open(t)
  const over = new AbortController()
  const held = gateway.ask('demo', '/task/held', { signal: over.signal }).catch(() => null)
  await until(() => node.seen.some(({ url }) => url.endsWith('/held')))
  for (let round = 2; round <= 11; round += 1) await reload(round)
  await until(() => countPools() <= pools + POOLS, 10_000)
  over.abort()
  await held
})
