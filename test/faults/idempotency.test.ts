import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { until } from '../support/cache-harness.ts'
import { startGatewayProcess } from '../engine/gateway-process.ts'
import { askUntilClaimed, codeOf, JSON_TYPE, keyed, openKeyedOnce, START } from '../support/keyed.ts'
import { authorizationOf, BASE, type OpenGateway } from '../support/open-gateway.ts'
import { type FakeNode, startNode } from '../support/fake-engine.ts'
import { startRedis } from '../support/redis.ts'
import { startReloadable } from '../support/reloadable.ts'
import { redisSkip } from '../support/requirements.ts'

const PATH = '/process-definition/key/review/start'
const HEADERS = { authorization: authorizationOf('demo'), ...JSON_TYPE, 'idempotency-key': 'a' }

function answer(response: ServerResponse | undefined): void {
  response?.writeHead(200, JSON_TYPE).end('{"id":"1"}')
}

async function startAt(base: string): Promise<string> {
  const response = await fetch(base + PATH, { method: 'POST', headers: HEADERS, body: '{}' })
  return `${response.status} ${response.headers.get('x-gateway-error')}`
}

function settingsOf({ url }: FakeNode) {
  return { engines: { default: { nodes: [url + BASE] } }, health: { probe: false } }
}

function openBeforeNode(t: Test, redis: string, node: FakeNode): Promise<OpenGateway> {
  return openKeyedOnce(t, redis, { settings: settingsOf(node) })
}

async function open(t: Test) {
  const redis = await startRedis()
  t.teardown(() => redis.stop())
  const held: ServerResponse[] = []
  const node = await startNode(t, (_request, response) => void held.push(response))
  return { redis, held, node }
}

t.test('idempotency keys of gateways that share a Redis', { skip: redisSkip }, async (t) => {
  t.test(
    'of two concurrent requests with one key, one is sent and the other returns 409 in progress',
    async (t) => {
      const { redis, held, node } = await open(t)
      const gateways = [await openBeforeNode(t, redis.url, node), await openBeforeNode(t, redis.url, node)]
      const answers = gateways.map(({ ask }) => askUntilClaimed(ask, 'demo', START, keyed('a')))
      const refused = await Promise.race(answers)
      t.equal(codeOf(refused), '409 GW_IDEMPOTENCY_IN_PROGRESS')
      await until(() => held.length === 1)
      answer(held[0])
      t.same(new Set((await Promise.all(answers)).map(({ status }) => status)), new Set([200, 409]))
      for (const { ask } of gateways)
        t.match(await ask('demo', START, keyed('a')), { status: 200, body: { id: '1' } })
      t.equal(node.seen.length, 1)
    },
  )

  t.test('a request in flight at a killed gateway is not repeated by another gateway', async (t) => {
    const { redis, held, node } = await open(t)
    const settings = `cache: { redis: "${redis.url}" }\nhealth: { probe: false }`
    const options = { nodes: [node.url + BASE], settings }
    const [killed, other] = [await startGatewayProcess(options), await startGatewayProcess(options)]
    t.teardown(() => Promise.all([killed.stop(), other.stop()]))
    const lost = startAt(killed.base).catch(() => 'lost')
    await until(() => held.length === 1)
    process.kill(killed.pid, 'SIGKILL')
    t.equal(await lost, 'lost')
    t.equal(await startAt(other.base), '409 GW_IDEMPOTENCY_IN_PROGRESS')
    const control = new Redis(redis.url)
    t.teardown(() => control.disconnect())
    const [name = ''] = await control.keys('engine-gateway:*:once:*')
    // Simulates that ten minutes have passed.
    await control.pexpire(name, (await control.pttl(name)) - 600_000)
    t.equal(await startAt(other.base), '502 GW_OUTCOME_UNKNOWN')
    t.equal(node.seen.length, 1)
  })

  t.test('a key is refused while Redis is down, and requests without a key are served', async (t) => {
    const { redis, held, node } = await open(t)
    const { ask, dependencies } = await openBeforeNode(t, redis.url, node)
    process.kill(redis.pid, 'SIGKILL')
    await redis.stop()
    const refused = await ask('demo', START, keyed('a'))
    t.equal(codeOf(refused), '503 GW_IDEMPOTENCY_UNAVAILABLE')
    t.equal(refused.headers['retry-after'], '1')
    t.same(node.seen, [])
    const plain = ask('demo', START, { body: {} })
    await until(() => held.length === 1)
    answer(held[0])
    t.equal((await plain).status, 200)
    t.match(await dependencies.metrics.text(), '{engine="default",result="unavailable"} 1\n')
  })

  t.test('with a frozen Redis, the client gets its response, and Redis stores it later', async (t) => {
    const { redis, held, node } = await open(t)
    const { ask, dependencies, log } = await openBeforeNode(t, redis.url, node)
    const first = ask('demo', START, keyed('a'))
    await until(() => held.length === 1)
    redis.pause()
    answer(held[0])
    t.match(await first, { status: 200, body: { id: '1' } })
    t.match(await dependencies.metrics.text(), '{engine="default",result="unstored"} 1\n')
    t.ok(log.some(({ msg }) => String(msg).includes('cannot store the outcome')))
    redis.resume()
    const again = async () => ask('demo', START, keyed('a'))
    await until(async () => (await again()).status === 200, 15_000)
    t.equal((await again()).headers['idempotency-replayed'], 'true')
    t.equal(node.seen.length, 1)
  })

  t.test('large bodies of other clients refuse at most one key while Redis responds', async (t) => {
    const redis = await startRedis()
    t.teardown(() => redis.stop())
    const node = await startNode(t, (_request, response) => answer(response))
    // The refusal for a late event loop is tested elsewhere and disabled here.
    const limits = 'limits: { pressure: { eventLoopDelay: null } }'
    const settings = `cache: { redis: "${redis.url}" }\nhealth: { probe: false }\n${limits}`
    const gateway = await startGatewayProcess({ nodes: [node.url + BASE], settings })
    t.teardown(() => gateway.stop())
    const post = async (body: string, key: Readonly<Record<string, string>>) => {
      const headers = { authorization: HEADERS.authorization, ...JSON_TYPE, ...key }
      const response = await fetch(gateway.base + PATH, { method: 'POST', headers, body })
      await response.arrayBuffer()
      return response.status
    }
    const names = Array.from({ length: 48_000 }, (_, index) => [`v${index}`, { value: index }])
    const large = JSON.stringify({ variables: Object.fromEntries(names) })
    const over = new AbortController()
    const loads = [1, 2, 3].map(async () => {
      while (!over.signal.aborted) await post(large, {})
    })
    const statuses: number[] = []
    for (let round = 0; round < 3; round += 1) {
      const keys = Array.from({ length: 4 }, (_, index) => `${round}-${index}`)
      statuses.push(...(await Promise.all(keys.map((key) => post('{}', { 'idempotency-key': key })))))
      await wait(20)
    }
    over.abort()
    await Promise.all(loads)
    const refused = statuses.filter((status) => status !== 200)
    // A Redis server that gets no CPU time for so long may still cause one refusal.
    t.ok(refused.length <= 1, `${refused.length} of ${statuses.length} of ${large.length} bytes`)
  })

  t.test('a reload with another node keeps all keys and refuses none', async (t) => {
    const { redis, held, node } = await open(t)
    const second = await startNode(t)
    const settings = { ...settingsOf(node), cache: { redis: redis.url } }
    const gateway = await startReloadable(t, settings)
    const asks = () =>
      fetch(gateway.running.address + BASE + PATH, { method: 'POST', headers: HEADERS, body: '{}' })
    const first = asks()
    await until(() => held.length === 1)
    const nodes = [node.url + BASE, second.url + BASE]
    t.match(await gateway.reload({ ...settings, engines: { default: { nodes } } }), { status: 200 })
    t.equal((await asks()).status, 409, 'what was begun before it is under way')
    answer(held[0])
    t.equal((await first).status, 200)
    const again = await asks()
    t.equal(again.status, 200)
    t.equal(again.headers.get('idempotency-replayed'), 'true')
    t.equal(node.seen.length + second.seen.length, 1)
  })
})
