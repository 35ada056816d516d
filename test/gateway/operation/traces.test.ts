import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import t from 'tap'
import { authorizationOf, BASE, configOf, openGateway, type OpenGateway } from '../../support/open-gateway.ts'
import { type Collector, type ExportedSpan, startCollector } from '../../support/collector.ts'
import { startNode } from '../../support/fake-engine.ts'
import { head, hear, openSocket } from '../../support/raw.ts'
import { start } from '../../support/start.ts'
import { until } from '../../support/cache-harness.ts'

const SERVER = 2
const CLIENT = 3
const ERROR = 2
const CALLER_SPAN = 'b7ad6b7169203331'

const collector = await startCollector(t)
const gateway = await openGateway(t, {
  listen: true,
  settings: { traces: settingsFor(collector, { headers: { 'x-api-key': 'of the collector' } }) },
})
const { ask, log } = gateway

function settingsFor({ url }: Collector, more: Readonly<Record<string, unknown>> = {}) {
  return { endpoint: url, sampleRatio: '100%', ...more }
}

/** Returns a trace that began at the caller. */
function callerOf(flags: '00' | '01') {
  const traceId = randomBytes(16).toString('hex')
  return { traceId, traceparent: `00-${traceId}-${CALLER_SPAN}-${flags}` }
}

/** Returns the trace id of the newest access line. */
async function lastTraceId(of: Pick<OpenGateway, 'log'> = gateway): Promise<string> {
  const line = () => of.log.findLast(({ durationMs }) => durationMs !== undefined)
  await until(() => line() !== undefined)
  return String(line()?.['traceId'])
}

/** Sends a request and returns its spans when all of them have arrived. */
async function spansOf(route: string, count: number, user: string | null = 'demo', more = {}) {
  const lines = log.length
  const answer = await ask(user, route, more)
  await until(() => log.length > lines)
  await gateway.dependencies.traces?.flush()
  const spans = await collector.trace(await lastTraceId(), count)
  return { answer, spans, server: one(spans, ({ kind }) => kind === SERVER) }
}

function one(spans: readonly ExportedSpan[], is: (span: ExportedSpan) => boolean): ExportedSpan {
  const [found, ...others] = spans.filter(is)
  if (found === undefined || others.length > 0) throw new Error(`${others.length + 1} spans, or none`)
  return found
}

async function someTaskId(): Promise<string> {
  const { body } = await ask('demo', 'GET /task?assignee=mary')
  return Array.isArray(body) ? String(body[0]?.id) : ''
}

t.test('the route of a named engine has a parameter for its name', async (t) => {
  const { server } = await spansOf(`GET /engine/second/task/${await someTaskId()}`, 2)
  t.match(server.attributes, {
    'http.route': '/engine-rest/engine/:engineName/task/:id',
    'gateway.engine': 'second',
  })
})

t.test('a request is a span with the attributes of the HTTP conventions', async (t) => {
  const id = await someTaskId()
  const { server } = await spansOf(`GET /task/${id}`, 2, 'demo', { headers: { 'x-request-id': 'r-1' } })
  t.match(server, { name: 'getTask', parentSpanId: null, status: 0 })
  t.same(server.attributes, {
    'http.request.method': 'GET',
    'http.route': '/engine-rest/task/:id',
    'http.response.status_code': 200,
    'url.scheme': 'http',
    'server.address': 'localhost',
    'server.port': 80,
    'network.protocol.version': '1.1',
    'gateway.request_id': 'r-1',
    'gateway.engine': 'default',
    'gateway.node': gateway.engine.base,
  })
  t.match(server.resource, {
    'service.name': 'engine-gateway',
    'service.version': 'test',
    'process.pid': process.pid,
  })
  t.match(collector.exports[0], { path: 'POST /v1/traces', headers: { 'x-api-key': 'of the collector' } })
})

t.test('attempts and lookups are child spans, and the engine receives the span of its attempt', async (t) => {
  const id = await someTaskId()
  const { traceId, traceparent } = callerOf('01')
  const { answer, spans, server } = await spansOf(`GET /task/${id}`, 4, 'mary', {
    headers: { traceparent, tracestate: 'rojo=1' },
  })
  t.equal(answer.status, 200)
  t.match(server, { traceId, parentSpanId: CALLER_SPAN, traceState: 'rojo=1' })
  const lookUps = spans.filter(({ name }) => name.startsWith('look-up '))
  t.ok(lookUps.length > 0)
  for (const { parentSpanId } of lookUps) t.equal(parentSpanId, server.spanId)
  const attempts = spans.filter(({ kind }) => kind === CLIENT)
  t.equal(attempts.length, answer.forwarded.length)
  t.same(
    new Set(answer.forwarded.map(({ headers }) => headers['traceparent'])),
    new Set(attempts.map(({ spanId }) => `00-${traceId}-${spanId}-01`)),
  )
  for (const { headers } of answer.forwarded) t.equal(headers['tracestate'], 'rojo=1')
  const own = one(attempts, ({ parentSpanId }) => parentSpanId === server.spanId)
  const parents = new Set(lookUps.map(({ spanId }) => spanId))
  for (const { parentSpanId } of attempts.filter((attempt) => attempt !== own))
    t.ok(parents.has(String(parentSpanId)))
  const { hostname, port } = new URL(gateway.engine.base)
  t.same(own.attributes, {
    'http.request.method': 'GET',
    'http.response.status_code': 200,
    'server.address': hostname,
    'server.port': Number(port),
    'gateway.engine': 'default',
    'gateway.node': gateway.engine.base,
    'gateway.result': 'ok',
  })
})

t.test('a request whose body arrives later has the same spans', async (t) => {
  const { traceId, traceparent } = callerOf('01')
  const body = '{"nameLike":"%"}'
  const socket = openSocket(gateway.origin)
  const lines = [
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    `traceparent: ${traceparent}`,
  ]
  socket.write(head(`POST ${BASE}/task`, ...lines))
  await until(async () => /^gateway_requests_in_flight 1$/m.test(await gateway.dependencies.metrics.text()))
  socket.write(body)
  t.match(await hear(socket), [{ status: 200 }])
  await until(() => log.some((line) => line['traceId'] === traceId))
  await gateway.dependencies.traces?.flush()
  const spans = await collector.trace(traceId, 2)
  const server = one(spans, ({ name }) => name === 'queryTasks')
  const attempt = one(spans, ({ kind }) => kind === CLIENT)
  t.equal(attempt.parentSpanId, server.spanId)
  t.equal(gateway.engine.seen.at(-1)?.headers['traceparent'], `00-${traceId}-${attempt.spanId}-01`)
})

t.test('span names come from the operation table, whatever is requested', async (t) => {
  t.match((await spansOf('GET /nosuch/x', 1)).server, {
    name: 'unmatched',
    attributes: {
      'http.response.status_code': 404,
      'gateway.error_code': '404',
      'gateway.stage': 'operation',
    },
    status: 0,
  })
  const { server } = await spansOf('GET /task/x', 1, null)
  t.match(server, { name: 'getTask', attributes: { 'http.response.status_code': 401 }, status: 0 })
})

t.test('no span contains a user, an id of the engine, a query or a password', async (t) => {
  const id = await someTaskId()
  await spansOf(`GET /task/${id}`, 2, 'mary')
  await spansOf('GET /user/mary/profile?firstName=mary', 1)
  const said = JSON.stringify(collector.spans)
  for (const secret of ['mary', id, 'firstName', 'demo', 'of the collector'])
    t.notOk(said.includes(secret), secret)
})

t.test('access and audit lines contain the trace id', async (t) => {
  const lines = log.length
  const { traceId, traceparent } = callerOf('01')
  await ask('mary', 'POST /signal', { body: { name: 'x' }, headers: { traceparent } })
  await until(() => log.length >= lines + 2)
  for (const line of log.slice(lines)) t.equal(line['traceId'], traceId)
})

t.test('a missing response of the engine is recorded as an error with its code', async (t) => {
  const own = await startCollector(t)
  const broken = await openGateway(t, {
    settings: { traces: settingsFor(own) },
    engine: (_request, response) => response.destroy(),
  })
  t.equal((await broken.ask('demo', 'GET /version')).status, 502)
  await broken.dependencies.traces?.flush()
  const server = one(own.spans, ({ kind }) => kind === SERVER)
  t.match(server, {
    status: ERROR,
    attributes: {
      'http.response.status_code': 502,
      'error.type': '502',
      'gateway.error_code': 'GW_UPSTREAM_FAILED',
      'gateway.stage': 'forward',
    },
  })
  const attempts = own.spans.filter(({ kind }) => kind === CLIENT)
  t.equal(attempts.length, broken.engine.requests)
  t.ok(attempts.length > 1, 'each attempt at the same request')
  t.same(
    attempts.map(({ attributes }) => attributes['http.request.resend_count']),
    attempts.map((_, at) => (at === 0 ? undefined : at)),
  )
  for (const attempt of attempts)
    t.match(attempt, { status: ERROR, attributes: { 'error.type': 'reset' }, parentSpanId: server.spanId })
})

t.test('the span of a cache hit says so, and has no attempt', async (t) => {
  const route = 'GET /decision-definition/key/discount/diagram'
  await spansOf(route, 2)
  const { spans, server } = await spansOf(route, 1)
  t.match(server.attributes, { 'http.response.status_code': 200, 'gateway.cache': /hit/ })
  t.same(
    spans.filter(({ kind }) => kind === CLIENT),
    [],
  )
})

t.test('a long poll is sent in the trace of its request', async (t) => {
  const own = await startCollector(t)
  const polled = await openGateway(t, {
    settings: {
      traces: settingsFor(own),
      authorization: { mode: 'off', records: { source: 'file', file: 'records.yaml' } },
    },
    engine: (_request, response) => void response.end('[]'),
  })
  const body = { workerId: 'w', maxTasks: 1, asyncResponseTimeout: 1000, topics: [] }
  const { status, forwarded } = await polled.ask('demo', 'POST /external-task/fetchAndLock', { body })
  t.equal(status, 200)
  await polled.dependencies.traces?.flush()
  const server = one(own.spans, ({ name }) => name === 'fetchAndLock')
  const { spanId, parentSpanId } = one(own.spans, ({ kind }) => kind === CLIENT)
  t.equal(parentSpanId, server.spanId)
  t.equal(forwarded[0]?.headers['traceparent'], `00-${server.traceId}-${spanId}-01`)
})

t.test('a passthrough request continues its trace', async (t) => {
  const web = await startNode(t)
  const own = await startCollector(t)
  const settings = { traces: settingsFor(own), passthrough: [{ prefix: '/app', upstream: web.url }] }
  const running = await start(configOf(t, gateway.engine.base, { settings }), pino({ level: 'silent' }))
  await fetch(`${running.address}/app/x`, { headers: { authorization: authorizationOf('demo') } })
  await running.drain()
  const span = one(own.spans, ({ name }) => name === 'passthrough')
  t.match(span.attributes, { 'http.route': '/app/*', 'http.response.status_code': 200 })
  const attempt = one(own.spans, ({ parentSpanId }) => parentSpanId === span.spanId)
  t.equal(web.seen[0]?.headers['traceparent'], `00-${span.traceId}-${attempt.spanId}-01`)
})

t.test('an untrusted caller continues a trace, and does not decide whether it is recorded', async (t) => {
  const own = await startCollector(t)
  const never = await openGateway(t, { settings: { traces: settingsFor(own, { sampleRatio: '0%' }) } })
  const { traceId, traceparent } = callerOf('01')
  const { forwarded } = await never.ask('demo', 'GET /version', { headers: { traceparent } })
  t.match(forwarded[0]?.headers['traceparent'], new RegExp(`^00-${traceId}-(?!${CALLER_SPAN})\\w{16}-00$`))
  t.equal(await lastTraceId(never), traceId)
  await never.dependencies.traces?.close()
  t.same(own.spans, [])
  const { answer, server } = await spansOf('GET /version', 2, 'demo', {
    headers: { traceparent: callerOf('00').traceparent },
  })
  t.match(answer.forwarded[0]?.headers['traceparent'], /-01$/)
  t.equal(server.parentSpanId, CALLER_SPAN)
})

t.test('a trusted caller decides whether a trace is recorded', async (t) => {
  const own = await startCollector(t)
  const trusting = { sampleRatio: '0%', trustParent: true }
  const trusted = await openGateway(t, { settings: { traces: settingsFor(own, trusting) } })
  await trusted.ask('demo', 'GET /version', { headers: { traceparent: callerOf('00').traceparent } })
  await trusted.ask('demo', 'GET /version')
  await trusted.ask('demo', 'GET /version', { headers: { traceparent: callerOf('01').traceparent } })
  await trusted.dependencies.traces?.flush()
  t.equal(own.spans.filter(({ kind }) => kind === SERVER).length, 1)
})

t.test(
  'without an endpoint, traceparent is sent unchanged, and its trace id is in the access line',
  async (t) => {
    const plain = await openGateway(t)
    const { traceId, traceparent } = callerOf('01')
    const { forwarded } = await plain.ask('demo', 'GET /version', {
      headers: { traceparent, tracestate: 'a=b' },
    })
    t.match(forwarded[0]?.headers, { traceparent, tracestate: 'a=b' })
    t.equal(await lastTraceId(plain), traceId)
  },
)

t.test('an invalid traceparent begins a new trace', async (t) => {
  for (const traceparent of [
    '00-1-2-01',
    `00-${'0'.repeat(32)}-${CALLER_SPAN}-01`,
    `ff-${callerOf('01').traceId}-${CALLER_SPAN}-01`,
  ]) {
    const { server } = await spansOf('GET /version', 2, 'demo', { headers: { traceparent } })
    t.equal(server.parentSpanId, null)
  }
})
