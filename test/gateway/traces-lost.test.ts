import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { until } from '../support/cache-harness.ts'
import { startCollector } from '../support/collector.ts'
import { refusingUrl } from '../support/fake-engine.ts'
import { type OpenGateway, openGateway } from '../support/open-gateway.ts'

const LOST = 'spans of traces are lost'
const BACK = 'spans of traces are exported again'

/** A gateway that records each request, before an engine that answers at once. */
function openTraced(test: Test, traces: Readonly<Record<string, unknown>>) {
  return openGateway(test, {
    settings: { traces: { sampleRatio: 1, ...traces } },
    engine: (_request, response) => void response.end('{}'),
  })
}

async function dropped({ parts }: OpenGateway, reason: 'queue' | 'export'): Promise<number> {
  const series = new RegExp(`^gateway_trace_spans_dropped_total\\{reason="${reason}"\\} (\\d+)$`, 'm')
  return Number(series.exec(await parts.metrics.text())?.[1])
}

function linesOf({ log }: OpenGateway, message: string) {
  return log.filter(({ msg }) => msg === message)
}

t.test('a collector that takes spans and never answers holds up nobody', async (t) => {
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
  // Two spans each: one batch is under way, one queue waits.
  t.equal(await dropped(gateway, 'queue'), 30 * 2 - 16 - 16)
  t.match(linesOf(gateway, LOST), [{ level: 'warn', reason: 'queue', endpoint: collector.url }])
  t.equal(linesOf(gateway, LOST).length, 1, 'one line, not one for each span')
  isHolding = false
  for (const response of held) response.end('{}')
})

t.test('an export that takes too long is given up', async (t) => {
  const collector = await startCollector(t, () => undefined)
  const gateway = await openTraced(t, { endpoint: collector.url, timeout: '50ms' })
  await gateway.ask('demo', 'GET /version')
  await gateway.parts.traces?.flush()
  t.equal(await dropped(gateway, 'export'), 2)
  t.match(linesOf(gateway, LOST), [{ reason: 'export', why: /timed? ?out/i }])
})

t.test('a collector that is away costs its spans, and one line', async (t) => {
  const gateway = await openTraced(t, { endpoint: await refusingUrl(), timeout: '100ms' })
  for (let asked = 1; asked <= 3; asked += 1) {
    t.equal((await gateway.ask('demo', 'GET /version')).status, 200)
    await gateway.parts.traces?.flush()
    t.equal(await dropped(gateway, 'export'), asked * 2)
  }
  t.equal(linesOf(gateway, LOST).length, 1)
  t.match(linesOf(gateway, LOST), [{ why: /ECONNREFUSED/ }])
})

t.test('when it is back, that is told too', async (t) => {
  const state = { isDown: true }
  const collector = await startCollector(t, (response) => {
    response.statusCode = state.isDown ? 503 : 200
    response.end('{}')
  })
  const gateway = await openTraced(t, { endpoint: collector.url, timeout: '100ms' })
  const ask = async () => {
    await gateway.ask('demo', 'GET /version')
    await gateway.parts.traces?.flush()
  }
  await ask()
  t.match(linesOf(gateway, LOST), [{ why: /retryable status/ }])
  state.isDown = false
  await ask()
  await ask()
  t.match(linesOf(gateway, BACK), [{ level: 'info', lost: 2 }])
  t.match(await gateway.parts.metrics.text(), /^gateway_trace_spans_exported_total 4$/m)
  state.isDown = true
  await ask()
  t.equal(linesOf(gateway, LOST).length, 2, 'a further outage has its line')
})
