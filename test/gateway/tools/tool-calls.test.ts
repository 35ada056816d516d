import t from 'tap'
import { bodyText } from '../../../src/request/body.ts'
import { stringIn } from '../../../src/request/value.ts'
import { idsOf } from '../../sandbox/asks.ts'
import { authorizationOf, openGateway } from '../../support/open-gateway.ts'
import { connectTools } from '../../support/tool-client.ts'

const MCP = { mcp: {} }

for (const mode of ['legacy', 'auto'] as const)
  t.test(`a client lists, reads, starts and completes (${mode})`, async (t) => {
    const gateway = await openGateway(t, { settings: MCP, listen: true })
    const { client, names, call } = await connectTools(t, gateway.origin, 'mary', { mode })
    t.equal(client.getServerVersion()?.name, 'engine-gateway')
    t.ok((await names()).includes('getTasks'))
    const started = await call('startProcessInstanceByKey', { key: 'review', body: {} })
    t.notOk(started.isError, started.texts.join())
    const tasks = await call('getTasks', { processDefinitionKey: 'review' })
    t.notOk(tasks.isError)
    const id = bodyText(JSON.parse(tasks.texts[0] ?? ''), '0.id')
    t.equal((await call('getTask', { id })).isError, false)
    const done = await call('complete', { id, body: { variables: { ok: { value: true } } } })
    t.notOk(done.isError, done.texts.join())
  })

t.test('without the section there is no path', async (t) => {
  const gateway = await openGateway(t, { listen: true })
  for (const path of ['/mcp', '/mcp/engine/second', '/.well-known/oauth-protected-resource'])
    t.equal((await fetch(gateway.origin + path, { method: 'POST', body: '{}' })).status, 404)
  t.equal(gateway.dependencies.toolEndpoint, null)
})

t.test('a refusal is readable, is the refusal of the API, and reaches no engine', async (t) => {
  const gateway = await openGateway(t, { settings: MCP, listen: true })
  const [id] = await idsOf(gateway.engine.base, '/task')
  const { call } = await connectTools(t, gateway.origin, 'nobody')
  const before = gateway.engine.seen.length
  const result = await call('complete', { id, body: {} })
  const api = await gateway.ask('nobody', `POST /task/${id}/complete`, { body: {} })
  t.equal(result.isError, true)
  t.equal(
    result.texts[0],
    `HTTP ${api.status} ${stringIn(api.body, 'type')}: ${stringIn(api.body, 'message')}`,
  )
  t.same(
    gateway.engine.seen
      .slice(before)
      .filter(({ method, url }) => method === 'POST' && url.includes('complete')),
    [],
  )
})

t.test('the request of a tool has the caller, the address, the trace and the id of the client', async (t) => {
  const gateway = await openGateway(t, {
    settings: { ...MCP, log: { audit: 'stdout' }, listen: { port: 0, trustedProxies: ['127.0.0.1'] } },
    listen: true,
  })
  const message = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'startProcessInstanceByKey', arguments: { key: 'review', body: {} } },
  }
  const response = await fetch(`${gateway.origin}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from('mary:mary').toString('base64')}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'x-forwarded-for': '192.0.2.7',
      'x-request-id': 'call-1',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    },
    body: JSON.stringify(message),
  })
  t.equal(response.status, 200)
  await response.text()
  const lines = gateway.log.filter((line) => line['requestId'] === 'call-1')
  t.match(
    lines.find(
      (line) => line['operation'] === 'startProcessInstanceByKey' && line['durationMs'] !== undefined,
    ),
    { user: 'mary', client: '192.0.2.7', traceId: '0af7651916cd43dd8448eb211c80319c' },
  )
})

t.test('the path selects the engine', async (t) => {
  const gateway = await openGateway(t, { settings: MCP, listen: true })
  const { call } = await connectTools(t, gateway.origin, 'mary', { path: '/mcp/engine/second' })
  const before = gateway.engine.requests
  t.match(await call('getProcessDefinitions'), { isError: false })
  const sent = gateway.engine.seen.slice(before - gateway.engine.requests)
  t.ok(sent.every(({ url }) => url.startsWith('/engine-rest/engine/second/')))
})

t.test('a result is cut at its limit, and calls are counted by result', async (t) => {
  const gateway = await openGateway(t, { settings: { mcp: { maxResultBytes: '1KiB' } }, listen: true })
  const { call } = await connectTools(t, gateway.origin, 'demo')
  const result = await call('getProcessDefinitions')
  t.ok((result.texts[0] ?? '').length <= 1024)
  t.ok(Array.isArray(JSON.parse(result.texts[0] ?? '')))
  t.match(result.texts[1], /too long.*firstResult/)
  await call('getTask', {})
  await call('getTask', { id: 'none' })
  await t.rejects(call('none'))
  const text = await gateway.dependencies.metrics.text()
  for (const [tool, label] of [
    ['getProcessDefinitions', 'success'],
    ['getTask', 'bad-arguments'],
    ['getTask', 'refused'],
    ['', 'unknown-tool'],
  ])
    t.match(text, `gateway_mcp_calls_total{engine="default",tool="${tool}",result="${label}"} 1`)
})

t.test('a client that leaves ends the request at the engine', async (t) => {
  const { promise: waiting, resolve: arrived } = Promise.withResolvers<void>()
  const { promise: gone, resolve: left } = Promise.withResolvers<void>()
  const authorization = { mode: 'off', records: { source: 'file', file: 'records.yaml' } }
  const settings = { ...MCP, authorization, health: { probe: false } }
  const gateway = await openGateway(t, {
    settings,
    listen: true,
    engine: (request, response) => {
      response.once('close', left)
      arrived()
      t.match(request.url, /process-definition/)
    },
  })
  const abort = new AbortController()
  const called = fetch(`${gateway.origin}/mcp`, {
    method: 'POST',
    headers: {
      authorization: authorizationOf('demo'),
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'getProcessDefinitions', arguments: {} },
    }),
    signal: abort.signal,
  }).then((response) => response.text())
  await waiting
  abort.abort()
  await t.rejects(called)
  await gone
})
