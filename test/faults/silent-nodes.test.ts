import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { until } from '../support/cache-harness.ts'
import { ask, listenAndRelay, openUpstream, READ, refusingUrl } from '../support/fake-engine.ts'

const CONNECT_MS = 1000
const TIMES = { connectMs: CONNECT_MS, headersMs: 5000, bodyMs: 5000 }
const WITHIN_MS = 30_000
/** Listens and is then stopped: the system accepts two connections for it and drops the packets of further ones. */
const STOPPED_NODE = `
import { createServer } from 'node:http'
const server = createServer((_request, response) => response.end('[{"name":"default"}]'))
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  process.stdout.write(server.address().port + '\\n', () => process.kill(process.pid, 'SIGSTOP'))
})
`

/** Starts a node that sends no packet until it continues. */
async function startSilentNode(t: Test) {
  const child = spawn(
    'env',
    ['-u', 'NODE_OPTIONS', process.execPath, '--input-type=module', '-e', STOPPED_NODE],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  t.teardown(() => child.kill('SIGKILL'))
  const port = Number(String((await once(child.stdout, 'data'))[0]))
  await delay(100)
  const fillers = Array.from({ length: 6 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  t.teardown(() => fillers.forEach((socket) => socket.destroy()))
  await delay(100)
  const goOn = () => {
    fillers.forEach((socket) => socket.destroy())
    child.kill('SIGCONT')
  }
  return { url: `http://127.0.0.1:${port}`, goOn }
}

/** Returns the durations in milliseconds, shortest first. */
async function timesOf(port: number, count: number, status: number): Promise<readonly number[]> {
  const times = []
  for (let at = 0; at < count; at += 1) {
    const startedMs = performance.now()
    t.equal((await ask(port)).status, status)
    times.push(performance.now() - startedMs)
  }
  return times.sort((one, other) => one - other)
}

const round = (times: readonly number[], at: number) => Math.round(times[at] ?? 0)

t.test(
  'if all nodes are known to be silent, requests fail immediately and are served soon after one returns',
  async (t) => {
    const nodes = [await startSilentNode(t), await startSilentNode(t)]
    const { upstream } = openUpstream(
      t,
      nodes.map(({ url }) => url),
      { timeouts: TIMES },
    )
    upstream.startProbes({ intervalMs: 1000, timeoutMs: 2000 })
    const { port } = await listenAndRelay(t, upstream, READ)
    const startedMs = performance.now()
    await until(async () => {
      const askedMs = performance.now()
      return (await ask(port)).status === 503 && performance.now() - askedMs < CONNECT_MS / 2
    }, WITHIN_MS)
    t.comment(`known after ${Math.round(performance.now() - startedMs)} ms`)
    const times = await timesOf(port, 100, 503)
    t.comment(`p50 ${round(times, 50)} ms, p99 ${round(times, 99)} ms`)
    t.ok((times[99] ?? 0) < CONNECT_MS / 2)
    t.ok((times[50] ?? 0) < 100)
    nodes[0]?.goOn()
    t.ok((await until(async () => (await ask(port)).status === 200, WITHIN_MS)) < 15_000)
  },
)

t.test('if all nodes refuse connections, requests fail immediately', async (t) => {
  const nodes = [await refusingUrl(), await refusingUrl()]
  const { upstream } = openUpstream(t, nodes, { timeouts: TIMES })
  const { port } = await listenAndRelay(t, upstream, READ)
  const times = await timesOf(port, 100, 503)
  t.comment(`p50 ${round(times, 50)} ms, p99 ${round(times, 99)} ms`)
  t.ok((times[99] ?? 0) < CONNECT_MS / 2)
  t.ok((times[50] ?? 0) < 100)
})

t.test('without probes only one request at a time tries an ejected node', async (t) => {
  const node = await startSilentNode(t)
  const { upstream } = openUpstream(t, [node.url], { timeouts: TIMES })
  const { port } = await listenAndRelay(t, upstream, READ)
  await Promise.all([ask(port), ask(port)])
  const heard: number[] = []
  const startedMs = performance.now()
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const { status } = await ask(port)
      heard.push(performance.now() - startedMs)
      return status
    }),
  )
  t.same([...new Set(statuses)], [503])
  t.equal(heard.filter((ms) => ms >= CONNECT_MS * 0.9).length, 1)
  node.goOn()
  await until(async () => (await ask(port)).status === 200, WITHIN_MS)
})
