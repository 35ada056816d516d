import t from 'tap'
import { GatewayError } from '../../../src/errors.ts'
import { startRedis } from '../../support/redis.ts'
import { redisSkip } from '../../support/requirements.ts'
import { codeOf, JSON_TYPE, keyed, openBefore, openKeyed, START } from '../../support/keyed.ts'

t.test('outcomes of requests with an idempotency key', { skip: redisSkip }, async (t) => {
  const redis = await startRedis()
  t.teardown(() => redis.stop())

  const KEPT = [
    [204, '', {}],
    [400, '{"type":"InvalidRequestException","message":"m","code":null}', JSON_TYPE],
    [500, '{"type":"ProcessEngineException","message":"m","code":0}', JSON_TYPE],
    [500, '{"code":20001}', JSON_TYPE],
    [500, 'no JSON', {}],
    // Here `code` is a number of the application, and the request has been executed.
    [200, '{"code":1}', JSON_TYPE],
    [400, '{"code":1}', JSON_TYPE],
  ] as const
  for (const [status, body, headers] of KEPT)
    t.test(`the response ${status} ${body} is stored and replayed`, async (t) => {
      const { ask, engine } = await openBefore(t, redis.url, (response) =>
        response.writeHead(status, headers).end(body),
      )
      const first = await ask('demo', START, keyed('a'))
      const again = await ask('demo', START, keyed('a'))
      t.same([again.status, again.bytes], [first.status, first.bytes])
      t.match([first.status, again.headers['idempotency-replayed']], [status, 'true'])
      t.equal(engine.requests, 1)
    })

  t.test('a stored response is not counted as released or lost, and no warning is logged', async (t) => {
    const { ask, dependencies, log } = await openBefore(t, redis.url, (response) =>
      response.writeHead(204).end(),
    )
    t.equal((await ask('demo', START, keyed('a'))).status, 204)
    t.notMatch(await dependencies.metrics.text(), /result="(released|unstored)"\} [1-9]/)
    t.notOk(log.some(({ msg }) => String(msg).includes('cannot store the outcome')))
  })

  const RELEASED = [
    [401, ''],
    [429, ''],
  ] as const
  for (const [status, body] of RELEASED)
    t.test(`after ${status} a repeated request is executed, because the first was not`, async (t) => {
      const { ask, engine } = await openBefore(t, redis.url, (response) =>
        response.writeHead(status).end(body),
      )
      for (const requests of [1, 2]) {
        t.equal((await ask('demo', START, keyed('a'))).status, status)
        t.equal(engine.requests, requests)
      }
    })

  t.test('after a transaction was rolled back, a repeated request is executed', async (t) => {
    const { ask, engine, dependencies } = await openBefore(t, redis.url, (response) =>
      response.writeHead(500, JSON_TYPE).end('{"type":"OptimisticLockingException","message":"m","code":1}'),
    )
    t.equal((await ask('demo', START, keyed('a'))).status, 500)
    const { requests } = engine
    const again = await ask('demo', START, keyed('a'))
    t.equal(again.status, 500)
    t.equal(again.headers['idempotency-replayed'], undefined)
    t.ok(engine.requests > requests)
    t.match(
      await dependencies.metrics.text(),
      'gateway_idempotent_requests_total{engine="default",result="released"} 2',
    )
  })

  for (const status of [301, 307, 502, 503, 504])
    t.test(
      `after ${status} from a proxy the outcome is unknown, and a repeated request is not sent`,
      async (t) => {
        const { ask, engine } = await openBefore(t, redis.url, (response) => response.writeHead(status).end())
        // A redirect is not a response of an engine, so the gateway responds with 502 instead.
        t.equal((await ask('demo', START, keyed('a'))).status, status < 400 ? 502 : status)
        for (let times = 0; times < 2; times += 1)
          t.equal(codeOf(await ask('demo', START, keyed('a'))), '502 GW_OUTCOME_UNKNOWN')
        t.equal(engine.requests, 1)
      },
    )

  t.test(
    'after a broken connection the outcome is unknown, and a repeated request is not sent',
    async (t) => {
      const { ask, engine } = await openBefore(t, redis.url, (response) => response.destroy())
      for (let times = 0; times < 2; times += 1)
        t.equal(codeOf(await ask('demo', START, keyed('a'))), '502 GW_OUTCOME_UNKNOWN')
      t.equal(engine.requests, 1)
    },
  )

  t.test('after a timeout the outcome is unknown, and a repeated request is not sent', async (t) => {
    const { ask, engine } = await openBefore(t, redis.url, () => undefined, {
      settings: { timeouts: { headers: '100ms' }, health: { probe: false } },
    })
    t.equal(codeOf(await ask('demo', START, keyed('a'))), '504 GW_UPSTREAM_TIMEOUT')
    t.equal(codeOf(await ask('demo', START, keyed('a'))), '502 GW_OUTCOME_UNKNOWN')
    t.equal(engine.requests, 1)
  })

  for (const code of ['GW_NO_NODE', 'GW_OVERLOADED'] as const)
    t.test(`after ${code} a repeated request is sent, because the first was not`, async (t) => {
      let isAway = true
      const { ask } = await openKeyed(t, redis.url, {
        wrap: (dependencies) => ({
          ...dependencies,
          engines: new Map(
            [...dependencies.engines].map(([name, engine]) => {
              const fetch: typeof engine.upstream.fetch = (upstreamRequest, limitBytes) =>
                isAway
                  ? Promise.reject(new GatewayError(code))
                  : engine.upstream.fetch(upstreamRequest, limitBytes)
              return [name, { ...engine, upstream: { ...engine.upstream, fetch } }]
            }),
          ),
        }),
      })
      t.equal(codeOf(await ask('demo', START, keyed('a'))), `503 ${code}`)
      isAway = false
      t.match(await ask('demo', START, keyed('a')), { status: 200, forwarded: [{ method: 'POST' }] })
    })

  t.test('after a failure before sending, a repeated request is sent', async (t) => {
    let isAway = true
    const deploymentOf = async () => {
      if (isAway) throw new GatewayError('GW_UPSTREAM_FAILED')
      return null
    }
    const { ask } = await openKeyed(t, redis.url, {
      wrap: (dependencies) => ({
        ...dependencies,
        engines: new Map(
          [...dependencies.engines].map(([name, engine]) => [name, { ...engine, deploymentOf }]),
        ),
      }),
    })
    t.equal(codeOf(await ask('demo', START, keyed('a'))), '502 GW_UPSTREAM_FAILED')
    isAway = false
    t.match(await ask('demo', START, keyed('a')), { status: 200, forwarded: [{ method: 'POST' }] })
  })

  t.test(
    'a repeated request gets GW_IDEMPOTENCY_NOT_KEPT if the response was too large to store',
    async (t) => {
      const { ask, engine } = await openBefore(t, redis.url, (response) =>
        response.end(Buffer.alloc(300_000)),
      )
      t.equal((await ask('demo', START, keyed('a'))).bytes.length, 300_000)
      const again = await ask('demo', START, keyed('a'))
      t.equal(codeOf(again), '422 GW_IDEMPOTENCY_NOT_KEPT')
      t.match(again.body, { message: /its response, with status 200,/ })
      t.equal(engine.requests, 1)
    },
  )
})
