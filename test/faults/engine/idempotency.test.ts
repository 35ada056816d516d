import { randomUUID } from 'node:crypto'
import t from 'tap'
import { isRecord } from '../../../src/request/value.ts'
import { until } from '../../support/cache-harness.ts'
import { startNode } from '../../support/fake-engine.ts'
import { startRedis } from '../../support/redis.ts'
import { javaSkip, redisSkip } from '../../support/requirements.ts'
import { startDatabase } from '../../engine/database.ts'
import { startEngine } from '../../engine/engine.ts'
import { type Answer, exchange } from '../../engine/exchange.ts'
import { type GatewayProcess, startGatewayProcess } from '../../engine/gateway-process.ts'
import { seed } from '../../engine/seed.ts'

const skip = javaSkip || redisSkip
const CODE = 'x-gateway-error'

function start({ base, headers }: GatewayProcess, key: string): Promise<Answer> {
  const path = '/process-definition/key/review/start'
  const asked = { method: 'POST', path, body: { businessKey: key } } as const
  return exchange(base, asked, { ...headers, 'idempotency-key': key })
}

const STEADY_LOOKS = 10

t.test('idempotency keys with two nodes on one database', { skip, timeout: 180_000 }, async (t) => {
  const database = await startDatabase()
  t.teardown(() => database.stop())
  const nodes = [await startEngine({ db: database.url }), await startEngine({ db: database.url })] as const
  const [staying, dying] = nodes
  t.teardown(() => Promise.all(nodes.map((node) => node.stop())))
  await seed(staying.base)
  const redis = await startRedis()
  t.teardown(() => redis.stop())
  const open = async (...bases: readonly string[]): Promise<GatewayProcess> => {
    const settings = `cache: { redis: "${redis.url}" }\nhealth: { probe: false }`
    const gateway = await startGatewayProcess({ nodes: bases, settings })
    t.teardown(() => gateway.stop())
    return gateway
  }
  const startedUnder = async (key: string): Promise<unknown> => {
    const path = `/history/process-instance/count?processInstanceBusinessKey=${key}`
    return (await exchange(staying.base, { method: 'GET', path })).body
  }

  await t.test('ten requests with one key, five of them concurrent, start one instance', async (t) => {
    const gateways = [await open(staying.base), await open(staying.base)] as const
    const key = randomUUID()
    const atOnce = await Promise.all(
      [0, 1, 0, 1, 0].map((index) => start(gateways[index === 0 ? 0 : 1], key)),
    )
    t.same(
      atOnce.map(({ status }) => status).filter((status) => status !== 200 && status !== 409),
      [],
    )
    const answers = []
    for (const index of [0, 1, 0, 1, 0]) answers.push(await start(gateways[index === 0 ? 0 : 1], key))
    t.same(new Set(answers.map(({ status }) => status)), new Set([200]))
    t.equal(new Set(answers.map(({ body }) => (isRecord(body) ? body['id'] : null))).size, 1)
    t.same(await startedUnder(key), { count: 1 })
  })

  await t.test('a lost engine response is GW_OUTCOME_UNKNOWN and starts one instance', async (t) => {
    const between = await startNode(t, ({ url, headers, body }, response) => {
      const asked = { method: 'POST', path: url, body: JSON.parse(body.toString()) } as const
      const { authorization = '' } = headers
      void exchange(staying.origin, asked, authorization === '' ? {} : { authorization }).then(() =>
        response.destroy(),
      )
    })
    const gateway = await open(`${between.url}/engine-rest`)
    const key = randomUUID()
    for (let times = 0; times < 3; times += 1) {
      const { status, headers } = await start(gateway, key)
      t.same([status, headers.get(CODE)], [502, 'GW_OUTCOME_UNKNOWN'])
    }
    t.equal(between.seen.length, 1)
    t.same(await startedUnder(key), { count: 1 })
  })

  await t.test('a request at a killed node is not sent to another node', async (t) => {
    const gateway = await open(dying.base, staying.base)
    // Wait until the frozen node has a request.
    dying.pause()
    const keys = Array.from({ length: 8 }, () => randomUUID())
    const asked = keys.map((key) => start(gateway, key))
    let steadyLooks = 0
    await until(async () => {
      const counts = await Promise.all(keys.map(startedUnder))
      const text = await (await fetch(`${gateway.adminAddress}/metrics`)).text()
      const underWay = Number(/^gateway_requests_in_flight (\d+)$/m.exec(text)?.[1])
      const done = counts.filter((one) => JSON.stringify(one) === '{"count":1}').length
      // At first all requests are on their way to a node. Only those that remain in flight are at the frozen node.
      steadyLooks = done > 0 && underWay > 0 && done + underWay === keys.length ? steadyLooks + 1 : 0
      return steadyLooks === STEADY_LOOKS
    }, 30_000)
    process.kill(dying.pid, 'SIGKILL')
    const answers = await Promise.all(asked)
    const lost = keys.filter((_, index) => answers[index]?.status !== 200)
    t.ok(lost.length > 0, `${lost.length} of ${keys.length}`)
    for (const key of lost) {
      const { status, headers } = await start(gateway, key)
      t.same([status, headers.get(CODE)], [502, 'GW_OUTCOME_UNKNOWN'])
      t.same(await startedUnder(key), { count: 0 })
    }
    for (const key of keys.filter((one) => !lost.includes(one))) {
      t.equal((await start(gateway, key)).status, 200)
      t.same(await startedUnder(key), { count: 1 })
    }
  })
})
