import t from 'tap'
import { createMetrics } from '../../src/metrics/registry.ts'

t.test('traffic is summed over engines, methods and statuses, with or without a scrape', async (t) => {
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
  t.same(traffic.refusals, [{ operation: 'getTask', stage: 'permit', reason: '403', count: 2 }])
  t.same(traffic.cache, [{ tier: 'memory', result: 'hit', count: 1 }])
  const text = await metrics.text()
  t.match(text, 'gateway_refusals_total{engine="one",operation="getTask",stage="permit",reason="403"} 1\n')
})
