import t, { type Test } from 'tap'
import { warningsOf } from '../../src/config/warnings.ts'
import { writeCertificates } from '../support/certificates.ts'
import { loadSettings, settingsWith } from '../support/config-file.ts'

function warningsFor(t: Test, application: object, nodes: readonly string[]): readonly string[] {
  const passthrough = [{ prefix: '/camunda', ...application }]
  return warningsOf(loadSettings(t, settingsWith({ passthrough }, { nodes })))
}

t.test('a prefix that leads to the host of an engine node causes a warning, whatever the path', async (t) => {
  const cases = [
    ['http://engine:8080/camunda', ['http://engine:8080/engine-rest']],
    ['http://ENGINE:8080', ['http://other:8080/engine-rest', 'http://engine:8080/engine-rest']],
    ['http://engine:8081/camunda', ['http://engine:8080/engine-rest']],
    ['https://engine', ['http://engine/engine-rest']],
    ['http://[2001:db8::1]:8080', ['http://[2001:db8:0::1]:8080/engine-rest']],
  ] as const
  for (const [upstream, nodes] of cases) {
    t.match(warningsFor(t, { upstream }, nodes), [
      /^passthrough\[0\]: \/camunda leads to \S+, the host of a node of default\. .*are refused there\. Set engineFunctions/,
    ])
    t.match(warningsFor(t, { upstream, engineFunctions: 'forward' }, nodes), [
      /^passthrough\[0\]: \/camunda leads to \S+, the host of a node of default\. .*no authorization record/,
    ])
    t.same(warningsFor(t, { upstream, engineFunctions: 'refuse' }, nodes), [])
  }
})

t.test('a prefix to another host causes no warning, and neither do no prefixes', async (t) => {
  const upstream = 'http://web:8080/camunda'
  t.same(warningsFor(t, { upstream }, ['http://engine:8080/engine-rest']), [])
  t.match(warningsFor(t, { upstream, engineFunctions: 'refuse' }, ['http://engine:8080/engine-rest']), [
    /^passthrough\[0\]: \/camunda has engineFunctions, which has no effect/,
  ])
  t.same(warningsOf(loadSettings(t, settingsWith({}))), [])
})

t.test('an application without authentication and its engine nodes cause warnings', async (t) => {
  const nodes = ['http://one:8080', 'http://two:8080']
  const passthrough = [{ prefix: '/app', nodes, auth: 'none', engineFunctions: 'forward' }]
  const engine = { nodes: ['http://two:8080/engine-rest', 'http://one:8080/engine-rest'] }
  t.match(warningsOf(loadSettings(t, settingsWith({ passthrough }, engine))), [
    /^passthrough\[0\]: \/app is open to every client that can reach the listener/,
    /^passthrough\[0\]: \/app leads to two, one, the host of a node of default\. /,
  ])
})

t.test('a warning names each engine once and contains no password', async (t) => {
  const node = 'http://engine:8080/engine-rest'
  const settings = settingsWith({ passthrough: [{ prefix: '/app', upstream: 'http://engine:8080' }] })
  const account = { username: 'gateway', password: 'hush-hush' }
  const engines = {
    orders: { nodes: [node], credentials: account },
    default: { nodes: [node, 'http://engine:8080/other'] },
  }
  const [warning, ...rest] = warningsOf(loadSettings(t, { ...settings, engines }))
  t.match(warning, /a node of orders, default\./)
  t.notMatch(warning, /hush/)
  t.same(rest, [])
})

t.test('a mode that refuses nothing causes a warning with its place and its engines', (t) => {
  const nodes = ['http://engine:8080/engine-rest']
  const records = { source: 'file', file: 'records.yaml' }
  const warnings = warningsOf(
    loadSettings(t, {
      ...settingsWith({}),
      engines: {
        default: { nodes },
        orders: { nodes },
        closed: { nodes, authorization: { records }, validation: { mode: 'enforce' } },
        open: { nodes, authorization: { mode: 'off', records } },
      },
      authorization: { mode: 'report', records },
      validation: { mode: 'off' },
    }),
  )
  t.match(warnings, [
    /^authorization\.mode: report refuses no request.* \(default, orders\)$/,
    /^engines\.open\.authorization\.mode: off checks no permission.* \(open\)$/,
    /^validation\.mode: off checks no content.* \(default, orders, open\)$/,
  ])
  t.equal(warnings.length, 3)
  t.end()
})

t.test(
  'report mode in front of an engine that decides itself causes no warning, and with an account it does',
  (t) => {
    const authorization = { mode: 'report', records: { source: 'file', file: 'records.yaml' } }
    const warnings = (credentials: unknown) =>
      warningsOf(loadSettings(t, settingsWith({ authorization }, { credentials })))
    t.same(warnings('forward'), [])
    t.match(warnings({ username: 'gateway', password: 'secret' }), [
      /^authorization\.mode: report refuses no request/,
    ])
    t.match(warnings('none'), [/^authorization\.mode: report refuses no request/])
    t.end()
  },
)

t.test('mode enforce causes no warning, nor does an engine that authorizes requests itself', (t) => {
  const engine = { credentials: 'forward' }
  const authorization = { mode: 'engine', records: { source: 'file', file: 'records.yaml' } }
  const nodes = ['http://engine:8080/engine-rest']
  const config = { ...settingsWith({}), engines: { default: { nodes, ...engine, authorization } } }
  t.same(warningsOf(loadSettings(t, config)), [])
  t.end()
})

t.test('a certificate that ends soon or has ended causes a warning with its key', async (t) => {
  const files = writeCertificates(t)
  const own = { cert: files['ended.crt'], key: files['ended.key'] }
  const lasting = { cert: files['server.crt'], key: files['server.key'] }
  const settings = {
    listen: { tls: { ...lasting, clients: { ca: files['ended.crt'] } } },
    admin: { tls: own },
    passthrough: [{ prefix: '/app', upstream: 'https://web', tls: own }],
  }
  t.match(warningsOf(loadSettings(t, settingsWith(settings))), [
    /^listen\.tls\.clients\.ca: (?:expires|expired) at 2026-11-24T/,
    /^admin\.tls\.cert: (?:expires|expired) at 2026-11-24T/,
    /^passthrough\[0\]\.tls\.cert: (?:expires|expired) at 2026-11-24T/,
  ])
  t.same(warningsOf(loadSettings(t, settingsWith({ listen: { tls: lasting } }))), [])
})

t.test('an admin listener that every machine can reach without a token causes a warning', async (t) => {
  const warnings = (admin: unknown) => warningsOf(loadSettings(t, settingsWith({ admin })))
  t.match(warnings({ host: '0.0.0.0' }), [/^admin\.token: is not set/])
  t.same(warnings({ host: '0.0.0.0', token: 'a-token-that-is-long-enough-0123456789' }), [])
  t.same(warnings({ host: '127.0.0.1' }), [])
})

t.test('permissions that are not checked, and names of no permission, cause a warning', async (t) => {
  const records = { source: 'file', file: 'records.yaml' }
  const authorization = { records, disabledPermissions: ['READ', 'REED'] }
  t.match(warningsOf(loadSettings(t, settingsWith({ authorization }))), [
    /^authorization\.disabledPermissions: READ is checked nowhere/,
    /^authorization\.disabledPermissions: a name is no permission .* did you mean READ\?$/,
  ])
})

const node = (drain: boolean) => ({ url: 'http://engine:8080/engine-rest', drain })

t.test('an engine of which all nodes are drained causes a warning', async (t) => {
  const warnings = (nodes: unknown) => warningsOf(loadSettings(t, settingsWith({}, { nodes })))
  t.match(warnings([node(true)]), [/^engines\.default\.nodes: all nodes have drain/])
  t.same(warnings([node(true), { ...node(false), url: 'http://other:8080/engine-rest' }]), [])
})

t.test('a rule for tokens causes a warning if no engine accepts tokens', async (t) => {
  const ceilings = [
    { users: ['mary'], ceiling: 'read' },
    { clients: ['agent'], ceiling: 'read' },
    { users: ['mary'], claim: { path: 'scope', values: ['x'] }, ceiling: 'safe' },
  ]
  t.match(warningsOf(loadSettings(t, settingsWith({ limits: { ceilings } }))), [
    /^limits\.ceilings\[1\]: no engine accepts tokens/,
    /^limits\.ceilings\[2\]: no engine accepts tokens/,
  ])
  const issuers = [{ name: 'one', issuer: 'https://id.example', audience: ['gateway'] }]
  const identity = { source: 'file', file: 'users.yaml', tokens: { issuers } }
  t.same(warningsOf(loadSettings(t, settingsWith({ limits: { ceilings }, identity }))), [])
})
