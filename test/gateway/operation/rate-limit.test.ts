import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { until } from '../../support/cache-harness.ts'
import { startRedis } from '../../support/redis.ts'
import { setupsOf, startReloadable } from '../../support/reloadable.ts'
import { redisSkip } from '../../support/requirements.ts'
import { startNode } from '../../support/fake-engine.ts'
import { BASE, openGateway, type OpenGateway } from '../../support/open-gateway.ts'
import { get, head, hear, openSocket, speak } from '../../support/raw.ts'

const HOUR = '1h'

/** Opens a gateway with this rate. Its responses are of three kinds: streamed, read completely, cached. */
function openLimited(
  t: Test,
  rate: unknown,
  engines: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {},
): Promise<OpenGateway> {
  return openGateway(t, {
    listen: true,
    settings: { limits: { rate } },
    engines,
    engine: (_request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end('{"count":0}')
    },
  })
}

function statusesOf(gateway: OpenGateway, user: string, count: number): Promise<readonly number[]> {
  return Promise.all(
    Array.from({ length: count }, async () => (await gateway.ask(user, 'GET /version')).status),
  )
}

t.test('without a rate no request is limited, and no rate headers are sent', async (t) => {
  const gateway = await openGateway(t)
  const { headers } = await gateway.ask('demo', 'GET /version')
  t.notOk(headers['ratelimit'])
  t.notOk(headers['ratelimit-policy'])
})

t.test('a request beyond the rate gets 429 with Retry-After, and is not sent to the engine', async (t) => {
  const gateway = await openLimited(t, { requests: 6, per: '1m', burst: 2 })
  t.same(await statusesOf(gateway, 'demo', 2), [200, 200])
  const refused = await gateway.ask('demo', 'GET /version')
  t.match(refused, {
    status: 429,
    headers: {
      'content-type': 'application/json',
      'retry-after': '10',
      'x-gateway-error': 'GW_RATE_LIMITED',
      'ratelimit-policy': '"default";q=6;w=60',
      ratelimit: '"default";r=0;t=20',
    },
    body: { type: 'TooManyRequestsException', message: 'Too many requests', code: null },
    forwarded: [],
  })
  t.match(
    await gateway.dependencies.metrics.text(),
    /gateway_refusals_total\{[^}]*stage="admit",reason="GW_RATE_LIMITED"\} 1/,
  )
})

t.test('each user has a separate limit, and each engine counts separately', async (t) => {
  const gateway = await openLimited(t, { requests: 1, per: HOUR })
  t.same(await statusesOf(gateway, 'demo', 2), [200, 429])
  t.same(await statusesOf(gateway, 'mary', 2), [200, 429])
  t.equal((await gateway.ask('demo', 'GET /engine/second/version')).status, 200)
})

t.test(
  'a rule for a ceiling may have a rate, which replaces that of the user and is counted separately',
  async (t) => {
    const rule = { groups: ['clerks'], ceiling: 'all', rate: { requests: 2, per: HOUR } }
    const limited = await openGateway(t, {
      listen: true,
      settings: { limits: { rate: { requests: 1, per: HOUR }, ceilings: [rule] } },
    })
    t.same(await statusesOf(limited, 'mary', 3), [200, 200, 429])
    t.same(await statusesOf(limited, 'demo', 2), [200, 429])
    const only = await openGateway(t, { listen: true, settings: { limits: { ceilings: [rule] } } })
    t.same(await statusesOf(only, 'mary', 3), [200, 200, 429], 'also without limits.rate')
    t.same(await statusesOf(only, 'demo', 3), [200, 200, 200])
  },
)

t.test('users may have other rates, or no limit', async (t) => {
  const users = { mary: { requests: 2, per: HOUR }, demo: 'unlimited' }
  const gateway = await openLimited(t, { requests: 1, per: HOUR, users })
  t.same(await statusesOf(gateway, 'mary', 3), [200, 200, 429])
  t.same(await statusesOf(gateway, 'anna', 2), [200, 429])
  t.same(await statusesOf(gateway, 'demo', 3), [200, 200, 200])
  t.notOk((await gateway.ask('demo', 'GET /version')).headers['ratelimit'])
})

t.test('an engine may have its own rate, or no limit', async (t) => {
  const rate = { requests: 1, per: HOUR }
  const gateway = await openLimited(t, rate, {
    free: { rate: null },
    tight: { rate: { requests: 2, per: HOUR } },
  })
  const statuses = async (engine: string) => {
    const all = Array.from({ length: 3 }, () => gateway.ask('demo', `GET /engine/${engine}/version`))
    return (await Promise.all(all)).map(({ status }) => status)
  }
  t.same(await statuses('free'), [200, 200, 200])
  t.same(await statuses('tight'), [200, 200, 429])
})

t.test('every kind of response has rate headers: streamed, read completely, cached, refused', async (t) => {
  const gateway = await openLimited(t, { requests: 100, per: HOUR })
  const wanted = [
    ['/version', 200],
    ['/decision-definition/key/discount/diagram', 200],
    ['/decision-definition/key/discount/diagram', 200],
    ['/task/count?bogus', 200],
  ] as const
  for (const [index, [path, status]] of wanted.entries()) {
    const [answer] = await speak(gateway.origin, get(path))
    t.match(
      answer,
      { status, headers: { ratelimit: new RegExp(`^"default";r=${99 - index};t=\\d+$`) } },
      path,
    )
    t.equal(answer?.headers['ratelimit-policy'], '"default";q=100;w=3600', path)
  }
  const body = { type: 1, permissions: ['READ'], userId: 'a', resourceType: 7, resourceId: '*' }
  const forbidden = await gateway.ask('nobody', 'POST /authorization/create', { body })
  t.match(forbidden, { status: 403, headers: { ratelimit: /r=99/ } }, 'in the engine’s words')
})

t.test('a request that is refused for another reason does not count against the rate', async (t) => {
  const gateway = await openLimited(t, { requests: 1, per: HOUR })
  t.equal((await gateway.ask(null, 'GET /version')).status, 401)
  t.equal((await gateway.ask('demo', 'GET /nosuch')).status, 404)
  t.equal((await gateway.ask('demo', 'PUT /version')).status, 405)
  t.match(await gateway.ask('demo', 'GET /version'), { status: 200, headers: { ratelimit: /r=0/ } })
})

t.test('a request beyond the rate is refused without 100 Continue', async (t) => {
  const gateway = await openLimited(t, { requests: 1, per: HOUR })
  await gateway.ask('demo', 'GET /version')
  const socket = openSocket(gateway.origin)
  const expecting = ['Content-Type: application/json', 'Content-Length: 2', 'Expect: 100-continue']
  socket.write(head(`POST ${BASE}/task/count`, ...expecting))
  t.match(await hear(socket), [{ status: 429 }])
})

t.test('a reload does not reset the rates that were used', async (t) => {
  const node = await startNode(t)
  const { ONE } = setupsOf(node.url + BASE)
  const gateway = await startReloadable(t, { ...ONE, limits: { rate: { requests: 1, per: HOUR } } })
  t.equal((await gateway.ask('demo', '/version')).status, 200)
  await gateway.reload({ ...ONE, limits: { rate: { requests: 1, per: HOUR }, scannedItems: 7 } })
  t.equal((await gateway.ask('demo', '/version')).status, 429)
  await gateway.reload({ ...ONE, limits: { rate: null } })
  t.equal((await gateway.ask('demo', '/version')).status, 200)
})

t.test(
  'two gateways with one Redis share the count of a rule for a ceiling',
  { skip: redisSkip },
  async (t) => {
    const redis = await startRedis()
    t.teardown(() => redis.stop())
    const node = await startNode(t)
    const rule = { groups: ['clerks'], ceiling: 'all', rate: { requests: 3, per: HOUR } }
    const settings = {
      engines: { default: { nodes: [node.url + BASE] } },
      cache: { redis: redis.url },
      limits: { ceilings: [rule] },
    }
    const gateways = [await startReloadable(t, settings), await startReloadable(t, settings)]
    const control = new Redis(redis.url)
    t.teardown(() => control.disconnect())
    const ask = async (index: number) => {
      const response = await gateways[index % 2]?.ask('mary', '/version')
      await response?.arrayBuffer()
      return response?.status
    }
    // Each gateway counts alone until its connection to Redis is ready.
    for (const index of gateways.keys())
      await until(async () => {
        await control.flushall()
        await ask(index)
        return (await control.keys('*:rate:*')).length > 0
      })
    await control.flushall()
    const statuses = await Promise.all(Array.from({ length: 8 }, (_, index) => ask(index)))
    t.equal(statuses.filter((status) => status === 200).length, 3, statuses.join())
  },
)

t.test('rate limits of two gateways with one Redis', { skip: redisSkip }, async (t) => {
  const redis = await startRedis()
  t.teardown(() => redis.stop())
  const node = await startNode(t)
  const settings = {
    engines: { default: { nodes: [node.url + BASE] } },
    cache: { redis: redis.url },
    limits: {
      rate: { requests: 3, per: HOUR, users: { ben: { requests: 1000, per: HOUR } } },
    },
  }
  const gateways = [await startReloadable(t, settings), await startReloadable(t, settings)]
  const ask = async (user: string, index: number) => {
    const response = await gateways[index % 2]?.ask(user, '/version')
    await response?.arrayBuffer()
    return response
  }

  t.test('both gateways share one count', async (t) => {
    // Each gateway counts alone until its connection to Redis is ready.
    const control = new Redis(redis.url)
    t.teardown(() => control.disconnect())
    for (const index of gateways.keys())
      await until(async () => {
        await control.flushall()
        await ask('ben', index)
        return (await control.keys('*:rate:*')).length > 0
      })
    const statuses = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => (await ask('mary', index))?.status),
    )
    t.equal(statuses.filter((status) => status === 200).length, 3, statuses.join())
  })

  t.test('without Redis each gateway counts alone, and refuses no request for that reason', async (t) => {
    process.kill(redis.pid, 'SIGKILL')
    await redis.stop()
    const statuses = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => (await ask('demo', index))?.status),
    )
    t.equal(statuses.filter((status) => status === 200).length, 6, statuses.join())
    t.equal(statuses.filter((status) => status === 429).length, 2)
    t.match((await ask('mary', 0))?.status, 429, 'and remember what they heard')
  })
})
