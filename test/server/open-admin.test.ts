import t, { type Test } from 'tap'
import { createLogger } from '../../src/log.ts'
import type { AuditEvent } from '../../src/metrics/audit-events.ts'
import { createMetrics } from '../../src/metrics/registry.ts'
import { openAdmin } from '../../src/server/open-admin.ts'
import { loadSettings, settingsWith } from '../support/config-file.ts'

const TOKEN = 'abcdefghij-0123456789'

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

interface Given {
  readonly token?: string | null
  readonly events?: AuditEvent[]
  readonly onProcesses?: () => void
}

async function open(t: Test, { token = null, events = [], onProcesses = () => undefined }: Given) {
  const config = loadSettings(t, settingsWith({}))
  const admin = await openAdmin(
    { host: '127.0.0.1', port: 0, tls: null },
    {
      current: () => ({ ...config, admin: { ...config.admin, token } }),
      metrics: createMetrics({ version: '1' }),
      readiness: () => ({ ready: true, checks: {} }),
      reload: {
        run: async () => ({ result: 'applied', changed: [] }),
        status: () => ({ isApplied: true, appliedAtMs: 0, lastReload: null, warnings: [] }),
      },
      drain: { run: async () => ({ status: 200, value: {} }), applyTo: () => undefined },
      processes: {
        askEach: async () => {
          onProcesses()
          return []
        },
        askOne: async () => null,
        configured: 1,
      },
      audit: async (event) => void events.push(event),
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

t.test(
  'requests that change something are audited with address and administrator, also if they are refused',
  async (t) => {
    const events: AuditEvent[] = []
    const admin = await open(t, { token: TOKEN, events })
    const cases: readonly (readonly [
      method: string,
      path: string,
      headers: Record<string, string>,
      event: object | null,
    ])[] = [
      [
        'POST',
        '/reload',
        { authorization: basic('olga', TOKEN) },
        { administrator: 'olga', decision: 'permitted', status: 200 },
      ],
      [
        'POST',
        '/reload',
        { authorization: `Bearer ${TOKEN}` },
        { administrator: null, decision: 'permitted', status: 200 },
      ],
      [
        'POST',
        '/reload',
        { authorization: basic('eve\u202e', 'wrong') },
        { administrator: 'eve\uFFFD', decision: 'refused', status: 401 },
      ],
      ['POST', '/cache/purge', {}, { administrator: null, decision: 'refused', status: 401 }],
      ['POST', '/shift', {}, { administrator: null, decision: 'refused', status: 401 }],
      ['POST', '/nodes/drain', {}, { administrator: null, decision: 'refused', status: 401 }],
      ['POST', '/explain', {}, null],
      ['GET', '/config', { authorization: `Bearer ${TOKEN}` }, null],
    ]
    for (const [method, path, headers, event] of cases) {
      const before = events.length
      const answer = await fetch(admin.address + path, {
        method,
        headers: { 'x-requested-by': 'a test', ...headers },
      })
      await answer.text()
      await new Promise(setImmediate)
      const expected = event === null ? [] : [{ event: 'admin', client: '127.0.0.1', method, path, ...event }]
      t.same(events.slice(before), expected, `${method} ${path}`)
    }
    t.notMatch(JSON.stringify(events), TOKEN)
  },
)
