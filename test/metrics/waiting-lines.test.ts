import t from 'tap'
import { createMetrics } from '../../src/metrics/registry.ts'
import { addWaitingGauges } from '../../src/metrics/waiting-lines.ts'

t.test(
  'the gauges of waiting lines have the bytes and the age of each stream that has a destination',
  async (t) => {
    const metrics = createMetrics({ version: '' })
    const state = { waitingBytes: 700, oldestMs: 2500, isWritable: true }
    addWaitingGauges(metrics, { log: () => state, audit: () => null })
    const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('gateway_log_waiting'))
    t.same(lines, [
      'gateway_log_waiting_bytes{stream="log"} 700',
      'gateway_log_waiting_seconds{stream="log"} 2.5',
    ])
  },
)
