import t, { type Test } from 'tap'
import { createLogger } from '../../src/log.ts'
import { createMetrics } from '../../src/metrics/registry.ts'
import { openAdmin } from '../../src/server/open-admin.ts'
import { loadSettings, settingsWith } from '../support/config-file.ts'

const TOKEN = 'abcdefghij-0123456789'

interface Given {
  readonly token?: string | null
  readonly onProcesses?: () => void
}

async function open(t: Test, { token = null, onProcesses = () => undefined }: Given) {
  const config = loadSettings(t, settingsWith({}))
  const admin = await openAdmin(
    { host: '127.0.0.1', port: 0, tls: null },
    {
      current: () => ({ ...config, admin: { ...config.admin, token } }),
      metrics: createMetrics({ version: '1' }),
      readiness: () => ({ ready: true, checks: {} }),
      reload: {
        run: async () => ({ result: 'applied', changed: [] }),
        isApplied: () => true,
        status: () => ({ isApplied: true, appliedAtMs: 0, lastReload: null, warnings: [] }),
      },
      processes: {
        askEach: async () => {
          onProcesses()
          return []
        },
        askOne: async () => null,
        configured: 1,
      },
      log: createLogger({ level: 'error', destination: { write: () => undefined } }),
    },
  )
  t.teardown(() => admin.close())
  return admin
}

t.test('an explain request that no worker answers returns 503', async (t) => {
  const admin = await open(t, {})
  const headers = { 'content-type': 'application/json', 'x-requested-by': 'a test' }
  const answer = await fetch(`${admin.address}/explain`, { method: 'POST', headers, body: '{}' })
  t.equal(answer.status, 503)
  t.same(await answer.json(), { error: 'No worker responds' })
})

t.test('concurrent requests share a status', async (t) => {
  let made = 0
  const admin = await open(t, { onProcesses: () => (made += 1) })
  const statuses = Array.from({ length: 50 }, async () =>
    (await fetch(`${admin.address}/status.json`)).json(),
  )
  for (const status of await Promise.all(statuses))
    t.match(status, { ready: true, workers: { answering: 0 } })
  t.ok(made > 0 && made < 10, `${made}`)
})

t.test(
  'few of many concurrent wrong tokens are verified, and the right token is not locked out',
  async (t) => {
    const admin = await open(t, { token: TOKEN })
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
  },
)
