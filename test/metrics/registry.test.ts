import t from 'tap'
import { createMetrics } from '../../src/metrics/registry.ts'
import { BUCKETS, createCounts, createDurations, MAX_SERIES } from '../../src/metrics/series.ts'
import { AggregatorRegistry, Histogram, Registry } from 'prom-client'

/** Returns the sum of the metrics of two processes with equal counts. */
async function summed(registry: Registry): Promise<string> {
  const snapshot = await registry.getMetricsAsJSON()
  return AggregatorRegistry.aggregate([snapshot, snapshot]).metrics()
}

const linesOf = (text: string, name: string) => text.split('\n').filter((line) => line.startsWith(name))

t.test('a request is recorded with its operation, engine, method and status', async (t) => {
  const metrics = createMetrics({ version: '1.2.3' })
  metrics.requestDone({ operation: 'getTask', engine: 'default', method: 'GET', status: 200 }, 0.02)
  const text = await metrics.text()
  const labels =
    'operation="getTask",engine="default",http_request_method="GET",http_response_status_code="200"'
  t.match(text, `http_server_request_duration_seconds_bucket{le="0.01",${labels}} 0\n`)
  t.match(text, `http_server_request_duration_seconds_bucket{le="0.025",${labels}} 1\n`)
  t.match(text, `http_server_request_duration_seconds_count{${labels}} 1\n`)
})

t.test('an attempt at a node is timed and counted by result', async (t) => {
  const metrics = createMetrics({ version: '1' })
  const node = 'http://engine-a:8080/engine-rest'
  metrics.attempt({ engine: 'default', node, status: 200, result: 'ok' }, 0.1)
  metrics.attempt({ engine: 'default', node, status: 0, result: 'refused' }, 0.1)
  const text = await metrics.text()
  t.match(text, `gateway_upstream_attempts_total{engine="default",node="${node}",result="ok"} 1\n`)
  t.match(text, `gateway_upstream_attempts_total{engine="default",node="${node}",result="refused"} 1\n`)
  t.match(
    text,
    `http_client_request_duration_seconds_count{engine="default",node="${node}",http_response_status_code=""} 1\n`,
  )
})

t.test('durations are exported exactly as by the histogram of prom-client', async (t) => {
  const [registry, other] = [new Registry(), new Registry()]
  const naming = { name: 'd_seconds', help: 'd', labels: ['engine', 'status'] as const }
  const observe = createDurations({ ...naming, registry })
  const { name, help, labels: labelNames } = naming
  const library = new Histogram({ name, help, labelNames, buckets: BUCKETS, registers: [other] })
  const seconds = [0, ...BUCKETS.flatMap((bound) => [bound, bound + 0.0001]), 1000]
  for (const engine of ['a', 'b'])
    for (const each of seconds) {
      observe({ engine, status: '200' }, each)
      library.observe({ engine, status: '200' }, each)
    }
  t.equal(await registry.metrics(), await other.metrics())
  t.equal(await summed(registry), await summed(other), 'and as such can be added up')
})

t.test('cache lookups, authentications and refusals are counted', async (t) => {
  const metrics = createMetrics({ version: '1' })
  metrics.cache({ tier: 'memory', result: 'hit' })
  metrics.cache({ tier: 'memory', result: 'hit' })
  metrics.authentication({ engine: 'default', result: 'remembered', method: 'basic' })
  metrics.refusal({ engine: 'default', operation: 'updateTask', stage: 'permit', reason: '403' })
  const text = await metrics.text()
  t.match(text, 'gateway_cache_requests_total{tier="memory",result="hit"} 2\n')
  t.match(text, 'gateway_auth_total{engine="default",result="remembered",method="basic"} 1\n')
  t.match(
    text,
    'gateway_refusals_total{engine="default",operation="updateTask",stage="permit",reason="403"} 1\n',
  )
})

t.test('requests in flight, the version and registered values are gauges', async (t) => {
  const metrics = createMetrics({ version: '1.2.3' })
  metrics.inFlight(1)
  metrics.inFlight(1)
  metrics.inFlight(-1)
  let bytes = 1
  metrics.gauge('gateway_websockets', 'Held in memory.', () => bytes)
  bytes = 7
  const text = await metrics.text()
  t.match(text, '\ngateway_requests_in_flight 1\n')
  t.match(text, '\ngateway_info{version="1.2.3"} 1\n')
  t.match(text, '\ngateway_websockets 7\n')
})

t.test('process metrics are exported in the Prometheus text format', async (t) => {
  const metrics = createMetrics({ version: '1' })
  t.match(await metrics.text(), /^process_cpu_seconds_total \d/m)
  t.equal(metrics.contentType, 'text/plain; version=0.0.4; charset=utf-8')
})

t.test('invalid methods and statuses share one label value', async (t) => {
  const metrics = createMetrics({ version: '1' })
  for (let index = 0; index < 100; index += 1)
    metrics.requestDone({ operation: '', engine: '', method: `M${index}`, status: 1000 + index }, 0.01)
  const counts = linesOf(await metrics.text(), 'http_server_request_duration_seconds_count')
  t.same(counts, [
    'http_server_request_duration_seconds_count{operation="",engine="",http_request_method="_OTHER",http_response_status_code="_OTHER"} 100',
  ])
})

t.test('an invalid label value is counted as other', async (t) => {
  const metrics = createMetrics({ version: '1' })
  for (const reason of ['a b', 'x'.repeat(129), 'no "READ" permission', 'line\nbreak'])
    metrics.refusal({ engine: 'e', operation: 'o', stage: 's', reason })
  t.same(linesOf(await metrics.text(), 'gateway_refusals_total'), [
    'gateway_refusals_total{engine="e",operation="o",stage="s",reason="other"} 4',
  ])
})

t.test('durations with several invalid label values are one series', async (t) => {
  const metrics = createMetrics({ version: '1' })
  for (const engine of ['a b', 'c d', 'x'.repeat(129)])
    metrics.requestDone({ operation: 'getTask', engine, method: 'GET', status: 200 }, 0.02)
  t.same(linesOf(await metrics.text(), 'http_server_request_duration_seconds_count'), [
    'http_server_request_duration_seconds_count{operation="getTask",engine="other",http_request_method="GET",http_response_status_code="200"} 3',
  ])
})

t.test('the number of series is limited, and further label values count as other', async (t) => {
  const registry = new Registry()
  const count = createCounts({ name: 'c_total', help: 'c', labels: ['id'], registry })
  for (let index = 0; index < MAX_SERIES + 50; index += 1) count({ id: `id-${index}` })
  count({ id: 'id-1' })
  const lines = linesOf(await registry.metrics(), 'c_total')
  t.equal(lines.length, MAX_SERIES + 1)
  t.ok(lines.includes('c_total{id="other"} 50'))
  t.ok(lines.includes('c_total{id="id-1"} 2'))
})

t.test('two gateways in one process have separate metrics', async (t) => {
  const [one, other] = [createMetrics({ version: '1' }), createMetrics({ version: '1' })]
  one.cache({ tier: 'memory', result: 'hit' })
  t.equal(linesOf(await other.text(), 'gateway_cache_requests_total').length, 0)
})

t.test('gauges with labels are read at each scrape, and a removed value is not shown', async (t) => {
  const metrics = createMetrics({ version: '1' })
  const values: Record<string, number | null> = { records: 1, identity: null }
  metrics.gauges({ name: 'gateway_source_up', help: 'Up.', labels: ['source'] }, () =>
    Object.entries(values).map(([source, value]) => ({ labels: { source }, value })),
  )
  t.same(linesOf(await metrics.text(), 'gateway_source_up'), ['gateway_source_up{source="records"} 1'])
  Object.assign(values, { records: null, identity: 0 })
  t.same(linesOf(await metrics.text(), 'gateway_source_up'), ['gateway_source_up{source="identity"} 0'])
})

t.test('a gauge that is registered again reads the values of the last registration', async (t) => {
  const metrics = createMetrics({ version: '1' })
  const naming = { name: 'gateway_source_up', help: 'Up.', labels: ['source'] } as const
  metrics.gauges(naming, () => [{ labels: { source: 'former' }, value: 1 }])
  metrics.gauges(naming, () => [{ labels: { source: 'present' }, value: 1 }])
  const text = await metrics.text()
  t.match(text, 'gateway_source_up{source="present"} 1')
  t.notMatch(text, 'former')
})
