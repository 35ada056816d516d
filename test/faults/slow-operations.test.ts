import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { startGatewayProcess } from '../engine/gateway-process.ts'
import { startNode } from '../support/fake-engine.ts'

/** An engine with eight places. A history query needs two seconds, other requests need five milliseconds. */
const PLACES = 8
const SLOW_MS = 2000
const SLOW_PER_SECOND = 12
const OTHERS_PER_SECOND = 40
const RUN_MS = 8000

interface Heard {
  readonly tookMs: number
  readonly status: number
  readonly body: string
}

t.test('a slow operation does not use all places of a node: no other request is refused', async (t) => {
  const node = await startNode(t, ({ url }, response) => {
    response.setHeader('content-type', 'application/json')
    setTimeout(() => response.end('{"count":1}'), url.includes('/history/') ? SLOW_MS : 5)
  })
  const gateway = await startGatewayProcess({
    nodes: [`${node.url}/engine-rest`],
    settings: `health: { probe: false }\nlimits: { connections: ${PLACES} }\n`,
  })
  t.teardown(() => gateway.stop())
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const ask = (path: string) =>
    new Promise<Heard>((resolve, reject) => {
      const atMs = performance.now()
      request(`${gateway.base}${path}`, { agent, headers: gateway.headers }, (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (text: string) => (body += text))
        response.on('end', () =>
          resolve({ tookMs: performance.now() - atMs, status: response.statusCode ?? 0, body }),
        )
      })
        .on('error', reject)
        .end()
    })
  const slow: Promise<Heard>[] = []
  const others: Promise<Heard>[] = []
  const startedMs = performance.now()
  const secondsSince = () => (performance.now() - startedMs) / 1000
  while (secondsSince() < RUN_MS / 1000) {
    while (slow.length < secondsSince() * SLOW_PER_SECOND) slow.push(ask('/history/process-instance/count'))
    while (others.length < secondsSince() * OTHERS_PER_SECOND) others.push(ask('/task/count'))
    await delay(2)
  }
  const metrics = await (await fetch(`${gateway.adminAddress}/metrics`)).text()
  const ofOthers = await Promise.all(others)
  const ofSlow = await Promise.all(slow)
  t.comment(`others: p50 ${p(50, ofOthers)} ms, p99 ${p(99, ofOthers)} ms`)
  t.same(
    ofOthers.filter(({ status }) => status !== 200),
    [],
  )
  t.ok(p(90, ofOthers) < SLOW_MS / 2, 'nor does it wait for a place of the slow operation')
  const served = ofSlow.filter(({ status }) => status === 200)
  const refused = ofSlow.filter(({ status }) => status === 503)
  t.equal(served.length + refused.length, slow.length)
  t.ok(served.length >= PLACES, 'the slow operation is served as well')
  t.ok(refused.length > 0)
  for (const { body } of refused)
    t.match(JSON.parse(body), { message: /the limit of concurrent slow operations is reached$/ })
  t.match(metrics, /^gateway_slow_requests\{engine="default",state="running"\} 6$/m)
  t.match(metrics, /^gateway_slow_queue_wait_seconds_count\{engine="default",result="refused"\} [1-9]/m)
  t.notMatch(metrics, /^gateway_upstream_queue_wait_seconds_count\{engine="default",result="refused"\}/m)
})

function p(percent: number, heard: readonly Heard[]): number {
  const sorted = heard.map(({ tookMs }) => tookMs).sort((one, other) => one - other)
  return Math.round(sorted[Math.floor((sorted.length * percent) / 100)] ?? 0)
}
