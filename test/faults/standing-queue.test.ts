import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { startGatewayProcess } from '../engine/gateway-process.ts'
import { startNode } from '../support/fake-engine.ts'

/** An engine that processes four requests at once, each in 80 ms. */
const PLACES = 4
const TAKES_MS = 80
const CAPACITY = (PLACES * 1000) / TAKES_MS
const LOAD = 3 * CAPACITY
const RUN_MS = 9000
/** The queue is detected as standing after one second, and earlier requests may wait for two seconds. */
const STEADY_AFTER_MS = 4000
/** The longest wait in a standing queue is 100 ms, otherwise 2 s. The value between them is a margin for a shared machine. */
const SOON_MS = 1000
/** The percentage of requests that wait no longer than this. The last few may be late for lack of CPU time. The comment of the test shows them. */
const PERCENT = 90

interface Heard {
  readonly atMs: number
  readonly tookMs: number
  readonly status: number
  readonly retryAfter: string | undefined
}

t.test(
  'at three times its capacity an engine is fully used, and the other requests are refused soon',
  async (t) => {
    const took: number[] = []
    const node = await startNode(t, (_request, response) => {
      const fromMs = performance.now()
      setTimeout(() => {
        took.push(performance.now() - fromMs)
        response.end('{"count":1}')
      }, TAKES_MS)
    })
    const gateway = await startGatewayProcess({
      nodes: [`${node.url}/engine-rest`],
      settings: `health: { probe: false }\nlimits: { connections: ${PLACES} }\n`,
    })
    t.teardown(() => gateway.stop())
    const agent = new Agent({ keepAlive: true })
    t.teardown(() => agent.destroy())
    const startedMs = performance.now()
    const heard: Heard[] = []
    const ask = () =>
      new Promise<void>((resolve) => {
        const atMs = performance.now() - startedMs
        const { headers } = gateway
        request(`${gateway.base}/task/count`, { agent, headers }, (response) => {
          response.resume().on('end', () => {
            const { statusCode: status = 0 } = response
            const tookMs = performance.now() - startedMs - atMs
            heard.push({ atMs, tookMs, status, retryAfter: response.headers['retry-after'] })
            resolve()
          })
        })
          .on('error', () => resolve())
          .end()
      })
    const all: Promise<void>[] = []
    while (performance.now() - startedMs < RUN_MS) {
      const due = ((performance.now() - startedMs) / 1000) * LOAD
      while (all.length < due) all.push(ask())
      await delay(2)
    }
    const metrics = await (await fetch(`${gateway.adminAddress}/metrics`)).text()
    await Promise.all(all)
    t.equal(heard.length, all.length, 'nobody is lost')

    const steady = heard.filter(({ atMs }) => atMs > STEADY_AFTER_MS && atMs < RUN_MS - 1000)
    const seconds = (RUN_MS - 1000 - STEADY_AFTER_MS) / 1000
    // On a busy machine the timers of the engine are late, and it processes fewer requests.
    const most = (PLACES * 1000) / (took.reduce((sum, ms) => sum + ms, 0) / took.length)
    const served = steady.filter(({ status }) => status === 200)
    const refused = steady.filter(({ status }) => status === 503)
    t.equal(served.length + refused.length, steady.length)
    t.comment(
      `served ${Math.round(served.length / seconds)}/s of ${Math.round(most)}, p50 ${p(50, served)} ms, p99 ${p(99, served)} ms; ` +
        `refused ${Math.round(refused.length / seconds)}/s, p50 ${p(50, refused)} ms, p99 ${p(99, refused)} ms`,
    )
    t.ok(served.length / seconds >= 0.9 * most, 'nine tenths of what it can do')
    t.ok(p(PERCENT, refused) < SOON_MS, 'refused soon')
    t.ok(p(PERCENT, served) < SOON_MS, 'served soon')
    t.same([...new Set(refused.map(({ retryAfter }) => retryAfter))], ['1'])
    t.ok(metrics.match(/^gateway_upstream_queue_standing\{engine="default"\} 1$/m))
    t.ok(
      metrics.match(/^gateway_upstream_queue_wait_seconds_count\{engine="default",result="refused"\} \d+$/m),
    )
  },
)

function p(percent: number, heard: readonly Heard[]): number {
  const sorted = heard.map(({ tookMs }) => tookMs).sort((one, other) => one - other)
  return Math.round(sorted[Math.floor((sorted.length * percent) / 100)] ?? 0)
}
