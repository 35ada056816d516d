import type { AdminRoute } from '../../src/metrics/admin-listener.ts'
import type { AdminToken } from '../../src/metrics/admin-access.ts'
import { ADMIN_ROUTES } from '../../src/server/admin-routes.ts'
import t, { type Test } from 'tap'
import { createLogger } from '../../src/log.ts'
import { type AuditEvent, eventRecordOf } from '../../src/metrics/audit-events.ts'
import { createMetrics } from '../../src/metrics/registry.ts'
import { openAdmin } from '../../src/server/open-admin.ts'
import { loadSettings, settingsWith } from '../support/config-file.ts'

const TOKEN = 'abcdefghij-0123456789'

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

interface Given {
  readonly token?: string | null
  readonly tokens?: readonly AdminToken[]
  readonly events?: AuditEvent[]
  readonly onProcesses?: () => void
}

async function open(
  t: Test,
  { token = null, tokens = [], events = [], onProcesses = () => undefined }: Given,
) {
  const config = loadSettings(t, settingsWith({}))
  const admin = await openAdmin(
    { host: '127.0.0.1', port: 0, tls: null },
    {
      current: () => ({ ...config, admin: { ...config.admin, token, tokens: [...tokens] } }),
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
        { token: 'admin.token', administrator: 'olga', decision: 'permitted', status: 200 },
      ],
      [
        'POST',
        '/reload',
        { authorization: `Bearer ${TOKEN}` },
        { token: 'admin.token', administrator: null, decision: 'permitted', status: 200 },
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
      const common = { event: 'admin', client: '127.0.0.1', token: null, request: null, method, path }
      const expected = event === null ? [] : [{ ...common, ...event }]
      t.same(events.slice(before), expected, `${method} ${path}`)
    }
    t.notMatch(JSON.stringify(events), TOKEN)
  },
)

const TOKENS: readonly AdminToken[] = [
  { name: 'prometheus', token: 'token-of-prometheus', right: 'read' },
  { name: 'anna', token: 'token-of-anna-anna', right: 'change' },
]

t.test('a token with the right to read changes nothing, and reads everything', async (t) => {
  const events: AuditEvent[] = []
  const admin = await open(t, { tokens: TOKENS, events })
  const statusOf = async ({ method, path }: Pick<AdminRoute, 'method' | 'path'>, token: string) => {
    const headers = { authorization: `Bearer ${token}`, 'x-requested-by': 'a test' }
    const response = await fetch(admin.address + path, { method, headers, redirect: 'manual' })
    return { status: response.status, text: await response.text() }
  }
  for (const route of Object.values(ADMIN_ROUTES)) {
    const { status, text } = await statusOf(route, 'token-of-prometheus')
    const isRefused = text === 'the token has only the right to read\n'
    t.equal(status === 403 && isRefused, route.right === 'change', `${route.method} ${route.path}: ${status}`)
    t.not((await statusOf(route, 'token-of-anna-anna')).status, 403, `${route.method} ${route.path}`)
    t.equal((await statusOf(route, 'token-of-nobody')).status === 401, route.right !== 'none', route.path)
  }
  t.equal((await statusOf({ method: 'POST', path: '/nothing' }, 'token-of-prometheus')).status, 403)
  await new Promise(setImmediate)
  const seen = events.map((event) =>
    event.event === 'admin' ? `${event.token} ${event.decision} ${event.path}` : '',
  )
  t.ok(seen.includes('prometheus refused /shift'), seen.join('; '))
  t.ok(seen.includes('anna permitted /reload'), seen.join('; '))
  t.ok(seen.includes('null refused /nodes/drain'), seen.join('; '))
})

t.test('the audit line of a change names the token and what was requested', async (t) => {
  const events: AuditEvent[] = []
  const admin = await open(t, { tokens: TOKENS, events })
  const headers = {
    authorization: 'Bearer token-of-anna-anna',
    'x-requested-by': 'a test',
    'content-type': 'application/json',
  }
  const body = JSON.stringify({ engine: 'orders', reads: '50%' })
  await (await fetch(`${admin.address}/shift`, { method: 'POST', headers, body })).text()
  await new Promise(setImmediate)
  t.match(events.map(eventRecordOf), [{ event: 'admin', tokenName: 'anna', path: '/shift', request: body }])
  t.notMatch(JSON.stringify(events.map(eventRecordOf)), /token-of-anna/)
})
