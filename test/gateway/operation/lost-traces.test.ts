import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { until } from '../../support/cache-harness.ts'
import { startCollector } from '../../support/collector.ts'
import { refusingUrl } from '../../support/fake-engine.ts'
import { type OpenGateway, openGateway } from '../../support/open-gateway.ts'

const LOST = 'trace spans are lost'
const BACK = 'trace spans are exported again'

/** Opens a gateway that records every request, in front of an engine that responds immediately. */
function openTraced(test: Test, traces: Readonly<Record<string, unknown>>) {
  return openGateway(test, {
    settings: { traces: { sampleRatio: '100%', ...traces } },
    engine: (_request, response) => void response.end('{}'),
  })
}

async function dropped({ dependencies }: OpenGateway, reason: 'queue' | 'export'): Promise<number> {
  const series = new RegExp(`^gateway_trace_spans_dropped_total\\{reason="${reason}"\\} (\\d+)$`, 'm')
  return Number(series.exec(await dependencies.metrics.text())?.[1])
}

function linesOf({ log }: OpenGateway, message: string) {
  return log.filter(({ msg }) => msg === message)
}

t.test('a collector that receives spans and never responds delays no request', async (t) => {
  const held: ServerResponse[] = []
  let isHolding = true
  const collector = await startCollector(t, (response) => {
    if (isHolding) held.push(response)
    else response.end('{}')
  })
  const gateway = await openTraced(t, { endpoint: collector.url, queue: 16, timeout: '10m' })
  t.equal(await dropped(gateway, 'queue'), 0, 'a counter that begins with a loss has no increase')
  for (let asked = 0; asked < 30; asked += 1) t.equal((await gateway.ask('demo', 'GET /version')).status, 200)
  await until(() => held.length > 0)
  // Each request has two spans. One batch is being exported, and one full queue waits.
  t.equal(await dropped(gateway, 'queue'), 30 * 2 - 16 - 16)
  t.match(linesOf(gateway, LOST), [{ level: 'warn', reason: 'queue', endpoint: collector.url }])
  t.equal(linesOf(gateway, LOST).length, 1, 'one line, not one for each span')
  isHolding = false
  for (const response of held) response.end('{}')
})

t.test('an export that exceeds its timeout is aborted', async (t) => {
  const collector = await startCollector(t, () => undefined)
  const gateway = await openTraced(t, { endpoint: collector.url, timeout: '50ms' })
  await gateway.ask('demo', 'GET /version')
  await gateway.dependencies.traces?.flush()
  t.equal(await dropped(gateway, 'export'), 2)
  t.match(linesOf(gateway, LOST), [{ reason: 'export', why: /timed? ?out/i }])
})

t.test('an unreachable collector loses its spans and causes one log line', async (t) => {
  const gateway = await openTraced(t, { endpoint: await refusingUrl(), timeout: '100ms' })
  for (let asked = 1; asked <= 3; asked += 1) {
    t.equal((await gateway.ask('demo', 'GET /version')).status, 200)
    await gateway.dependencies.traces?.flush()
    t.equal(await dropped(gateway, 'export'), asked * 2)
  }
  t.equal(linesOf(gateway, LOST).length, 1)
  t.match(linesOf(gateway, LOST), [{ why: /ECONNREFUSED/ }])
})

t.test('a log line says that the collector is reachable again', async (t) => {
  const state = { isDown: true }
  const collector = await startCollector(t, (response) => {
    response.statusCode = state.isDown ? 503 : 200
    response.end('{}')
  })
  const gateway = await openTraced(t, { endpoint: collector.url, timeout: '100ms' })
  const ask = async () => {
    await gateway.ask('demo', 'GET /version')
    await gateway.dependencies.traces?.flush()
  }
  await ask()
  t.match(linesOf(gateway, LOST), [{ why: /retryable status/ }])
  state.isDown = false
  await ask()
  await ask()
  t.match(linesOf(gateway, BACK), [{ level: 'info', lost: 2 }])
  t.match(await gateway.dependencies.metrics.text(), /^gateway_trace_spans_exported_total 4$/m)
  state.isDown = true
  await ask()
  t.equal(linesOf(gateway, LOST).length, 2, 'a further outage has its line')
})
