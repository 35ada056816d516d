import t from 'tap'
import { createMetrics } from '../../src/metrics/registry.ts'
import { addLastAuditLineGauges } from '../../src/metrics/last-audit-line.ts'

t.test('the gauges have the last audit line of a writer, and change once a minute', async (t) => {
  const metrics = createMetrics({ version: '' })
  let atMs = 0
  let sequence = 7
  const last = () => ({
    writer: '0123456789ab',
    sequence,
    digest: sequence === 7 ? 'A'.repeat(43) : '_'.repeat(43),
  })
  addLastAuditLineGauges(metrics, last, () => atMs)
  const lines = async () =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith('gateway_audit_last'))
  const former = [
    'gateway_audit_last_sequence{writer="0123456789ab"} 7',
    'gateway_audit_last_digest{writer="0123456789ab"} 0',
  ]
  t.same(await lines(), former)
  sequence = 8
  atMs = 59_999
  t.same(await lines(), former)
  atMs = 60_000
  t.same(await lines(), [
    'gateway_audit_last_sequence{writer="0123456789ab"} 8',
    'gateway_audit_last_digest{writer="0123456789ab"} 281474976710655',
  ])
})
