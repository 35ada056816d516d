import t from 'tap'
import { until } from '../../support/cache-harness.ts'
import { startNode } from '../../support/fake-engine.ts'
import { startRedis } from '../../support/redis.ts'
import { type Reloadable, startReloadable } from '../../support/reloadable.ts'
import { redisSkip } from '../../support/requirements.ts'

/** Reads a diagram through a gateway, and returns its `Cache-Status`. */
async function read({ ask }: Reloadable): Promise<string> {
  const { headers } = await ask('demo', '/process-definition/a/diagram')
  return headers.get('cache-status') ?? ''
}

t.test(
  'a purge at one gateway also removes the responses of other gateways',
  { skip: redisSkip },
  async (t) => {
    const redis = await startRedis()
    t.teardown(() => redis.stop())
    const node = await startNode(t, ({ url }, response) => {
      if (url.endsWith('/diagram')) response.setHeader('content-type', 'image/svg+xml').end('<svg/>')
      else response.setHeader('content-type', 'application/json').end('{"id":"a","key":"a","tenantId":null}')
    })
    const settings = {
      engines: { default: { nodes: [`${node.url}/engine-rest`] } },
      health: { probe: false },
      cache: { redis: redis.url },
    }
    const one = await startReloadable(t, settings)
    const other = await startReloadable(t, settings)
    const diagrams = () => node.seen.filter(({ url }) => url.endsWith('/diagram')).length
    await until(async () => (await other.metric('gateway_redis_up')) === 1)
    await read(one)
    // The entry is written to Redis after the response.
    await until(async () => /hit/.test(await read(other)))
    const before = diagrams()
    const init = { method: 'POST', headers: { 'x-requested-by': 'a test' } }
    const response = await fetch(`${one.running.adminAddress}/cache/purge`, init)
    t.match(await response.json(), { evicted: 1, processes: 1, redis: 'up' })
    await until(async () => !/hit/.test(await read(other)))
    t.equal(diagrams(), before + 1)
    t.equal(await other.metric('gateway_cache_requests_total{tier="memory",result="evicted"}'), 1)
  },
)
