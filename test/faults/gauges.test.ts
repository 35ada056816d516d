import { performance } from 'node:perf_hooks'
import t from 'tap'
import { type GatewayProcess, startGatewayProcess } from '../engine/gateway-process.ts'
import { until } from '../support/cache-harness.ts'
import { startNode } from '../support/fake-engine.ts'
import { startRedis } from '../support/redis.ts'
import { redisSkip } from '../support/requirements.ts'

const REPLICAS = 3
/** Longest time from the kill of a leader until another replica sends a query. */
const TAKEOVER_MS = 15_000

const ANSWERS: Readonly<Record<string, unknown>> = {
  '/external-task/topic-names': ['invoice', 'mail'],
  '/process-definition/statistics': [{ definition: { key: 'order' }, instances: 7 }],
}

t.test(
  'only one of three replicas queries the engine, once a second, and another replica takes over when it ends',
  {
    skip: redisSkip,
    timeout: 180_000,
  },
  async (t) => {
    const redis = await startRedis()
    t.teardown(() => redis.stop())
    const askedAtMs: number[] = []
    const node = await startNode(t, ({ url }, response) => {
      const [path = ''] = url.slice('/engine-rest'.length).split('?')
      if (path !== '/engine') askedAtMs.push(performance.now())
      const answer = ANSWERS[path] ?? (path.endsWith('/count') ? { count: 1 } : [])
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
    const replicas = await Promise.all(
      Array.from({ length: REPLICAS }, () =>
        startGatewayProcess({
          nodes: [`${node.url}/engine-rest`],
          engine: 'gauges: { every: 10s }',
          settings: `cache: { redis: '${redis.url}' }`,
        }),
      ),
    )
    t.teardown(() => Promise.all(replicas.map((replica) => replica.stop().catch(() => undefined))))

    await until(() => askedAtMs.length >= 15, 60_000)
    const [first] = await electedOf(replicas)
    t.equal((await electedOf(replicas)).length, 1, 'one is elected')
    t.match(await metricsOf(first), /^camunda_process_instances_running\{.*order.*\} 7$/m)
    const others = replicas.filter((replica) => replica !== first)
    for (const other of others) t.notMatch(await metricsOf(other), /^camunda_/m, 'the others show nothing')

    const killedAtMs = performance.now()
    process.kill(first?.pid ?? 0, 'SIGKILL')
    await until(() => (askedAtMs.at(-1) ?? 0) > killedAtMs + 1000, 60_000)
    const nextMs = (askedAtMs.find((at) => at > killedAtMs + 1000) ?? Infinity) - killedAtMs
    t.ok(nextMs < TAKEOVER_MS, `another one asks after ${Math.round(nextMs)} ms`)
    const [second] = await electedOf(others)
    t.equal((await electedOf(others)).length, 1)

    const before = askedAtMs.length
    await second?.stop()
    await until(() => askedAtMs.length > before + 3, 60_000)
    t.equal((await electedOf(others.filter((one) => one !== second))).length, 1, 'the last one is left')
    const most = mostInTenSeconds(askedAtMs)
    t.ok(most <= 11, `${most} requests within ten seconds at most, of ${askedAtMs.length}`)
  },
)

/** Returns the replicas that report to be elected. */
async function electedOf(replicas: readonly GatewayProcess[]): Promise<readonly GatewayProcess[]> {
  const texts = await Promise.all(replicas.map(metricsOf))
  return replicas.filter((_, index) => /^gateway_engine_gauges_elected\{.*\} 1$/m.test(texts[index] ?? ''))
}

async function metricsOf(replica: GatewayProcess | undefined): Promise<string> {
  return (await fetch(`${replica?.adminAddress}/metrics`)).text()
}

/** Returns the highest number of requests within any ten seconds. Some requests are delayed, so that the next ones seem early. */
function mostInTenSeconds(timesMs: readonly number[]): number {
  return Math.max(...timesMs.map((from) => timesMs.filter((at) => at >= from && at < from + 10_000).length))
}
