import { Redis } from 'ioredis'
import t from 'tap'
import { until } from '../support/cache-harness.ts'
import { startNode } from '../support/fake-engine.ts'
import { startRedis } from '../support/redis.ts'
import { startReloadable } from '../support/reloadable.ts'
import { redisSkip } from '../support/requirements.ts'

const WITHIN_MS = 20_000

/** Starts an engine node that has registered the deployments that the test returns. */
function startRegistered(t: Parameters<typeof startNode>[0], registered: () => readonly string[]) {
  return startNode(t, ({ url }, response) => {
    response.end(
      JSON.stringify(url.endsWith('/deployment/registered') ? registered() : [{ name: 'default' }]),
    )
  })
}

t.test('a node lacks the deployments of other nodes until it has registered them', async (t) => {
  const ofOther = ['a']
  const one = await startRegistered(t, () => ['a', 'b', 'c'])
  const other = await startRegistered(t, () => ofOther)
  const { metric } = await startReloadable(t, {
    engines: { default: { nodes: [one.url, other.url], deploymentAware: true } },
    health: { interval: '1s', timeout: '500ms' },
  })
  const missingAt = (url: string) =>
    metric(`gateway_node_deployments_missing{engine="default",node="${url}"}`)
  await until(async () => (await missingAt(other.url)) === 2 && (await missingAt(one.url)) === 0, WITHIN_MS)
  ofOther.push('b', 'c', 'd')
  await until(async () => (await missingAt(other.url)) === 0 && (await missingAt(one.url)) === 1, WITHIN_MS)
})

t.test('the gauge of missing deployments is absent unless deploymentAware is set', async (t) => {
  const node = await startRegistered(t, () => ['a'])
  const { metric } = await startReloadable(t, { engines: { default: { nodes: [node.url] } } })
  t.equal(await metric(`gateway_node_deployments_missing{engine="default",node="${node.url}"}`), null)
  t.equal(await metric('gateway_redis_up'), null, 'nor of Redis, where none is configured')
})

t.test('each node has a limit, and a drained node has no health', async (t) => {
  const node = await startRegistered(t, () => [])
  const [used, drained] = [`${node.url}/used`, `${node.url}/drained`]
  const { metric } = await startReloadable(t, {
    engines: { default: { nodes: [used, { url: drained, drain: true }] } },
    health: { probe: false },
  })
  const valuesAt = (url: string) =>
    Promise.all(
      ['healthy', 'drained', 'concurrency_limit'].map((name) =>
        metric(`gateway_node_${name}{engine="default",node="${url}"}`),
      ),
    )
  t.match(await valuesAt(used), [1, 0, Number])
  t.match(await valuesAt(drained), [null, 1, Number])
})

t.test(
  'queues, slow requests and long polls have a gauge for each state, also without requests',
  async (t) => {
    const node = await startRegistered(t, () => [])
    const { metric } = await startReloadable(t, { engines: { default: { nodes: [node.url] } } })
    for (const series of [
      'gateway_upstream_queue{engine="default"}',
      'gateway_upstream_queue_standing{engine="default"}',
      ...['running', 'waiting'].map((state) => `gateway_slow_requests{engine="default",state="${state}"}`),
      ...['open', 'waiting', 'abandoned'].map(
        (state) => `gateway_long_polls{engine="default",state="${state}"}`,
      ),
    ])
      t.equal(await metric(series), 0, series)
  },
)

t.test('lost log lines are counted from 0, so that the first loss is an increase', async (t) => {
  const node = await startRegistered(t, () => [])
  const { metric } = await startReloadable(t, { engines: { default: { nodes: [node.url] } } })
  for (const stream of ['log', 'audit'])
    t.equal(await metric(`gateway_log_lines_lost_total{stream="${stream}"}`), 0)
})

t.test('gateway_redis_up is 1 while Redis responds, also after a reload', { skip: redisSkip }, async (t) => {
  const node = await startRegistered(t, () => [])
  const redis = await startRedis()
  const settings = { engines: { default: { nodes: [node.url] } }, cache: { redis: redis.url } }
  const { metric, reload } = await startReloadable(t, settings)
  await until(async () => (await metric('gateway_redis_up')) === 1, WITHIN_MS)
  await redis.stop()
  await until(async () => (await metric('gateway_redis_up')) === 0, WITHIN_MS)
  const again = await startRedis({ port: redis.port })
  t.teardown(() => again.stop())
  await until(async () => (await metric('gateway_redis_up')) === 1, WITHIN_MS)
  t.equal((await reload({ ...settings, limits: { connections: 5 } })).status, 200)
  t.equal(await metric('gateway_redis_up'), 1)
})

t.test('a Redis that removes keys has a gauge and a line of the log', { skip: redisSkip }, async (t) => {
  const node = await startRegistered(t, () => [])
  const redis = await startRedis({ args: ['--maxmemory', '64mb', '--maxmemory-policy', 'volatile-lru'] })
  t.teardown(() => redis.stop())
  const settings = { engines: { default: { nodes: [node.url] } }, cache: { redis: redis.url } }
  const { metric, log } = await startReloadable(t, settings)
  await until(async () => (await metric('gateway_redis_removes_keys')) === 1, WITHIN_MS)
  t.match(
    log.filter(({ msg }) => String(msg).startsWith('Redis removes keys')),
    [{ level: 'warn', policy: 'volatile-lru' }],
  )
})

t.test('a Redis without a limit of memory removes no keys', { skip: redisSkip }, async (t) => {
  const node = await startRegistered(t, () => [])
  const redis = await startRedis({ args: ['--maxmemory-policy', 'allkeys-lru'] })
  t.teardown(() => redis.stop())
  const settings = { engines: { default: { nodes: [node.url] } }, cache: { redis: redis.url } }
  const { metric } = await startReloadable(t, settings)
  await until(async () => (await metric('gateway_redis_removes_keys')) === 0, WITHIN_MS)
})

t.test(
  'events that alerts count begin at 0 with Redis, and are absent without',
  { skip: redisSkip },
  async (t) => {
    const node = await startRegistered(t, () => [])
    const redis = await startRedis()
    t.teardown(() => redis.stop())
    const engines = { default: { nodes: [node.url] } }
    const series = [
      'gateway_cache_requests_total{tier="redis",result="corrupt"}',
      'gateway_redis_messages_invalid_total',
      ...['changes', 'evictions'].map((channel) => `gateway_redis_pauses_total{channel="${channel}"}`),
      ...['unavailable', 'unstored', 'unreadable'].map(
        (result) => `gateway_idempotent_requests_total{engine="default",result="${result}"}`,
      ),
    ]
    const { metric } = await startReloadable(t, { engines, cache: { redis: redis.url } })
    for (const one of series) t.equal(await metric(one), 0, one)
    const other = await startReloadable(t, { engines })
    for (const one of series.filter((name) => name.includes('{'))) t.equal(await other.metric(one), null, one)
  },
)

t.test('messages that no gateway signed are counted', { skip: redisSkip }, async (t) => {
  const node = await startRegistered(t, () => [])
  const redis = await startRedis()
  t.teardown(() => redis.stop())
  const engines = { default: { nodes: [node.url] } }
  const cache = { redis: redis.url, signingKeys: ['a key of the test, 0123456789-0123456789'] }
  const { metric } = await startReloadable(t, { engines, cache })
  const control = new Redis(redis.url)
  t.teardown(() => control.disconnect())
  const channels = async () => {
    const names = await control.pubsub('CHANNELS', '*:news')
    return names.map(String)
  }
  await until(async () => (await channels()).length === 1, WITHIN_MS)
  const [channel = ''] = await channels()
  await control.publish(channel, '["x","records",""]')
  await until(async () => (await metric('gateway_redis_messages_invalid_total')) === 1, WITHIN_MS)
})
