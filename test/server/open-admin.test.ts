import t from 'tap'
import { createLogger } from '../../src/log.ts'
import { createMetrics } from '../../src/metrics/registry.ts'
import { openAdmin } from '../../src/server/open-admin.ts'

const TOKEN = 'abcdefghij-0123456789'

t.test('of many wrong tokens at once few are tried, and the right one is not locked out', async (t) => {
  const log = createLogger({ level: 'error', destination: { write: () => undefined } })
  const admin = await openAdmin(
    { host: '127.0.0.1', port: 0 },
    {
      access: () => ({ host: '127.0.0.1', hosts: [], token: TOKEN }),
      metrics: createMetrics({ version: '1' }),
      readiness: () => ({ ready: true, checks: {} }),
      explain: async () => ({ status: 200, value: {} }),
      reload: {
        run: async () => ({ result: 'applied', changed: [] }),
        isApplied: () => true,
        status: () => ({ isApplied: true, appliedAtMs: 0, lastReload: null, warnings: [] }),
      },
      processes: async () => ({ statuses: [], configured: 1 }),
      log,
    },
  )
  t.teardown(() => admin.close())
  const statusWith = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    return (await fetch(`${admin.address}/metrics`, { headers })).status
  }
  const guesses = Array.from({ length: 100 }, (_, at) => statusWith(`a-wrong-token-${at}`))
  const statuses = await Promise.all(guesses)
  const refused = statuses.filter((status) => status === 429)
  t.ok(refused.length > 50, statuses.join(' '))
  t.equal(statuses.length - refused.length, statuses.filter((status) => status === 401).length)
  t.equal(await statusWith(TOKEN), 200)
})
