import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'
import { until } from '../../support/cache-harness.ts'
import { BASE } from '../../support/open-gateway.ts'
import { speak } from '../../support/raw.ts'
import { startNode } from '../../support/fake-engine.ts'
import { setupsOf, writeSetup } from '../../support/reloadable.ts'
import { startTurnover } from '../../support/shared-port.ts'
import { spawnGateway, startWorkers } from '../../support/started-workers.ts'

const COUNT =
  'http_server_request_duration_seconds_count{operation="getRestAPIVersion",engine="default",http_request_method="GET",http_response_status_code="200"}'

const node = await startNode(t, ({ url }, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(url.includes('/history/') ? '{"count":0}' : '{}')
})
const { ONE } = setupsOf(node.url + BASE)
const gateway = await startWorkers(t, ONE)

t.test('the workers are separate processes with one port', async (t) => {
  const pids = [...gateway.pids().values()]
  t.equal(new Set([...pids, gateway.pid]).size, 3)
  t.match(await gateway.line({ msg: 'listening' }), { workers: 2, engines: ['default'] })
  t.equal(await gateway.metric('gateway_workers'), 2)
})

t.test('connections reach all workers, and their counts are summed', async (t) => {
  for (let count = 0; count < 10; count += 1) t.equal((await gateway.ask('/version')).status, 200)
  t.equal(await gateway.metric(COUNT), 10)
  // Each worker has verified the password once, because each process remembers it separately.
  t.equal(await gateway.metric('gateway_auth_total{engine="default",result="verified",method="basic"}'), 2)
  t.equal(await gateway.metric('gateway_auth_total{engine="default",result="remembered",method="basic"}'), 8)
})

t.test('metrics that are not sums are not added up', async (t) => {
  t.equal(await gateway.metric('gateway_config_last_reload_successful'), 1)
  t.equal(await gateway.metric('gateway_source_up{engine="default",source="records"}'), 1)
  t.equal(await gateway.metric(`gateway_node_healthy{engine="default",node="${node.url + BASE}"}`), 1)
  const { text } = await gateway.admin('/metrics')
  t.match(text, /^gateway_info\{version="[\d.]+"\} 1$/m)
  t.match(text, /^process_start_time_seconds \d{10}(\.\d+)?$/m)
  t.notMatch(text, /quantile=/)
})

t.test('readiness lists the checks of each worker', async (t) => {
  t.same(await gateway.admin('/readyz'), { status: 200, text: 'ok\n' })
  const { text } = await gateway.admin('/readyz?verbose')
  t.match(text, '[+] configuration ok\n')
  for (const worker of [1, 2]) {
    t.match(text, `[+] worker ${worker}: records of default: ok\n`)
    t.match(text, `[+] worker ${worker}: nodes of default: ok\n`)
  }
})

t.test('the status includes all workers', async (t) => {
  const { status, text } = await gateway.admin('/status.json')
  t.equal(status, 200)
  const { engines, workers } = JSON.parse(text)
  t.same(workers, { answering: 2, configured: 2 })
  t.equal(engines.length, Object.keys(ONE.engines).length)
  t.match(engines, [{ name: 'default', nodes: [{ limit: 2 * 64, reason: null }] }])
  t.match((await gateway.admin('/status')).text, /^<!doctype html>/)
})

t.test('all workers purge their caches', async (t) => {
  const { status, text } = await gateway.admin('/cache/purge', { method: 'POST' })
  t.equal(status, 200, text)
  t.same(JSON.parse(text), { evicted: 0, processes: 2, redis: 'none' })
  t.equal(await gateway.metric('gateway_cache_purges_total{result="purged"}'), 1)
})

t.test('all workers change the shares of a group of nodes', async (t) => {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const shifting = await startWorkers(t, {
    ...ONE,
    engines: {
      default: {
        nodes: [
          { url: node.url + BASE, group: 'old' },
          { url: `${node.url}/other${BASE}`, group: 'new' },
        ],
        shift: { to: 'new' },
      },
    },
  })
  const { status, text } = await shifting.admin('/shift', { ...init, body: '{"reads":"50%"}' })
  t.equal(status, 200, text)
  t.same(JSON.parse(text), {
    engine: 'default',
    to: 'new',
    from: 'old',
    reads: 0.5,
    writes: 0,
    returned: null,
    finding: null,
    refused: null,
    // One worker changes the shares, and the others follow.
    revision: 1,
    shared: null,
  })
  const share = 'gateway_shift_share{engine="default",group="new",kind="reads"}'
  t.match((await shifting.admin('/metrics')).text, share)
  t.match(await shifting.admin('/shift', { ...init, body: '{"reads":"half"}' }), { status: 400 })

  // Only the first worker reports.
  const [[number, pid] = [0, 0]] = shifting.pids()
  process.kill(pid, 'SIGKILL')
  await until(() => (shifting.pids().get(number) ?? pid) !== pid)
  await until(async () => {
    const report = await shifting.admin('/shift', { ...init, body: '{}' })
    return report.status === 200 && JSON.parse(report.text).reads === 0.5
  }, 5000)
})

t.test('all workers drain a node, also a worker that starts later', async (t) => {
  const other = await startNode(t, (_request, response) => {
    response.setHeader('content-type', 'application/json').end('{}')
  })
  const [one, two] = [node.url + BASE, other.url + BASE]
  const pair = await startWorkers(t, { engines: { default: { nodes: [one, two] } } })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const { status, text } = await pair.admin('/nodes/drain', { ...init, body: JSON.stringify({ node: one }) })
  t.equal(status, 200, text)
  t.match(JSON.parse(text), { drained: true, engines: ['default'], processes: 2, of: 2 })
  const drainedAt = (url: string) => pair.metric(`gateway_node_drained{engine="default",node="${url}"}`)
  t.same([await drainedAt(one), await drainedAt(two)], [1, 0])
  const [[number, pid] = [0, 0]] = pair.pids()
  process.kill(pid, 'SIGKILL')
  await until(() => (pair.pids().get(number) ?? pid) !== pid)
  const attempts = (url: string) =>
    pair.metric(`gateway_upstream_attempts_total{engine="default",node="${url}",result="ok"}`)
  const before = (await attempts(one)) ?? 0
  for (let count = 0; count < 20; count += 1) t.equal((await pair.ask('/version')).status, 200)
  t.equal(((await attempts(one)) ?? 0) - before, 0)
  t.equal(await drainedAt(one), 1)
})

t.test('workers explain permissions', async (t) => {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const asked = { user: 'demo', request: 'GET /task/count' }
  const { status, text } = await gateway.admin('/explain', { ...init, body: JSON.stringify(asked) })
  t.equal(status, 200, text)
  t.match(JSON.parse(text), { operation: 'getTasksCount', decision: 'permitted' })
  const wrong = await gateway.admin('/explain', { ...init, body: '{"user":"nosuch","request":"GET /task"}' })
  t.equal(wrong.status, 400)
})

t.test('an incomplete request is refused after its timeout', async (t) => {
  const { ONE: settings } = setupsOf(node.url + BASE)
  const impatient = await startWorkers(t, { ...settings, timeouts: { request: '200ms' } })
  const [answer] = await speak(impatient.address, 'GET /engine-rest/version HTTP/1.1\r\nHost: gateway\r\n')
  t.match(answer, { status: 408, headers: { 'x-gateway-error': 'GW_REQUEST_TIMEOUT' } })
})

t.test('while many connections begin and end, the workers accept them themselves', async (t) => {
  const busy = await startWorkers(t, { ...ONE, log: { level: 'debug' } })
  const { stop } = await startTurnover(t, busy)
  for (let count = 0; count < 10; count += 1) t.equal((await busy.ask('/version')).status, 200)
  await stop()
  await busy.line(
    { msg: 'the primary accepts connections' },
    await busy.line({ msg: 'workers accept connections themselves' }),
  )
  for (let count = 0; count < 10; count += 1) t.equal((await busy.ask('/version')).status, 200)
  t.equal(await busy.metric(COUNT), 20)
})

t.test('log lines of workers do not mix', async () => {
  const before = gateway.lines().length
  await Promise.all(Array.from({ length: 400 }, () => gateway.ask(`/task/${'x'.repeat(200)}`)))
  // Each line is parsed.
  await until(() => gateway.lines().length >= before + 400)
})

t.test('a problem of the configuration is reported once, and no worker starts', async (t) => {
  const { file, write } = await writeSetup(t)
  await writeFile(join(dirname(file), 'users.yaml'), 'users: [{ id: 7 }]\n')
  await write({ ...ONE, workers: 2 })
  const { exit, err, lines } = spawnGateway(t, file)
  t.equal(await exit, 1)
  t.equal(err().match(/users\[0\]\.id/g)?.length, 1, err())
  t.same(lines(), [])
})

t.test('a port in use ends the start', async (t) => {
  const { file, write } = await writeSetup(t)
  await write({ ...ONE, workers: 2, listen: { port: Number(new URL(gateway.address).port) } })
  const { exit, err } = spawnGateway(t, file)
  t.equal(await exit, 1)
  t.match(err(), /EADDRINUSE/)
})
