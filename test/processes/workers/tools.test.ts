import { writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { startSandbox } from '../../../sandbox/sandbox.ts'
import { until } from '../../support/cache-harness.ts'
import { authorizationOf } from '../../support/open-gateway.ts'
import { recordsOf } from '../../support/people.ts'
import { setupsOf } from '../../support/reloadable.ts'
import { startWorkers } from '../../support/started-workers.ts'

const STREAMS = 'gateway_mcp_streams'
const GRANTS = [
  'grant mary PROCESS_INSTANCE:* CREATE',
  'grant mary PROCESS_DEFINITION:review READ,CREATE_INSTANCE',
]

const sandbox = await startSandbox()
t.teardown(() => sandbox.close())
const { ONE } = setupsOf(sandbox.base)
const SETTINGS = { ...ONE, mcp: {}, timeouts: { drain: '10s' } }

/** Starts two workers whose records let mary start an instance. `grant` replaces the records. */
async function startTools(test: Test) {
  const gateway = await startWorkers(test, SETTINGS)
  const file = join(dirname(gateway.file), 'records.yaml')
  const grant = (lines: readonly string[]) =>
    writeFileSync(file, `${JSON.stringify({ authorizations: recordsOf(lines) })}\n`)
  const send = (method: string, params: object) =>
    sendMessage(gateway.address, { jsonrpc: '2.0', id: 1, method, params })
  const names = async () =>
    [...(await send('tools/list', {})).matchAll(/"name":"(\w+)","description"/g)].map(([, name]) => name)
  const canStart = async () => (await names()).includes('startProcessInstanceByKey')
  const open = (lastEventId?: string) => openStream(gateway.address, lastEventId)
  grant(GRANTS)
  await until(async () => (await Promise.all([1, 2, 3, 4].map(canStart))).every(Boolean), 20_000)
  return { ...gateway, grant, send, names, canStart, open }
}

/** Sends a message on a connection of its own, so that each worker gets some of them. The clients of the SDK would also open streams. */
async function sendMessage(address: string, message: object): Promise<string> {
  const response = await fetch(`${address}/mcp`, {
    method: 'POST',
    headers: {
      authorization: authorizationOf('mary'),
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      connection: 'close',
    },
    body: JSON.stringify(message),
  })
  return response.text()
}

interface Stream {
  readonly status: number | undefined
  /** Returns everything that has arrived. */
  readonly received: () => string
  readonly isEnded: () => boolean
  readonly id: () => string
}

/** Opens a stream on a connection of its own. */
function openStream(address: string, lastEventId?: string): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: authorizationOf('mary'),
      accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    }
    get(`${address}/mcp`, { agent: false, headers }, (response) => {
      const state = { text: '', isEnded: false }
      response.setEncoding('utf8').on('data', (chunk: string) => (state.text += chunk))
      response.on('error', () => undefined).on('close', () => (state.isEnded = true))
      resolve({
        status: response.statusCode,
        received: () => state.text,
        isEnded: () => state.isEnded,
        id: () => /^id: (\S+)$/m.exec(state.text)?.[1] ?? '',
      })
    }).on('error', reject)
  })
}

function isNotified(stream: Stream): boolean {
  return stream.received().includes('list_changed')
}

t.test('both workers have streams, and each stream is notified once of a change', async (t) => {
  const gateway = await startTools(t)
  const streams = await Promise.all(Array.from({ length: 8 }, () => gateway.open()))
  t.same(new Set(streams.map(({ status }) => status)), new Set([200]))
  await until(() => streams.every((stream) => stream.id() !== ''), 10_000)
  t.equal(await gateway.metric(STREAMS), 8)
  t.equal(new Set(streams.map((stream) => stream.id())).size, 1, 'the id is the same at both workers')
  gateway.grant(GRANTS.slice(1))
  await until(() => streams.every(isNotified), 5000)
  for (const stream of streams) t.equal(stream.received().match(/list_changed/g)?.length, 1)
  for (let count = 0; count < 4; count += 1) t.equal(await gateway.canStart(), false)
})

t.test('calls of one client are served by both workers', async (t) => {
  const gateway = await startTools(t)
  const call = { name: 'startProcessInstanceByKey', arguments: { key: 'review', body: {} } }
  const results = await Promise.all(Array.from({ length: 6 }, () => gateway.send('tools/call', call)))
  for (const result of results) t.match(result, /"structuredContent":\{/)
  t.equal(
    await gateway.metric(
      'gateway_mcp_calls_total{engine="default",tool="startProcessInstanceByKey",result="success"}',
    ),
    6,
  )
})

t.test(
  'a worker that exits ends only its own streams, and a client that connects again has missed nothing',
  async (t) => {
    const gateway = await startTools(t)
    const streams = await Promise.all(Array.from({ length: 8 }, () => gateway.open()))
    await until(() => streams.every((stream) => stream.id() !== ''), 10_000)
    const [[number, pid] = [0, 0]] = gateway.pids()
    process.kill(pid, 'SIGKILL')
    await until(() => (gateway.pids().get(number) ?? pid) !== pid, 20_000)
    const ended = streams.filter((stream) => stream.isEnded())
    t.ok(ended.length > 0 && ended.length < 8, `${ended.length} of 8 streams have ended`)
    const id = ended[0]?.id()
    const same = await gateway.open(id)
    await until(() => same.id() !== '')
    t.notOk(isNotified(same))
    gateway.grant(GRANTS.slice(1))
    const open = streams.filter((stream) => !stream.isEnded())
    await until(() => [...open, same].every(isNotified), 5000)
    const late = await gateway.open(id)
    await until(() => isNotified(late))
  },
)

t.test(
  'a reload notifies all clients, ends their streams, and new streams have the new configuration',
  async (t) => {
    const gateway = await startTools(t)
    const streams = await Promise.all(Array.from({ length: 6 }, () => gateway.open()))
    await until(() => streams.every((stream) => stream.id() !== ''), 10_000)
    await gateway.write({ ...SETTINGS, mcp: { tools: ['getTasks'] } })
    t.equal((await gateway.admin('/reload', { method: 'POST' })).status, 200)
    await until(() => streams.every((stream) => stream.isEnded()), 5000)
    t.ok(streams.every(isNotified))
    t.same(await gateway.names(), ['getTasks'])
    const next = await gateway.open(streams[0]?.id())
    await until(() => isNotified(next))
  },
)

t.test('a drain notifies all clients, ends their streams, and does not wait for them', async (t) => {
  const gateway = await startTools(t)
  const streams = await Promise.all(Array.from({ length: 6 }, () => gateway.open()))
  await until(() => streams.every((stream) => stream.id() !== ''), 10_000)
  const startMs = performance.now()
  gateway.kill('SIGTERM')
  t.equal(await gateway.exit, 0)
  t.ok(performance.now() - startMs < 9000, 'before the deadline of the drain')
  t.ok(streams.every(isNotified))
  t.ok(streams.every((stream) => stream.isEnded()))
})
