import { request as httpRequest, type ServerResponse } from 'node:http'
import t from 'tap'
import { openControl } from '../../idempotency/claims.ts'
import { until } from '../../support/cache-harness.ts'
import { startRedis } from '../../support/redis.ts'
import { redisSkip } from '../../support/requirements.ts'
import { idsOf } from '../../sandbox/asks.ts'
import { codeOf, JSON_TYPE, keyed, openBefore, openKeyed, START } from '../../support/keyed.ts'
import { type Answer, authorizationOf, BASE, openGateway } from '../../support/open-gateway.ts'
import { head, speak } from '../../support/raw.ts'

const EVALUATE = 'POST /decision-definition/key/discount/evaluate'

t.test('without Redis a request with a key is refused and not sent', async (t) => {
  const { ask, log } = await openGateway(t)
  const answer = await ask('demo', START, keyed('a'))
  t.equal(codeOf(answer), '501 GW_IDEMPOTENCY_UNSUPPORTED')
  t.same(answer.forwarded, [])
  t.equal((await ask('demo', START, { body: {} })).status, 200, 'without a key nothing is asked of Redis')
  const errors = log.filter(({ level }) => level === 'error')
  t.same(errors, [], 'what callers do is no error of the gateway')
})

t.test('an operation without idempotency ignores the key and does not send it to the engine', async (t) => {
  const { ask } = await openGateway(t, { engine: (_request, response) => response.writeHead(204).end() })
  const answer = await ask('demo', 'POST /task/create', keyed('a', { name: 'x' }))
  t.equal(answer.status, 204)
  t.equal(answer.forwarded.length, 1)
  t.equal(answer.forwarded[0]?.headers['idempotency-key'], undefined)
})

t.test('idempotency keys with Redis', { skip: redisSkip }, async (t) => {
  const redis = await startRedis()
  t.teardown(() => redis.stop())

  t.test('a repeated start gets the same response and starts nothing', async (t) => {
    const { ask, dependencies } = await openKeyed(t, redis.url)
    const first = await ask('demo', START, keyed('a', { businessKey: 'k' }, { 'x-request-id': 'one' }))
    t.equal(first.status, 200)
    t.match(first.forwarded, [{ method: 'POST' }])
    t.equal(first.forwarded[0]?.headers['idempotency-key'], undefined, 'the engine does not see the key')
    const again = await ask('demo', START, keyed('a', { businessKey: 'k' }, { 'x-request-id': 'two' }))
    t.same(again.forwarded, [])
    t.same(again.bytes, first.bytes)
    t.equal(again.status, 200)
    t.equal(again.headers['content-type'], first.headers['content-type'])
    t.match(again.headers, { 'idempotency-replayed': 'true', 'x-request-id': 'two' })
    t.equal(first.headers['idempotency-replayed'], undefined)
    const metrics = await dependencies.metrics.text()
    for (const result of ['first', 'replayed'])
      t.match(metrics, `gateway_idempotent_requests_total{engine="default",result="${result}"} 1\n`)
  })

  t.test(
    'quoted and bare keys are equal, and keys of other callers, engines and operations are separate',
    async (t) => {
      const { ask } = await openKeyed(t, redis.url)
      const isReplayed = async (user: string, route: string, key: string): Promise<boolean> =>
        (await ask(user, route, keyed(key))).headers['idempotency-replayed'] === 'true'
      t.equal(await isReplayed('demo', START, '"8e03978e-40d5"'), false)
      t.equal(await isReplayed('demo', START, '8e03978e-40d5'), true)
      t.equal(await isReplayed('demo', START, '8e03978e-40d6'), false)
      t.equal(await isReplayed('mary', START, '8e03978e-40d5'), false)
      t.equal(await isReplayed('demo', START.replace('/', '/engine/default/'), '8e03978e-40d5'), true)
      t.equal(await isReplayed('demo', START.replace('/', '/engine/second/'), '8e03978e-40d5'), false)
      t.equal(await isReplayed('demo', START.replace('start', 'submit-form'), '8e03978e-40d5'), false)
    },
  )

  t.test('a key that was used for another request is refused', async (t) => {
    const { ask } = await openKeyed(t, redis.url)
    await ask('demo', START, keyed('a', { businessKey: 'k' }))
    for (const [route, other] of [
      [START, keyed('a', { businessKey: 'l' })],
      [`${START}?x=1`, keyed('a', { businessKey: 'k' })],
      [START.replace('review', 'catching'), keyed('a', { businessKey: 'k' })],
      [START, keyed('a', { businessKey: 'k' }, { 'content-type': 'application/json;charset=utf-8' })],
    ] as const) {
      const answer = await ask('demo', route, other)
      t.equal(codeOf(answer), '422 GW_IDEMPOTENCY_KEY_REUSED', route)
      t.same(answer.forwarded, [])
    }
  })

  t.test('links in a replayed response lead to the address that each client uses', async (t) => {
    const { ask } = await openKeyed(t, redis.url)
    const asks = async (host: string, prefix = ''): Promise<string> =>
      hrefOf(await ask('demo', START.replace('/', `${prefix}/`), keyed('a', {}, { host })))
    t.equal(await asks('one.example'), 'http://one.example/engine-rest/process-instance/')
    t.equal(await asks('two.example:8080'), 'http://two.example:8080/engine-rest/process-instance/')
    t.equal(
      await asks('one.example', '/engine/default'),
      'http://one.example/engine-rest/engine/default/process-instance/',
    )
  })

  t.test('a value of a user that looks like a link is not changed in a replayed response', async (t) => {
    const result = '[{"address":{"value":{"href":"http://one.example/engine-rest/task/x"}}}]'
    const { ask } = await openBefore(t, redis.url, (response) =>
      response.writeHead(200, JSON_TYPE).end(result),
    )
    for (const host of ['one.example', 'two.example'])
      t.equal((await ask('demo', EVALUATE, keyed('a', {}, { host }))).bytes.toString(), result, host)
  })

  t.test(
    'a key does not change the refusal of a caller without the permission, and replays nothing',
    async (t) => {
      const { ask } = await openKeyed(t, redis.url)
      const plain = await ask('nobody', START, { body: {} })
      const answer = await ask('nobody', START, keyed('a'))
      t.same([answer.status, answer.body], [plain.status, plain.body])
      t.equal(answer.status, 404)
      t.equal((await ask('demo', START, keyed('a', '{'))).status, 400, 'and so does a body out of shape')
      t.equal((await ask('demo', START, keyed('a'))).headers['idempotency-replayed'], undefined)
    },
  )

  t.test(
    'the response of a request to an entity that no longer exists is replayed to its caller and to no other caller',
    async (t) => {
      const { ask, engine } = await openKeyed(t, redis.url, {
        records: [
          'grant ben PROCESS_DEFINITION:catching UPDATE_INSTANCE',
          'grant anna PROCESS_INSTANCE:* UPDATE',
        ],
      })
      const [id = ''] = await idsOf(engine.base, '/execution?activityId=catchSignal')
      const route = `POST /execution/${id}/signal`
      t.equal((await ask('ben', route, keyed('a'))).status, 204)
      const plain = await ask('ben', route, { body: {} })
      t.match(plain, { status: 500, body: { message: /doesn't exist/ } })
      const { requests } = engine
      t.match(await ask('ben', route, keyed('a')), {
        status: 204,
        headers: { 'idempotency-replayed': 'true' },
      })
      for (const [user, once] of [
        ['anna', keyed('a')],
        ['ben', keyed('b')],
        ['ben', keyed('a', { variables: {} })],
      ] as const) {
        const answer = await ask(user, route, once)
        t.same([answer.status, answer.body], [plain.status, plain.body], user)
      }
      t.same(
        engine.seen.slice(requests - engine.requests).filter(({ method }) => method !== 'GET'),
        [],
      )
    },
  )

  t.test('an invalid key is refused', async (t) => {
    const { ask } = await openKeyed(t, redis.url)
    for (const key of ['', '""', 'a b', 'a,b', '"a', 'a"', '"a";b=1', `"a\\b"`, 'é', 'k'.repeat(256)]) {
      const answer = await ask('demo', START, keyed(key))
      t.equal(codeOf(answer), '400 GW_BAD_HEADER', key)
      t.same(answer.forwarded, [])
    }
    for (const key of ['k'.repeat(255), '"a,b"', `"a\\"b\\\\"`, "!#$%&'*+-.^_`|~{}[]()<>@:;/?=\\"])
      t.equal((await ask('demo', START, keyed(key))).status, 200, key)
  })

  t.test('two keys in one request are refused', async (t) => {
    const { origin, engine } = await openKeyed(t, redis.url, { listen: true })
    const { requests } = engine
    const lines = ['Content-Type: application/json', 'Content-Length: 2', 'Idempotency-Key: a']
    const bytes = head(`POST ${BASE}/process-definition/key/review/start`, ...lines, 'idempotency-key: a')
    const [answer] = await speak(origin, `${bytes}{}`)
    t.match(answer, { status: 400, headers: { 'x-gateway-error': 'GW_BAD_HEADER' } })
    t.equal(engine.requests, requests)
  })

  t.test('a repeated request gets 409 while the first is in progress', async (t) => {
    const held: ServerResponse[] = []
    const { ask } = await openBefore(t, redis.url, (response) => void held.push(response))
    const first = ask('demo', START, keyed('a'))
    await until(() => held.length === 1)
    const second = await ask('demo', START, keyed('a'))
    t.equal(codeOf(second), '409 GW_IDEMPOTENCY_IN_PROGRESS')
    t.equal(second.headers['retry-after'], '1')
    held[0]?.writeHead(200, JSON_TYPE).end('{"id":"1"}')
    t.equal((await first).status, 200)
    t.match(await ask('demo', START, keyed('a')), { status: 200, body: { id: '1' } })
    t.equal(held.length, 1)
  })

  t.test(
    'if Redis loses its data, the same process does not repeat requests that are in progress',
    async (t) => {
      const held: ServerResponse[] = []
      const { ask } = await openBefore(t, redis.url, (response) => void held.push(response))
      // Fewer than the places of a node for slow operations, because all of them wait at the same time.
      const keys = Array.from({ length: 40 }, (_, at) => `key-${at}`)
      const first = Promise.all(keys.map((key) => ask('demo', START, keyed(key))))
      await until(() => held.length === keys.length)
      const control = openControl(t, redis.url)
      await control.flushall()
      for (const answer of await Promise.all(keys.map((key) => ask('demo', START, keyed(key))))) {
        t.equal(codeOf(answer), '409 GW_IDEMPOTENCY_IN_PROGRESS')
        t.same(answer.forwarded, [])
      }
      for (const response of held) response.writeHead(200, JSON_TYPE).end('{"id":"1"}')
      for (const { status } of await first) t.equal(status, 200)
      for (const key of keys) {
        const { headers, forwarded } = await ask('demo', START, keyed(key))
        t.match(headers, { 'idempotency-replayed': 'true' })
        t.same(forwarded, [])
      }
      t.equal(held.length, keys.length)
    },
  )

  t.test('the response is stored for a client that disconnected before it arrived', async (t) => {
    const held: ServerResponse[] = []
    const { ask, origin } = await openBefore(t, redis.url, (response) => void held.push(response), {
      listen: true,
    })
    const headers = { authorization: authorizationOf('demo'), ...JSON_TYPE, 'idempotency-key': 'a' }
    const path = `${origin}${BASE}/process-definition/key/review/start`
    const leaving = httpRequest(path, { method: 'POST', headers, agent: false })
    leaving.on('error', () => undefined).end('{}')
    await until(() => held.length === 1)
    await new Promise((resolve) => leaving.once('close', resolve).destroy())
    held[0]?.writeHead(200, JSON_TYPE).end('{"id":"1"}')
    const later = async () => ask('demo', START, keyed('a'))
    await until(async () => (await later()).status !== 409)
    t.match(await later(), { status: 200, body: { id: '1' }, headers: { 'idempotency-replayed': 'true' } })
    t.equal(held.length, 1)
  })
})

function hrefOf({ bytes }: Answer): string {
  return /"href":"([^"]*\/)/.exec(bytes.toString())?.[1] ?? ''
}
