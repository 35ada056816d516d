import t from 'tap'
import { loadSettings, problemsIn, settingsWith } from '../support/config-file.ts'

type Settings = Readonly<Record<string, unknown>>
type Case = readonly [settings: Settings, ...problems: readonly string[]]

const pressure = (memory: unknown) => ({ limits: { pressure: { memory } } })
const users = (x: unknown) => ({ limits: { rate: { requests: 1, users: { x } } } })
const engines = (own: Settings) => settingsWith({}, own)
const CREDENTIALS =
  'engines.default.credentials: none, forward, { username, password } or { header, sign } is needed'
const SOURCE = '{ source: file, file }, { source: htpasswd, file } or { source: engine } is needed'

const NETWORK = 'an address or a network like 10.0.0.0/8 or 2001:db8::/32 is needed'
const ORIGIN = 'write it as in the Origin header: https://NAME or https://NAME:PORT'
const listen = (key: string, values: readonly string[], problem: string): readonly Case[] =>
  values.map((value) => [{ listen: { [key]: [value] } }, `listen.${key}[0]: ${problem}`])

const TOKEN = '16 to 1,024 visible ASCII characters are needed'
const TOLD: readonly Case[] = [
  [{ admin: { token: 'too-short' } }, `admin.token: ${TOKEN}`],
  [{ admin: { token: 'with a blank in between' } }, `admin.token: ${TOKEN}`],
  [{ admin: { hosts: ['gateway:9090'] } }, 'admin.hosts[0]: a name without a port is needed'],
  ...listen('trustedProxies', ['ingress', '10.0.0.0/33', '0.0.0.0/0', '10.0.0.0/8/8', '10.0.0/8'], NETWORK),
  ...listen('trustedProxies', ['::/0', '2001:db8::/129', '::ffff:10.0.0.0/104', 'fe80::1%eth0', ''], NETWORK),
  ...listen(
    'allowedOrigins',
    ['app.example', 'https://app.example/', 'ftp://app.example', '*', 'null'],
    ORIGIN,
  ),
  ...['*', 'null', 'app.example', 'https://*.example', 'https://app.example/'].map(
    (value): Case => [{ cors: { origins: [value] } }, `cors.origins[0]: ${ORIGIN}`],
  ),
  [{ cors: { origins: [] } }, 'cors.origins: at least one origin is needed'],
  [
    { cors: { origins: ['https://app.example'], allowedHeaders: ['*'] } },
    'cors.allowedHeaders[0]: the name of a header is needed; there is no wildcard',
  ],
  [
    { listen: { publicUrl: 'https://a:b@api.example' } },
    'listen.publicUrl: the URL must not contain a user or password: responses contain the URL',
  ],
  [{ listen: { publicUrl: 'api.example' } }, 'listen.publicUrl: an http:// or https:// URL is needed'],
  [{ admin: { port: 'abc' } }, 'admin.port: a whole number from 0 to 65535 is needed'],
  [{ admin: { port: '70000' } }, 'admin.port: a whole number from 0 to 65535 is needed'],
  [{ workers: 1.5 }, 'workers: a whole number from 1 to 64 is needed'],
  [engines({ credentials: 'forwrd' }), CREDENTIALS],
  [engines({ credentials: { username: 'a' } }), 'engines.default.credentials.password: is missing'],
  [users('forever'), 'limits.rate.users.x: unlimited or { requests, per, burst } is needed'],
  [pressure('2TiB'), 'limits.pressure.memory: a share like 70% or a size like 400MiB is needed'],
  [{ timeouts: { body: 30 } }, 'timeouts.body: write it like 30s'],
  [{ engines: { 'bad name/': {} } }, 'engines.(key 1): 1 to 64 letters, digits, - and _'],
  [
    { cache: { signingKeys: ['x'.repeat(31)] } },
    'cache.signingKeys[0]: at least 32 characters are needed, for example the output of `openssl rand -base64 32`',
  ],
  [
    { cache: { signingKeys: Array.from({ length: 5 }, () => 'x'.repeat(32)) } },
    'cache.signingKeys: at most 4 keys are permitted',
  ],
  [
    { cache: { redis: 'http://x' } },
    'cache.redis: a redis:// or rediss:// URL, { url }, { sentinel }, { cluster } or null is needed',
  ],
  [
    { passthrough: [{ prefix: 'app/', upstream: 'http://web' }] },
    'passthrough[0].prefix: write it like /app, without a slash at its end and without .. in it',
  ],
  ...['health', '', 'http://web/health', '/health?token=x', '/health#x', '/a b', '/ä', '/a\r\nb'].map(
    (probe): Case => [
      { passthrough: [{ prefix: '/app', upstream: 'http://web', probe }] },
      'passthrough[0].probe: write it like /app/health, without ? and without #',
    ],
  ),
  [{ identity: { source: 'nowhere' } }, `identity.source: ${SOURCE}`],
  [{ identity: undefined }, `identity: ${SOURCE}`],
]

t.test('an invalid value is reported with the valid ones', async (t) => {
  for (const [settings, ...problems] of TOLD)
    t.same(problemsIn(t, settingsWith(settings)), problems, JSON.stringify(settings))
  t.same(problemsIn(t, ''), ['(the file): is empty'])
  t.same(problemsIn(t, '[]'), ['(the file): must have keys and values'])
})

t.test('a URL with credentials, a query or a fragment is refused', async (t) => {
  const [USER, REST] = [/: the URL must not contain a user or password/, /: the URL must not contain \? or #/]
  const nodeProblems = (node: unknown) => problemsIn(t, engines({ nodes: [node] }))
  t.match(nodeProblems('http://u:hunter2@host/engine-rest'), [USER])
  t.match(nodeProblems({ url: 'http://u@host/engine-rest' }), [USER])
  for (const end of ['?x=1', '#f', '?', '#']) t.match(nodeProblems(`http://host/engine-rest${end}`), [REST])
  const both = problemsIn(
    t,
    settingsWith({ passthrough: [{ prefix: '/app', upstream: 'http://u:hunter2@web?x' }] }),
  )
  t.match(both, [USER, REST])
  t.notMatch([...nodeProblems('http://u:hunter2@host?x'), ...both].join(), 'hunter2')
  for (const good of ['http://host', 'https://[::1]:8443/a/b', 'http://host/~a/@b'])
    t.same(nodeProblems(good), [])
})

t.test('the remote name of an engine has at most 64 letters, digits, dashes and underscores', async (t) => {
  for (const remoteName of ['a/../b', '', 'a b', '..', 'a'.repeat(65)])
    t.match(
      problemsIn(t, engines({ remoteName })),
      [/^engines\.default\.remoteName: 1 to 64 letters/],
      remoteName,
    )
  t.same(problemsIn(t, engines({ remoteName: 'orders_2-b' })), [])
})

t.test('zero is refused for sizes and durations that would disable the gateway', async (t) => {
  const [ms, bytes] = ['must be at least 1ms', 'must be at least 1B']
  const zeros = {
    limits: { body: '0MiB', deploymentBody: '0B', queue: { wait: '0s' }, pressure: { memory: '0B' } },
    timeouts: { connect: '0s', headers: '0s', body: '0s', response: '0s', request: '0s' },
    health: { timeout: '0s' },
    identity: { source: 'engine', pause: '0s' },
    authorization: { records: { source: 'engine', refresh: '0s' } },
  }
  t.strictSame(
    problemsIn(t, settingsWith(zeros)).toSorted(),
    [
      ...['body', 'deploymentBody'].map((key) => `limits.${key}: ${bytes}`),
      'limits.pressure.memory: must be at least 1B',
      `limits.queue.wait: ${ms}`,
      ...['connect', 'headers', 'body', 'response', 'request'].map((key) => `timeouts.${key}: ${ms}`),
      `health.timeout: ${ms}`,
      `identity.pause: ${ms}`,
      `authorization.records.refresh: ${ms}`,
    ].toSorted(),
  )
})

t.test('zero is accepted for sizes and durations where it has a meaning', async (t) => {
  const zeros = {
    cache: { memory: { maxBytes: '0B' } },
    timeouts: { drain: '0s' },
    identity: { source: 'file', file: 'u', remember: '0s', rememberFailures: '0s', staleAfter: '0s' },
  }
  t.match(loadSettings(t, settingsWith(zeros)), {
    cache: { memory: { maxBytes: 0 } },
    timeouts: { drain: 0 },
    identity: { remember: 0, rememberFailures: 0, staleAfter: 0 },
  })
})

t.test('a variable whose value looks like a variable is not a valid amount', async (t) => {
  const settings = settingsWith({ timeouts: { body: '${A}' }, limits: { body: '${A}' } })
  t.equal(problemsIn(t, settings, { A: '${B}' }).length, 2)
})

t.test('a served host is a name with an optional port', async (t) => {
  const hosts = [
    'gateway',
    'gateway.example:8080',
    '[::1]:8080',
    '10.0.0.1',
    '',
    'http://x',
    '*',
    'a/b',
    'a:b',
  ]
  t.same(
    problemsIn(t, settingsWith({ hosts })),
    [4, 5, 6, 7, 8].map((at) => `hosts[${at}]: write it as in the Host header: NAME or NAME:PORT`),
  )
})

t.test('a probe may have any path that can be sent', async (t) => {
  for (const probe of ['/', '/health', '/a/b-c.d_e~f/%20;x=y@z/'])
    t.match(
      loadSettings(t, settingsWith({ passthrough: [{ prefix: '/app', upstream: 'http://web', probe }] })),
      {
        passthrough: [{ probe }],
      },
    )
})
