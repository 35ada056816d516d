import { pino } from 'pino'
import t from 'tap'
import { openStores } from '../../src/assembly/build-cache.ts'
import { createMetrics } from '../../src/metrics/registry.ts'
import { configOf } from '../support/open-gateway.ts'

t.test('the cache is closed only if no successor has taken it over', async (t) => {
  const config = configOf(t, 'http://node')
  const dependencies = { config, metrics: createMetrics({ version: 'test' }), log: pino({ level: 'silent' }) }
  const isShared = { current: true }
  const { stores, close } = openStores(dependencies, {
    before: null,
    successor: () => (isShared.current ? { config, ...stores } : null),
  })
  let closed = 0
  Object.assign(stores.cache, { close: async () => void (closed += 1) })
  await close?.()
  t.equal(closed, 0)
  isShared.current = false
  await close?.()
  t.equal(closed, 1)
})
