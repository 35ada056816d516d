import { pino } from 'pino'
import t from 'tap'
import { openAdmission } from '../../src/assembly/build-limits.ts'
import { createMetrics } from '../../src/metrics/registry.ts'
import { configOf } from '../support/open-gateway.ts'

const successor = () => null

t.test(
  'a new configuration takes over the pressure monitor, and its limits apply when it is in force',
  (t) => {
    const [metrics, log] = [createMetrics({ version: 'test' }), pino({ level: 'silent' })]
    const before = openAdmission(
      { config: configOf(t, 'http://node'), metrics, log },
      { before: null, successor },
    )
    t.teardown(() => before.release?.())
    const settings = { limits: { pressure: { memory: '1MiB' } } }
    const after = openAdmission(
      { config: configOf(t, 'http://node', { settings }), metrics, log },
      { before: { admission: before.handoverState }, successor },
    )
    t.equal(after.pressure, before.pressure)
    t.equal(before.pressure.reserve(2 * 1024 ** 2), null)
    after.activate?.(metrics)
    t.match(before.pressure.reserve(2 * 1024 ** 2), { code: 'GW_OVERLOADED' })
    t.end()
  },
)
