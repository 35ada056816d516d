import { Agent, request, type ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { until } from '../support/cache-harness.ts'
import { startGatewayProcess } from '../engine/gateway-process.ts'
import { BASE } from '../support/open-gateway.ts'
import { startNode } from '../support/fake-engine.ts'
import { accessOfAdmins } from '../support/admins.ts'
import { setupsOf, startReloadable } from '../support/reloadable.ts'

const MIB = 1024 ** 2
const LARGE = Buffer.from(JSON.stringify({ name: 'x'.repeat(2 * MIB - 100) }))
const BODIES = {
  '/task/create': '{}',
  '/authorization/create':
    '{"type":1,"permissions":["READ"],"userId":"mary","resourceType":7,"resourceId":"*"}',
  '/external-task/fetchAndLock':
    '{"workerId":"w","maxTasks":1,"asyncResponseTimeout":500,"topics":[{"topicName":"t","lockDuration":1000}]}',
}
/** The least number of requests of light users, so that a share of them means something. */
const LIGHT_REQUESTS = 60
const PRESSED = (kind: string) => `gateway_pressure{kind="${kind}"}`

interface Client {
  /** Sends a POST and resolves to its status, or to 0 if the connection broke. */
  readonly post: (path: string, body: Buffer) => Promise<number>
  readonly codes: Set<string | undefined>
}

/** Opens a client without a limit of connections. */
function openClient(base: string, headers: Readonly<Record<string, string>>): Client {
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const codes = new Set<string | undefined>()
  return {
    codes,
    post: (path, body) =>
      new Promise((resolve) => {
        const own = { ...headers, 'content-type': 'application/json', 'content-length': body.length }
        const asked = request(base + path, { method: 'POST', agent, headers: own }, (response) => {
          if (response.statusCode === 503) codes.add(String(response.headers['x-gateway-error']))
          response.resume().on('close', () => resolve(response.statusCode ?? 0))
        })
        asked.on('error', () => resolve(0)).end(body)
      }),
  }
}

function block(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

t.test('if bodies exceed the memory limit, some requests are refused and none is lost', async (t) => {
  const held: ServerResponse[] = []
  let isOpen = false
  const node = await startNode(t, (_request, response) => {
    if (isOpen) response.end('{}')
    else held.push(response)
  })
  const gateway = await startGatewayProcess({
    nodes: [node.url + BASE],
    nodeArgs: ['--max-old-space-size=128'],
    settings: `
health: { probe: false }
limits: { queue: { size: 10000, wait: 60s }, pressure: { memory: 250MiB, eventLoopDelay: null } }
`,
  })
  t.teardown(() => gateway.stop())
  const { post, codes } = openClient(gateway.base, gateway.headers)
  const statuses: number[] = []
  const all = Array.from({ length: 200 }, async () => {
    statuses.push(await post('/task/create', LARGE))
  })
  const before = await gateway.memory()
  await until(() => statuses.length > 50, 20_000)
  t.same([...codes], ['GW_OVERLOADED'])
  t.same([...new Set(statuses)], [503])
  t.equal((await fetch(`${gateway.adminAddress}/livez`)).status, 200)
  const metrics = await (await fetch(`${gateway.adminAddress}/metrics`)).text()
  t.match(metrics, /gateway_refusals_total\{[^}]*stage="admit",reason="GW_OVERLOADED"\} \d+/)
  isOpen = true
  for (const response of held) response.end('{}')
  await Promise.all(all)
  t.same(
    [...new Set(statuses)].sort((a, b) => a - b),
    [200, 503],
    'what was let in was served',
  )
  const { peakBytes } = await gateway.memory()
  t.comment(
    `${statuses.filter((status) => status === 200).length} of ${statuses.length} served; ` +
      `${Math.round(before.bytes / MIB)} MiB, at most ${Math.round(peakBytes / MIB)} MiB`,
  )
  t.ok(peakBytes < 800 * MIB)
  const ms = await until(async () => {
    const response = await fetch(`${gateway.base}/version`, { headers: gateway.headers })
    await response.arrayBuffer()
    return response.status === 200
  }, 20_000)
  t.comment(`served again after ${Math.round(ms)} ms`)
  await until(async () => (await post('/task/create', LARGE)) === 200, 20_000)
})

for (const [claim, path] of [
  ['relayed', '/task/create'],
  ['read whole', '/authorization/create'],
  ['a long poll', '/external-task/fetchAndLock'],
] as const)
  t.test(`the body of a request is freed after its response on an open connection: ${claim}`, async (t) => {
    const node = await startNode(t, (_request, response) => response.end('[]'))
    const gateway = await startGatewayProcess({
      nodes: [node.url + BASE],
      nodeArgs: ['--expose-gc', '--import=data:text/javascript,setInterval(gc,200).unref()'],
      settings: 'health: { probe: false }\n',
    })
    t.teardown(() => gateway.stop())
    const { post } = openClient(gateway.base, gateway.headers)
    const body = Buffer.from(BODIES[path].padEnd(MIB))
    const statuses = await Promise.all(Array.from({ length: 40 }, () => post(path, body)))
    t.same([...new Set(statuses)], [200])
    const inUse = async () => {
      const metrics = await (await fetch(`${gateway.adminAddress}/metrics`)).text()
      return Number(/^nodejs_external_memory_bytes (\S+)/m.exec(metrics)?.[1])
    }
    await until(async () => (await inUse()) < 20 * MIB, 20_000)
  })

t.test('a late event loop refuses new requests and completes running ones', async (t) => {
  const held: ServerResponse[] = []
  const node = await startNode(t, (asked, response) => {
    if (asked.url.endsWith('/version')) response.end('{"version":"7.24.0"}')
    else held.push(response)
  })
  const { ONE } = setupsOf(node.url + BASE)
  const gateway = await startReloadable(t, {
    ...ONE,
    health: { probe: false },
    limits: { pressure: { eventLoopDelay: '200ms' } },
  })
  const statusOf = async (path: string) => {
    const response = await gateway.ask('demo', path)
    await response.arrayBuffer()
    return response.status
  }
  t.equal(await statusOf('/version'), 200)
  const begun = statusOf('/task/count')
  await until(() => held.length === 1)
  for (let turn = 0; turn < 6; turn += 1) {
    block(600)
    await nextTurn()
  }
  const refused = await gateway.ask('nobody knows', '/version')
  t.match(
    [refused.status, refused.headers.get('x-gateway-error'), refused.headers.get('retry-after')],
    [503, 'GW_OVERLOADED', '2'],
    'before anybody is asked who it is',
  )
  t.equal(refused.headers.get('connection'), 'keep-alive')
  t.match(await refused.json(), { type: 'ServiceUnavailableException', message: /event loop/, code: null })
  t.equal(await gateway.metric(PRESSED('event-loop')), 1)
  for (const path of ['/livez', '/readyz'])
    t.equal((await fetch(gateway.running.adminAddress + path)).status, 200, path)
  held[0]?.end('{"count":1}')
  t.equal(await begun, 200)
  await until(async () => (await statusOf('/version')) === 200, 15_000)
  t.equal(await gateway.metric(PRESSED('event-loop')), 0)
  const told = gateway.log.filter(({ pressure }) => pressure === 'event-loop')
  t.match(told, [{ level: 'warn' }, { level: 'info' }], 'each change is logged once')
  t.same(
    gateway.log.filter(({ level }) => level === 'error'),
    [],
    'and no request',
  )
})

t.test('an overloaded process refuses the user who causes the load, and serves the others', async (t) => {
  const node = await startNode(t, (_request, response) => response.end('{}'))
  const users = ['heavy', ...Array.from({ length: 10 }, (_, index) => `light-${index}`)]
  const gateway = await startGatewayProcess({
    nodes: [node.url + BASE],
    access: await accessOfAdmins(t, users),
    settings: `
health: { probe: false }
limits: { connections: 1000, queue: { size: 10000 }, pressure: { eventLoopDelay: 100ms } }
`,
  })
  t.teardown(() => gateway.stop())
  const clients = users.map((user) =>
    openClient(gateway.base, {
      authorization: `Basic ${Buffer.from(`${user}:demo`).toString('base64')}`,
    }),
  )
  const counts = users.map(() => ({ served: 0, refused: 0 }))
  const body = Buffer.from(JSON.stringify({ variables: variablesOf(1500) }))
  const startedMs = performance.now()
  const sumOf = (key: 'served' | 'refused') => counts.slice(1).reduce((sum, one) => sum + one[key], 0)
  /** At least 15 s, and until the light users have sent enough requests to compare their shares. */
  const isOver = (): boolean => {
    const lastedMs = performance.now() - startedMs
    return lastedMs > 60_000 || (lastedMs > 15_000 && sumOf('served') + sumOf('refused') >= LIGHT_REQUESTS)
  }
  const send = async (index: number, pauseMs: number, sent: Buffer) => {
    const count = counts[index]
    const client = clients[index]
    if (count === undefined || client === undefined) return
    while (!isOver()) {
      const status = await client.post('/process-definition/key/review/start', sent)
      if (status === 503) count.refused += 1
      else count.served += 1
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
  await Promise.all([
    ...Array.from({ length: 300 }, () => send(0, 10, body)),
    ...users.slice(1).map((_, index) => send(index + 1, 100, Buffer.from('{}'))),
  ])
  const [heavy = { served: 0, refused: 0 }] = counts
  const [served, refused] = [sumOf('served'), sumOf('refused')]
  t.comment(
    `heavy: ${heavy.served} served, ${heavy.refused} refused; the others: ${served} served, ${refused} refused`,
  )
  t.ok(heavy.refused > 100, 'the process was overloaded')
  t.ok(served + refused >= LIGHT_REQUESTS, `${served + refused} requests of light users`)
  t.ok(refused <= 0.1 * (served + refused), `${refused} of ${served + refused} refused`)
})

function variablesOf(count: number) {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`variable${index}`, { value: 'a value', type: 'String' }]),
  )
}
