import { EventEmitter, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import t from 'tap'
import { until } from '../../support/cache-harness.ts'
import { BASE } from '../../support/open-gateway.ts'
import { startNode } from '../../support/fake-engine.ts'
import { setupsOf } from '../../support/reloadable.ts'
import { isAlive, type Started, startWorkers, timeOf } from '../../support/started-workers.ts'

const ENDED = 'worker exited; restarting'
const LISTENS = 'worker is listening'
const COUNT =
  'http_server_request_duration_seconds_count{operation="getRestAPIVersion",engine="default",http_request_method="GET",http_response_status_code="200"}'
const CRASH = new URL('crash-on-sigusr2.mjs', import.meta.url).href

/** Responds immediately, except to requests for a task, which it holds until the test responds. */
const held: ServerResponse[] = []
const news = new EventEmitter()
const node = await startNode(t, (request, response) => {
  if (!request.url.includes('/task')) {
    response.end('{"version":"7.24.0"}')
    return
  }
  held.push(response)
  news.emit('held')
})
const { ONE } = setupsOf(node.url + BASE)
const OFF = { ...ONE, authorization: { mode: 'off', records: { source: 'file', file: 'records.yaml' } } }

/** Longer than any response takes, even while a worker starts on a busy machine. */
const HANGS_MS = 20_000

/** Sends requests one after the other, each on a new connection, until it is stopped. Records the start, duration and status of each. */
function load({ ask }: Started) {
  const results: { readonly at: number; readonly tookMs: number; readonly status: number }[] = []
  const stopped = new AbortController()
  const over = (async () => {
    while (!stopped.signal.aborted) {
      const at = performance.now()
      const status = await ask('/version', { signal: AbortSignal.timeout(HANGS_MS) }).then(
        (response) => response.status,
        () => 0,
      )
      results.push({ at, tookMs: performance.now() - at, status })
    }
  })()
  return {
    results,
    stop: () => {
      stopped.abort()
      return over
    },
  }
}

function pidOf(gateway: Started, worker: number): number {
  return Number(gateway.pids().get(worker))
}

t.test('a killed worker loses only the requests in flight there', async (t) => {
  const gateway = await startWorkers(t, OFF)
  held.length = 0
  const answers = Array.from({ length: 8 }, () =>
    gateway.ask('/task/1').then(
      ({ status }) => status,
      () => 0,
    ),
  )
  await until(() => held.length === 8)
  const { results, stop } = load(gateway)
  await until(() => results.length > 20)
  const victim = pidOf(gateway, 1)
  const killedAt = performance.now()
  process.kill(victim, 'SIGKILL')
  const ended = await gateway.line({ msg: ENDED, pid: victim })
  t.match(ended, { worker: 1, signal: 'SIGKILL', code: null, inMs: 0 })
  const again = await gateway.line({ msg: LISTENS, worker: 1 }, ended)
  t.not(again['pid'], victim)
  t.comment(`listens again ${timeOf(again) - timeOf(ended)} ms later`)
  await stop()
  const lost = results.filter(({ status }) => status !== 200)
  t.ok(lost.length <= 1, `${lost.length} of ${results.length} lost`)
  t.ok(lost.every(({ at }) => at <= killedAt))
  t.ok(results.filter(({ at }) => at > killedAt).length > 20)
  const kept = Number(await gateway.metric('gateway_requests_in_flight'))
  t.ok(kept > 0 && kept < 8, `${kept} of 8 were at the other`)
  for (const response of held) response.end('{"id":"1"}')
  const statuses = await Promise.all(answers)
  t.equal(statuses.filter((status) => status === 200).length, kept)
  t.equal(statuses.filter((status) => status === 0).length, 8 - kept)
  t.equal(await gateway.metric('gateway_worker_restarts_total{reason="signal"}'), 1)
  t.equal(await gateway.metric('gateway_workers'), 2)
})

t.test('a killed worker loses no connection that it had not accepted', async (t) => {
  const gateway = await startWorkers(t, ONE)
  const loads = Array.from({ length: 4 }, () => load(gateway))
  await until(() => loads.every(({ results }) => results.length > 10))
  const killedAt = performance.now()
  process.kill(pidOf(gateway, 2), 'SIGKILL')
  const ended = await gateway.line({ msg: ENDED, worker: 2 })
  await gateway.line({ msg: LISTENS, worker: 2 }, ended)
  await Promise.all(loads.map(({ stop }) => stop()))
  const results = loads.flatMap((one) => one.results)
  // Each of the four clients sends its next request only after the previous one ended, so each loses at most one request.
  t.ok(results.filter(({ status }) => status !== 200).length <= 4)
  t.same(
    results.filter(({ tookMs }) => tookMs >= HANGS_MS),
    [],
    'none waits in vain',
  )
  t.ok(results.some(({ at, status }) => at > killedAt && status === 200))
})

t.test('a crashed worker is restarted immediately, and the other worker serves meanwhile', async (t) => {
  const gateway = await startWorkers(t, ONE, { preload: CRASH })
  const { results, stop } = load(gateway)
  await until(() => results.length > 5)
  const victim = pidOf(gateway, 2)
  process.kill(victim, 'SIGUSR2')
  const ended = await gateway.line({ msg: ENDED, pid: victim })
  t.match(ended, { worker: 2, signal: null, code: 1, inMs: 0 })
  const again = await gateway.line({ msg: LISTENS, worker: 2 }, ended)
  t.comment(`listens again ${timeOf(again) - timeOf(ended)} ms later`)
  await stop()
  t.ok(results.filter(({ status }) => status !== 200).length <= 1)
  t.equal(await gateway.metric('gateway_worker_restarts_total{reason="exit"}'), 1)
})

t.test('counts of an exited worker remain counted', async (t) => {
  const gateway = await startWorkers(t, ONE)
  for (let count = 0; count < 10; count += 1) await gateway.ask('/version')
  t.equal(await gateway.metric(COUNT), 10)
  process.kill(pidOf(gateway, 1), 'SIGKILL')
  const ended = await gateway.line({ msg: ENDED, worker: 1 })
  t.equal(await gateway.metric(COUNT), 10)
  await gateway.line({ msg: LISTENS, worker: 1 }, ended)
  for (let count = 0; count < 10; count += 1) await gateway.ask('/version')
  t.equal(await gateway.metric(COUNT), 20)
})

t.test('a worker that exits repeatedly is restarted with increasing delays', async (t) => {
  const gateway = await startWorkers(t, ONE)
  let last = {}
  const waits: unknown[] = []
  for (let count = 0; count < 4; count += 1) {
    process.kill(pidOf(gateway, 1), 'SIGKILL')
    last = await gateway.line({ msg: ENDED, worker: 1 }, last)
    waits.push(Object(last).inMs)
    if (Object(last).inMs > 0)
      t.match((await gateway.admin('/readyz?verbose')).text, /\[-\] worker 1: exited; restarts in/)
    t.equal((await gateway.ask('/version')).status, 200)
    const again = await gateway.line({ msg: LISTENS, worker: 1 }, last)
    t.ok(timeOf(again) - timeOf(last) >= Object(last).inMs)
  }
  t.same(waits, [0, 500, 1000, 2000])
})

t.test('without workers the gateway is alive and not ready until one worker starts', async (t) => {
  const gateway = await startWorkers(t, ONE)
  for (const pid of gateway.pids().values()) process.kill(pid, 'SIGKILL')
  const ended = await gateway.line({ msg: ENDED, worker: 2 })
  await gateway.line({ msg: ENDED, worker: 1 })
  t.equal((await gateway.admin('/livez')).status, 200)
  await gateway.line({ msg: LISTENS }, ended)
  await until(async () => (await gateway.admin('/readyz')).status === 200)
})

t.test('workers complete their requests and exit if the primary is killed', async (t) => {
  const gateway = await startWorkers(t, OFF)
  held.length = 0
  const asked = once(news, 'held')
  const answer = gateway.ask('/task/1')
  await asked
  gateway.kill('SIGKILL')
  await gateway.exit
  const pids = [...gateway.pids().values()]
  await until(() => pids.filter(isAlive).length === 1)
  held[0]?.end('{"id":"1"}')
  t.equal((await answer).status, 200)
  await until(() => !pids.some(isAlive))
})
