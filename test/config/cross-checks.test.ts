import t from 'tap'
import { problemsIn, settingsWith } from '../support/config-file.ts'

const upstream = 'http://web:8080'
const prefixes = (...all: readonly string[]) => ({
  passthrough: all.map((prefix) => ({ prefix, upstream })),
})

t.test('two equal passthrough prefixes are reported', async (t) => {
  t.same(problemsIn(t, settingsWith(prefixes('/a', '/b', '/a'))), [
    'passthrough[2].prefix: is the same as passthrough[0].prefix',
  ])
  t.same(problemsIn(t, settingsWith(prefixes('/a', '/a/b', '/ab'))), [])
})

t.test('a passthrough prefix that contains the base path is refused', async (t) => {
  const OPENS = 'must not contain basePath: requests that are not in the API would be sent to the application'
  const problemsOf = (basePath: string, prefix: string) =>
    problemsIn(t, settingsWith({ basePath, ...prefixes(prefix) }))
  t.same(problemsOf('/engine-rest', '/engine-rest'), [`passthrough[0].prefix: ${OPENS}`])
  t.same(problemsOf('/a/b', '/a'), [`passthrough[0].prefix: ${OPENS}`])
  for (const prefix of ['/a/c', '/a/b/custom', '/a/bc']) t.same(problemsOf('/a/b', prefix), [], prefix)
  t.match(problemsOf('/engine-rest', '/'), [/^passthrough\[0\]\.prefix: write it like \/app/])
  t.match(problemsOf('/engine-rest', '/-refused'), [/^passthrough\[0\]\.prefix: write it like \/app/])
})

t.test('an application needs either one upstream or nodes with the same path', async (t) => {
  const problemsOf = (application: object) =>
    problemsIn(t, settingsWith({ passthrough: [{ prefix: '/app', ...application }] }))
  t.same(problemsOf({ nodes: ['http://a/app', { url: 'http://b/app/', weight: 2 }] }), [])
  t.same(problemsOf({}), ['passthrough[0]: needs either upstream or nodes'])
  t.same(problemsOf({ upstream, nodes: [upstream] }), ['passthrough[0]: needs either upstream or nodes'])
  t.same(problemsOf({ nodes: ['http://a/app', 'http://b/web'] }), [
    'passthrough[0].nodes[1]: must have the same path as nodes[0]',
  ])
  t.same(problemsOf({ nodes: ['http://a/app', 'http://a:80/app/'] }), [
    'passthrough[0].nodes[1]: is the same node as nodes[0]',
  ])
})

t.test('with forwarded credentials, engine lookups of the gateway need a service account', async (t) => {
  const service = { username: 'gw', password: 'x' }
  const identity = { source: 'engine' }
  const authorization = { records: { source: 'engine' } }
  const NEEDED = [/^engines\.default\.service: is required if credentials is forward/]
  const problemsOf = (settings: object, engine: object = {}) =>
    problemsIn(t, settingsWith({ ...settings }, { credentials: 'forward', ...engine }))
  t.match(problemsOf({ identity }), NEEDED)
  t.match(problemsOf({ authorization }), NEEDED)
  t.match(problemsOf({}, { authorization }), NEEDED)
  t.same(problemsOf({ identity, authorization }, { service }), [])
  t.same(problemsOf({ identity, authorization }, { credentials: 'none' }), [])
  t.match(problemsOf({}, { gauges: {} }), NEEDED)
  t.same(problemsOf({}, { gauges: {}, service }), [])
  t.same(problemsOf({}), [], 'users and records in files')
  t.same(problemsOf({ authorization: { ...authorization, mode: 'off' } }), [], 'records that nobody reads')
})

t.test('with several workers, gauges need Redis to elect the worker that reads them', async (t) => {
  const problemsOf = (settings: object) => problemsIn(t, settingsWith({ ...settings }, { gauges: {} }))
  t.same(problemsOf({ workers: 2 }), [
    'engines.default.gauges: requires cache.redis if there are several workers',
  ])
  t.same(problemsOf({ workers: 2, cache: { redis: 'redis://cache:6379' } }), [])
  t.same(problemsOf({ workers: 1 }), [])
})

t.test('two listeners cannot have the same port', async (t) => {
  const problemsOf = (listen: object, admin: object) => problemsIn(t, settingsWith({ listen, admin }))
  const TAKEN = ['admin.port: must differ from the port of listen at the same address']
  t.same(problemsOf({ port: 9090 }, {}), TAKEN)
  t.same(problemsOf({ host: '0.0.0.0', port: 9090 }, {}), TAKEN)
  t.same(problemsOf({ port: 9090 }, { host: '::' }), TAKEN)
  t.same(problemsOf({ host: '10.0.0.1', port: 9090 }, {}), [])
  t.same(problemsOf({ port: 0 }, { port: 0 }), [])
})

t.test('required audit lines need an audit stream', async (t) => {
  const problemsOf = (audit: string) =>
    problemsIn(t, settingsWith({ log: { audit }, audit: { required: true } }))
  t.same(problemsOf('off'), ['audit.required: needs an audit stream, but log.audit is off'])
  for (const audit of ['stdout', 'audit.jsonl']) t.same(problemsOf(audit), [], audit)
})

t.test('invalid values do not hide the problems that cross-checks find', async (t) => {
  const settings = settingsWith(
    {
      ...prefixes('/a', '/a'),
      colour: 'red',
      limits: { body: '0B' },
      engines: {
        good: { nodes: ['http://a'], authorization: { mode: 'engine', records: { source: 'engine' } } },
        unknown: { nodes: ['http://a'], deploymentAware: true, health: { probe: false, colour: 'red' } },
        bad: { nodes: [], deploymentAware: true, health: { probe: false } },
      },
    },
    {},
  )
  t.match(
    new Set(problemsIn(t, settings)),
    new Set([
      /^colour: unknown key /,
      /^limits\.body: /,
      /^engines\.unknown\.health\.colour: unknown key /,
      /^engines\.bad\.nodes: /,
      'passthrough[1].prefix: is the same as passthrough[0].prefix',
      'engines.good.credentials: must be forward or { header } if authorization.mode is engine',
      'engines.unknown.deploymentAware: needs health.probe',
    ]),
  )
  t.equal(problemsIn(t, settings).length, 7)
})

t.test('a setting with a problem causes no cross-check problem', async (t) => {
  const ofPorts = problemsIn(t, settingsWith({ listen: { port: 'x9090' }, admin: { port: 8080 } }))
  t.match(ofPorts, [/^listen\.port: /])
  const authorization = { mode: 'engin', records: { source: 'engine' } }
  const ofModes = problemsIn(t, settingsWith({ authorization }, { credentials: 'forward' }))
  t.match(ofModes, [/^authorization\.mode: /])
  t.same([ofPorts.length, ofModes.length], [1, 1])
})

t.test('TLS settings without a node with an https URL are refused', async (t) => {
  const problemsFor = (...nodes: readonly string[]) => problemsIn(t, settingsWith({}, { nodes, tls: {} }))
  t.same(problemsFor('http://engine:8080/engine-rest'), [
    'engines.default.tls: needs a node with an https:// URL',
  ])
  t.same(problemsFor('http://engine:8080/engine-rest', 'https://other/engine-rest'), [])
  const problemsOf = (application: object) =>
    problemsIn(t, settingsWith({ passthrough: [{ prefix: '/app', tls: {}, ...application }] }))
  const NEEDED = ['passthrough[0].tls: needs a node with an https:// URL']
  t.same(problemsOf({ upstream }), NEEDED)
  t.same(problemsOf({ nodes: [upstream, 'http://other:8080'] }), NEEDED)
  t.same(problemsOf({ upstream: 'HTTPS://web' }), [])
  t.same(problemsOf({ nodes: [upstream, { url: 'https://other' }] }), [])
})

t.test('the nodes of an application have no groups', async (t) => {
  const nodes = [{ url: 'http://a/x', group: 'old' }, { url: 'http://b/x' }]
  t.same(problemsIn(t, settingsWith({ passthrough: [{ prefix: '/x', nodes }] })), [
    'passthrough[0].nodes[0].group: only nodes of an engine have groups',
  ])
})

t.test(
  'an application on the host of an engine is open to every client only if the file says that this is known',
  async (t) => {
    const problemsOf = (application: object) =>
      problemsIn(t, settingsWith({ passthrough: [{ prefix: '/camunda', auth: 'none', ...application }] }))
    const near = 'https://engine:8443/camunda'
    t.match(problemsOf({ upstream: near }), [
      /^passthrough\[0\]\.auth: none opens engine, the host of a node of default, to every client\. Use gateway, or set engineFunctions/,
    ])
    t.match(problemsOf({ nodes: ['http://web/camunda', 'http://engine/camunda'] }), [
      /^passthrough\[0\]\.auth/,
    ])
    for (const engineFunctions of ['refuse', 'forward'])
      t.same(problemsOf({ upstream: near, engineFunctions }), [])
    t.same(problemsOf({ upstream: near, auth: 'gateway' }), [])
    t.same(problemsOf({ upstream: 'http://web:8080/camunda' }), [])
  },
)
