import t from 'tap'
import { bodyText } from '../../../src/request/body.ts'
import { stringIn } from '../../../src/request/value.ts'
import { idsOf } from '../../sandbox/asks.ts'
import { openGateway } from '../../support/open-gateway.ts'
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
