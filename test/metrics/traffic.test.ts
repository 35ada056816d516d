import t from 'tap'
import { createMetrics } from '../../src/metrics/registry.ts'

t.test(
  'traffic is summed over engines, methods and statuses, with or without a scrape, and counted by engine',
  async (t) => {
    const metrics = createMetrics({ version: '1' })
    const served = (engine: string, status: number) =>
      metrics.requestDone({ operation: 'getTask', engine, method: 'GET', status }, 0.004)
    served('one', 200)
    served('two', 503)
    metrics.refusal({ engine: 'one', operation: 'getTask', stage: 'permit', reason: '403' })
    await metrics.text()
    metrics.refusal({ engine: 'two', operation: 'getTask', stage: 'permit', reason: '403' })
    metrics.cache({ tier: 'memory', result: 'hit' })
    metrics.inFlight(1)
    const traffic = metrics.traffic()
    t.match(traffic, { inFlight: 1, operations: [{ operation: 'getTask', failed: 1 }] })
    t.equal(traffic.operations.length, 1)
    t.equal(traffic.operations[0]?.durations[0], 2)
    const refusal = { operation: 'getTask', stage: 'permit', reason: '403', count: 1, kind: 'refusal' }
    t.same(traffic.refusals, [
      { ...refusal, engine: 'one' },
      { ...refusal, engine: 'two' },
    ])
    t.match(traffic.engines, [
      { engine: 'one', failed: 0, refused: 1 },
      { engine: 'two', failed: 1, refused: 1 },
    ])
    t.same(traffic.cache, [{ tier: 'memory', result: 'hit', count: 1 }])
    const text = await metrics.text()
    t.match(text, 'gateway_refusals_total{engine="one",operation="getTask",stage="permit",reason="403"} 1\n')
  },
)

t.test('outages and requests in report mode do not count as refused', async (t) => {
  const cases = [
    ['permit', '403', 'refusal'],
    ['permit', '404', 'refusal'],
    ['permit', '500', 'refusal'],
    ['admit', 'GW_RATE_LIMITED', 'refusal'],
    ['body', 'GW_HAZARD', 'refusal'],
    ['forward', 'GW_IDEMPOTENCY_UNSUPPORTED', 'refusal'],
    ['forward', 'GW_NO_NODE', 'outage'],
    ['permit', 'GW_RECORDS_UNAVAILABLE', 'outage'],
    ['admit', 'GW_OVERLOADED', 'outage'],
    ['forward', 'GW_OUTCOME_UNKNOWN', 'outage'],
    ['forward', 'GW_IDEMPOTENCY_UNAVAILABLE', 'outage'],
    ['canonical', 'too-many-connections', 'outage'],
    ['permit-report', '403', 'report'],
  ] as const
  for (const [stage, reason, kind] of cases) {
    const metrics = createMetrics({ version: '1' })
    metrics.refusal({ engine: 'one', operation: 'getTask', stage, reason })
    const { refusals, operations, engines } = metrics.traffic()
    t.match(refusals, [{ kind }], `${stage} ${reason}`)
    for (const [row] of [operations, engines])
      t.equal(row?.refused, kind === 'refusal' ? 1 : 0, `${stage} ${reason}`)
  }
})

t.test('the status has the 1000 most frequent refusals', async (t) => {
  const metrics = createMetrics({ version: '1' })
  for (let at = 0; at < 1200; at += 1)
    metrics.refusal({ engine: `e${at}`, operation: 'getTask', stage: 'permit', reason: '403' })
  metrics.refusal({ engine: 'e1199', operation: 'getTask', stage: 'permit', reason: '403' })
  const { refusals, operations } = metrics.traffic()
  t.equal(refusals.length, 1000)
  t.match(refusals[0], { engine: 'e1199', count: 2 })
  t.equal(operations[0]?.refused, 1201)
})
