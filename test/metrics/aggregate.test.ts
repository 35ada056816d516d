import t from 'tap'
import { aggregatorOf, createTotals, isSnapshot } from '../../src/metrics/aggregate.ts'
import { createMetrics, type Metrics } from '../../src/metrics/registry.ts'

const VERSION = { version: '1' }

/** Creates the metrics of two workers and of the primary that adds them up. */
function open() {
  const [own, one, other] = [createMetrics(VERSION), createMetrics(VERSION), createMetrics(VERSION)]
  const totals = createTotals()
  const update = async (worker: number, metrics: Metrics) => totals.update(worker, await metrics.snapshot())
  const valueOf = async (series: string) => {
    const text = await totals.text(await own.snapshot())
    const found = text.split('\n').filter((line) => line.startsWith(`${series} `))
    t.ok(found.length <= 1, `${series} is there once`)
    return found[0] === undefined ? null : Number(found[0].slice(series.length + 1))
  }
  return { own, one, other, totals, update, valueOf }
}

function addState(
  metrics: Metrics,
  { healthy, age }: { readonly healthy: number; readonly age: number },
): void {
  const of = { help: 'h', labels: ['engine'] } as const
  const labels = { engine: 'a' }
  metrics.gauges({ name: 'gateway_node_healthy', ...of }, () => [{ labels, value: healthy }])
  metrics.gauges({ name: 'gateway_source_age_seconds', ...of }, () => [{ labels, value: age }])
}

t.test('counts and durations are summed, including those of the primary', async (t) => {
  const { own, one, other, update, valueOf } = open()
  for (const metrics of [one, other, other])
    metrics.authentication({ engine: 'default', result: 'verified', method: 'basic' })
  own.reload({ result: 'applied' })
  const labels = { operation: 'getTask', engine: 'default', method: 'GET', status: 200 }
  for (const metrics of [one, other]) metrics.requestDone(labels, 0.02)
  await update(1, one)
  await update(2, other)
  t.equal(await valueOf('gateway_auth_total{engine="default",result="verified",method="basic"}'), 3)
  t.equal(await valueOf('gateway_config_reload_total{result="applied"}'), 1)
  const of = 'operation="getTask",engine="default",http_request_method="GET",http_response_status_code="200"'
  t.equal(await valueOf(`http_server_request_duration_seconds_count{${of}}`), 2)
  t.equal(await valueOf(`http_server_request_duration_seconds_bucket{le="0.025",${of}}`), 2)
})

t.test('requests in flight are summed, and the worst health and age are shown', async (t) => {
  const { one, other, update, valueOf } = open()
  one.inFlight(1)
  other.inFlight(1)
  other.inFlight(1)
  addState(one, { healthy: 1, age: 3 })
  addState(other, { healthy: 0, age: 60 })
  await update(1, one)
  await update(2, other)
  t.equal(await valueOf('gateway_requests_in_flight'), 3)
  t.equal(await valueOf('gateway_node_healthy{engine="a"}'), 0)
  t.equal(await valueOf('gateway_source_age_seconds{engine="a"}'), 60)
  t.equal(await valueOf('gateway_info{version="1"}'), 1)
})

t.test('the counts of a worker that exited remain, and its requests in flight do not', async (t) => {
  const { one, other, totals, update, valueOf } = open()
  const series = 'gateway_auth_total{engine="default",result="verified",method="basic"}'
  for (const metrics of [one, other]) {
    metrics.authentication({ engine: 'default', result: 'verified', method: 'basic' })
    metrics.inFlight(1)
  }
  await update(1, one)
  await update(2, other)
  totals.ended(1)
  t.equal(await valueOf(series), 2)
  t.equal(await valueOf('gateway_requests_in_flight'), 1)
  const next = createMetrics(VERSION)
  next.authentication({ engine: 'default', result: 'verified', method: 'basic' })
  await update(1, next)
  t.equal(await valueOf(series), 3)
  totals.ended(1)
  totals.ended(2)
  t.equal(await valueOf(series), 3)
})

t.test('a new snapshot of a worker replaces the previous one', async (t) => {
  const { one, update, valueOf } = open()
  one.authentication({ engine: 'default', result: 'verified', method: 'basic' })
  await update(1, one)
  one.authentication({ engine: 'default', result: 'verified', method: 'basic' })
  await update(1, one)
  t.equal(await valueOf('gateway_auth_total{engine="default",result="verified",method="basic"}'), 2)
})

t.test('quantiles are left out of the sum, and the start time is that of the primary', async (t) => {
  const { own, one, other, totals, update, valueOf } = open()
  await update(1, one)
  await update(2, other)
  t.notMatch(await totals.text(await own.snapshot()), /quantile=/)
  const started = Number(/^process_start_time_seconds (\S+)$/m.exec(await own.text())?.[1])
  t.equal(await valueOf('process_start_time_seconds'), started)
})

t.test('a snapshot is unchanged by the channel between processes', async (t) => {
  const { one } = open()
  one.inFlight(1)
  const snapshot = await one.snapshot()
  t.ok(isSnapshot(structuredClone(snapshot)))
  t.same(structuredClone(snapshot), snapshot)
  for (const value of [null, {}, [null], [{ name: 'a' }], [{ name: 1, values: [] }]])
    t.notOk(isSnapshot(value))
})

t.test(
  'a returned shift and a refused group have the value of the worst worker, and shares their average',
  async (t) => {
    const { one, other, update, valueOf } = open()
    const labels = { engine: 'a' }
    for (const [metrics, share, refused] of [
      [one, 0.5, 1],
      [other, 0.25, 0],
    ] as const) {
      const add = (name: `gateway_${string}`, value: number) =>
        metrics.gauges({ name, help: 'h', labels: ['engine'] }, () => [{ labels, value }])
      add('gateway_shift_share', share)
      add('gateway_shift_returned', 1)
      add('gateway_group_refused', refused)
    }
    await update(1, one)
    await update(2, other)
    t.equal(await valueOf('gateway_shift_share{engine="a"}'), 0.375)
    t.equal(await valueOf('gateway_shift_returned{engine="a"}'), 1)
    t.equal(await valueOf('gateway_group_refused{engine="a"}'), 1)
  },
)

t.test('a gauge of the gateway must declare how its values are combined', (t) => {
  t.throws(() => aggregatorOf('gateway_unknown'), /gateway_unknown/)
  t.equal(aggregatorOf('nodejs_heap_size_used_bytes'), 'sum')
  t.equal(aggregatorOf('camunda_incidents_open'), 'max')
  t.end()
})
