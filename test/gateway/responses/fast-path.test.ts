import { pino } from 'pino'
import t from 'tap'
import { startSandbox } from '../../../sandbox/sandbox.ts'
import { GatewayError } from '../../../src/errors.ts'
import { DEPLOYMENT_TAG } from '../../../src/operations/cached-content.ts'
import { linesOf, openBothWays, openCounted, replaceRecords } from '../../support/both-ways.ts'
import { until } from '../../support/cache-harness.ts'
import { startCollector } from '../../support/collector.ts'
import { authorizationOf, BASE, configOf, type OpenGateway } from '../../support/open-gateway.ts'
import { DEMO_RECORDS } from '../../support/people.ts'
import { get, head, hear, nextBytes, openSocket, speak } from '../../support/raw.ts'
import { start } from '../../support/start.ts'

const DIAGRAM = '/decision-definition/key/discount/diagram'
const RECORDS_OF_MARY = ['grant mary DECISION_DEFINITION:discount READ']

function asUser(user: string, ...lines: readonly string[]): string {
  const request = head(`GET ${BASE}${DIAGRAM}`, ...lines)
  return request.replace(authorizationOf('demo'), authorizationOf(user))
}

/** Returns the sum of the samples of a metric whose labels contain a text. */
async function countOf({ dependencies }: OpenGateway, metric: string, labels: string): Promise<number> {
  const lines = (await dependencies.metrics.text()).split('\n')
  return lines
    .filter((line) => line.startsWith(`${metric}{`) && line.includes(labels))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

/** Sends a request until the framework has served it from the cache. The next one is on the fast path. */
async function warm(gateway: OpenGateway, bytes = get(DIAGRAM)): Promise<void> {
  await speak(gateway.origin, bytes)
  await speak(gateway.origin, bytes)
}

t.test('the second hit of a target and all later ones do not pass the framework', async (t) => {
  const gateway = await openCounted(t)
  for (const routed of [1, 2, 2, 2]) {
    const [answer] = await speak(gateway.origin, get(DIAGRAM))
    t.equal(answer?.status, 200)
    t.equal(gateway.routed(), routed)
  }
  const conditional = head(`GET ${BASE}${DIAGRAM}`, 'If-None-Match: *')
  t.match(await speak(gateway.origin, conditional), [{ status: 304, body: '' }])
  t.equal(gateway.routed(), 2)
})

t.test('requests on one connection get their responses in order, on either way', async (t) => {
  const gateway = await openCounted(t)
  await warm(gateway)
  const kept = get(DIAGRAM).replace('Connection: close\r\n', '')
  const other = get('/version').replace('Connection: close\r\n', '')
  const answers = await speak(gateway.origin, kept + other + kept + get(DIAGRAM))
  t.same(
    answers.map(({ headers }) => headers['cache-status']?.includes('hit') ?? false),
    [true, false, true, true],
  )
})

t.test('a caller without the permission is refused at a target that others get from the cache', async (t) => {
  const gateway = await openCounted(t, { records: RECORDS_OF_MARY })
  await warm(gateway, asUser('mary'))
  await speak(gateway.origin, asUser('nobody'))
  const requests = gateway.engine.requests
  const routed = gateway.routed()
  t.match(await speak(gateway.origin, asUser('nobody')), [{ status: 404 }])
  t.equal(gateway.engine.requests, requests)
  t.equal(gateway.routed(), routed + 1, 'the framework sends the refusal')
  await until(() => linesOf(gateway, 'audit').length === 2)
  t.match(linesOf(gateway, 'audit')[1], { user: 'nobody', decision: 'refused', stage: 'permit' })
  t.equal(await countOf(gateway, 'gateway_refusals_total', 'stage="permit"'), 2)
})

t.test('a revoked permission ends the hits of its user at once', async (t) => {
  const gateway = await openCounted(t, { records: RECORDS_OF_MARY, watch: true })
  await warm(gateway, asUser('mary'))
  t.match(await speak(gateway.origin, asUser('mary')), [{ status: 200 }])
  await replaceRecords(gateway, DEMO_RECORDS.slice(0, 1))
  t.match(await speak(gateway.origin, asUser('mary')), [{ status: 404 }])
})

t.test('a request whose user is not remembered is authenticated once', async (t) => {
  const gateway = await openCounted(t, { records: RECORDS_OF_MARY })
  await warm(gateway, asUser('mary'))
  const before = await countOf(gateway, 'gateway_auth_total', '')
  t.match(await speak(gateway.origin, asUser('demo')), [{ status: 200, headers: { 'cache-status': /hit/ } }])
  t.equal(await countOf(gateway, 'gateway_auth_total', ''), before + 1)
  t.equal(await countOf(gateway, 'gateway_auth_total', 'result="verified"'), 2)
})

t.test('a request for a response that is no longer cached takes one token and is a miss once', async (t) => {
  const gateway = await openCounted(t, {
    records: RECORDS_OF_MARY,
    settings: { limits: { rate: { requests: 10, per: '1h' } } },
  })
  await warm(gateway, asUser('mary'))
  const misses = await countOf(gateway, 'gateway_cache_requests_total', 'tier="memory",result="miss"')
  const { cache } = gateway.dependencies
  await cache.evict([`default:${DEPLOYMENT_TAG}`])
  const [missed] = await speak(gateway.origin, asUser('mary', 'X-Request-Id: the-same'))
  t.match(missed, {
    status: 200,
    headers: { 'cache-status': /fwd/, ratelimit: /r=7;/, 'x-request-id': 'the-same' },
  })
  t.equal(await countOf(gateway, 'gateway_cache_requests_total', 'tier="memory",result="miss"'), misses + 1)
  await until(() => linesOf(gateway, 'access').length === 3)
  t.equal(await countOf(gateway, 'http_server_request_duration_seconds_count', ''), 3)
})

t.test('a rate that is counted elsewhere is waited for, and counted once', async (t) => {
  let taken = 0
  const gateway = await openCounted(t, {
    wrap: (dependencies) => ({
      ...dependencies,
      engines: new Map(
        [...dependencies.engines].map(([name, engine]) => [
          name,
          {
            ...engine,
            takeRate: () => {
              taken += 1
              return Promise.resolve({ headers: { ratelimit: `taken ${taken}` }, refusal: null })
            },
          },
        ]),
      ),
    }),
  })
  for (const count of [1, 2, 3, 4])
    t.match(await speak(gateway.origin, get(DIAGRAM)), [
      { status: 200, headers: { ratelimit: `taken ${count}` } },
    ])
  t.equal(gateway.routed(), 4)
})

t.test('an overloaded gateway refuses requests on the fast path', async (t) => {
  let isOver = false
  const gateway = await openCounted(t, {
    wrap: (dependencies) => ({
      ...dependencies,
      pressure: {
        ...dependencies.pressure,
        refusal: () => (isOver ? new GatewayError('GW_OVERLOADED', { retryAfterSeconds: 2 }) : null),
      },
    }),
  })
  await warm(gateway)
  isOver = true
  t.match(await speak(gateway.origin, get(DIAGRAM)), [
    { status: 503, headers: { 'x-gateway-error': 'GW_OVERLOADED', 'retry-after': '2' } },
  ])
  t.equal(await countOf(gateway, 'gateway_refusals_total', 'stage="admit"'), 1)
})

t.test('an unexpected error on the fast path becomes a 500, and is logged', async (t) => {
  let isBroken = false
  const gateway = await openCounted(t, {
    wrap: (dependencies) => ({
      ...dependencies,
      cache: Object.assign(Object.create(dependencies.cache), {
        peekHit: (key: string) => {
          if (isBroken) throw new TypeError('broken')
          return dependencies.cache.peekHit(key)
        },
        peek: (key: string) => dependencies.cache.peek(key),
        load: (...of: Parameters<typeof dependencies.cache.load>) => dependencies.cache.load(...of),
      }),
    }),
  })
  await warm(gateway)
  isBroken = true
  t.match(await speak(gateway.origin, get(DIAGRAM)), [
    { status: 500, headers: { 'x-gateway-error': 'GW_INTERNAL' } },
  ])
  await until(() => gateway.log.some(({ level }) => level === 'error'))
})

t.test('a client that disconnects before the response is recorded once', async (t) => {
  const gateway = await openCounted(t)
  await warm(gateway)
  const socket = openSocket(gateway.origin)
  socket.write(get(DIAGRAM))
  await new Promise((resolve) => socket.once('ready', resolve))
  socket.destroy()
  await hear(socket)
  await speak(gateway.origin, get(DIAGRAM))
  await until(() => linesOf(gateway, 'access').length >= 3)
  const lines = linesOf(gateway, 'access').length
  t.equal(await countOf(gateway, 'http_server_request_duration_seconds_count', ''), lines)
  t.match(await gateway.dependencies.metrics.text(), /^gateway_requests_in_flight 0$/m)
})

t.test('a hit on the fast path has the same span as in the framework', async (t) => {
  const { url, trace } = await startCollector(t)
  const both = await openBothWays(t, { settings: { traces: { endpoint: url, sampleRatio: '100%' } } })
  const spanOf = async (gateway: OpenGateway, traceId: string) => {
    await speak(
      gateway.origin,
      head(`GET ${BASE}${DIAGRAM}`, `traceparent: 00-${traceId}-b7ad6b7169203331-01`),
    )
    await until(() => gateway.log.some((line) => line['traceId'] === traceId))
    await gateway.dependencies.traces?.flush()
    const [{ name, attributes } = { name: '', attributes: {} }] = await trace(traceId, 1)
    return { name, attributes: { ...attributes, 'gateway.request_id': '', 'gateway.cache': '' } }
  }
  for (const gateway of [both.fast, both.slow]) await warm(gateway)
  const fast = await spanOf(both.fast, 'a'.repeat(32))
  t.equal(both.fast.routed(), 2)
  t.match(fast, {
    name: 'getDecisionDefinitionDiagramByKey',
    attributes: { 'http.response.status_code': 200, 'server.address': 'gateway' },
  })
  t.same(fast, await spanOf(both.slow, 'b'.repeat(32)))
})

t.test('during a drain, a hit on the fast path closes its connection', async (t) => {
  const sandbox = await startSandbox()
  t.teardown(() => sandbox.close())
  const { address, drain } = await start(configOf(t, sandbox.base), pino({ level: 'silent' }))
  const socket = openSocket(address)
  const kept = get(DIAGRAM).replace('Connection: close\r\n', '')
  for (let count = 0; count < 3; count += 1) {
    socket.write(kept)
    t.match(await nextBytes(socket), /^HTTP\/1\.1 200 OK\r\n/)
  }
  const drained = drain()
  socket.write(kept)
  t.match(await hear(socket), [{ status: 200, headers: { 'cache-status': /hit/, connection: 'close' } }])
  await drained
})
