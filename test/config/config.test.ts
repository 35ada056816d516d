import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ConfigError, loadConfig } from '../../src/config/config.ts'

const GOOD = `
version: 1
engines: { default: { nodes: [http://engine:8080/engine-rest] } }
identity: { source: file, file: users.yaml }
authorization: { records: { source: file, file: authorizations.yaml } }
`

function fileOf(t: Test, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'engine-gateway-config-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'gateway.yaml')
  writeFileSync(file, text)
  return file
}

function problemsOf(t: Test, text: string, extra: NodeJS.ProcessEnv = {}): readonly string[] {
  try {
    loadConfig(fileOf(t, text), extra)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

t.test('a minimal file is completed with safe defaults', async (t) => {
  const config = loadConfig(fileOf(t, GOOD))
  t.match(config, {
    listen: { host: '127.0.0.1', port: 8080 },
    admin: { host: '127.0.0.1', port: 9090 },
    basePath: '/engine-rest',
    authorization: { mode: 'enforce', tenants: 'check' },
    validation: { mode: 'enforce', allow: [], scripts: 'report' },
    engines: { default: { credentials: 'none' } },
    limits: { body: 2 * 1024 ** 2 },
  })
})

t.test('a node is a URL, or a URL with weight and drain', async (t) => {
  const nodes = '[http://a/engine-rest, { url: "http://b/engine-rest", weight: "${WEIGHT}", drain: true }]'
  const config = loadConfig(fileOf(t, GOOD.replace('[http://engine:8080/engine-rest]', nodes)), {
    WEIGHT: '0.5',
  })
  t.same(config.engines['default']?.nodes, [
    { url: 'http://a/engine-rest', weight: 1, drain: false, group: null },
    { url: 'http://b/engine-rest', weight: 0.5, drain: true, group: null },
  ])
  t.same(config.health, { probe: true, interval: 5000, timeout: 2000, maxEjection: 60_000 })
})

t.test('file names are resolved relative to the configuration file', async (t) => {
  const file = fileOf(t, GOOD)
  t.match(loadConfig(file), { identity: { file: join(file, '../users.yaml') } })
})

const BROKEN: readonly (readonly [name: string, text: string, problem: string | RegExp])[] = [
  [
    'an unknown key is named with the keys that are known there',
    `${GOOD}cahce: {}\n`,
    /^cahce: unknown key \(allowed: version, /,
  ],
  [
    'an unknown key deep inside is named with its path',
    GOOD.replace('rest]', 'rest], nods: 1'),
    /^engines\.default\.nods: unknown key/,
  ],
  [
    'a node that is no URL is named',
    GOOD.replace('http://engine:8080/engine-rest', 'engine'),
    /^engines\.default\.nodes\[0\]: /,
  ],
  [
    'an unknown key of a node is named with the keys that are known there',
    GOOD.replace('[http://engine:8080/engine-rest]', '[{ url: "http://e/engine-rest", drian: true }]'),
    'engines.default.nodes[0].drian: unknown key (allowed: url, weight, drain, group)',
  ],
  [
    'a weight that would starve a node is refused',
    GOOD.replace('[http://engine:8080/engine-rest]', '[{ url: "http://e/engine-rest", weight: 0 }]'),
    /^engines\.default\.nodes\[0\]\.weight: /,
  ],
  [
    'a node that is neither URL nor section is told the way to write it',
    GOOD.replace('[http://engine:8080/engine-rest]', '[8080]'),
    'engines.default.nodes[0]: a URL or { url, weight, drain, group } is needed',
  ],
  [
    'probes without a pause are refused',
    `${GOOD}health: { interval: 0ms }\n`,
    'health.interval: must be at least 500ms',
  ],
  [
    'a duration that no timer can wait is refused',
    `${GOOD}timeouts: { drain: 597h }\n`,
    'timeouts.drain: must be at most 596h',
  ],
  [
    'so is a refresh, which would be one without a pause',
    GOOD.replace(
      '{ source: file, file: authorizations.yaml }',
      '{ source: engine, refresh: 720h, staleAfter: 900h }',
    ),
    'authorization.records.refresh: must be at most 596h',
  ],
  [
    'an interval leaves room for the tenth that may come to it',
    `${GOOD}health: { interval: 501h }\n`,
    'health.interval: must be at most 500h',
  ],
  [
    'a size with another unit is told the way to write it',
    `${GOOD}limits: { body: 2GB }\n`,
    'limits.body: write it like 2MiB',
  ],
  [
    'a duration without a unit is told the way to write it',
    `${GOOD}timeouts: { drain: "20" }\n`,
    'timeouts.drain: write it like 30s',
  ],
  [
    'a variable that is not set is named with its place',
    `${GOOD}hosts: ["\${NO_SUCH_HOST}"]\n`,
    /^hosts\[0\]: the environment variable NO_SUCH_HOST is not set/,
  ],
  [
    'a file that cannot be read is named with its place',
    `${GOOD}hosts: ["\${file:nosuch}"]\n`,
    /^hosts\[0\]: the file nosuch cannot be read/,
  ],
  [
    'a secured engine needs the callers of its requests',
    GOOD.replace('{ records', '{ mode: engine, records'),
    /^engines\.default\.credentials: must be forward/,
  ],
]

for (const [name, text, problem] of BROKEN)
  t.test(name, async (t) => {
    t.match(problemsOf(t, text), [problem])
  })

t.test('a timer duration is at most 596h, and one compared with a clock may be longer', async (t) => {
  const text = `${GOOD.replace('users.yaml', 'users.yaml, remember: 900h, staleAfter: 900h')}
idempotency: { keep: 900h }
limits: { rate: { requests: 1, per: 720h } }
timeouts: { drain: 596h }
`
  const hour = 3_600_000
  t.match(loadConfig(fileOf(t, text)), {
    identity: { remember: 900 * hour, staleAfter: 900 * hour },
    idempotency: { keep: 900 * hour },
    limits: { rate: { per: 720 * hour } },
    timeouts: { drain: 596 * hour },
  })
})

t.test(
  'a credential is remembered longer if its user is in a file, because no change of a file is missed',
  async (t) => {
    const sources = ['file, file: users.yaml', 'htpasswd, file: htpasswd', 'engine']
    const remembered = sources.map(
      (source) => loadConfig(fileOf(t, GOOD.replace('file, file: users.yaml', source))).identity.remember,
    )
    t.strictSame(remembered, [3_600_000, 3_600_000, 5_000])
  },
)

t.test('all problems are reported at once', async (t) => {
  t.equal(problemsOf(t, `${GOOD.replace('version: 1', 'version: 2')}foo: 1\nbar: 2\n`).length, 3)
})

t.test('a problem does not show the value, because it may be a secret', async (t) => {
  const secret = `${GOOD}cache: { redis: "hunter2:\${SECRET}" }\n`
  t.notMatch(JSON.stringify(problemsOf(t, secret, { SECRET: 'hunter2' })), /hunter2/)
})

t.test('variables, defaults and files are converted to the type of the setting', async (t) => {
  const text = `${GOOD}listen: { host: "\${HOST:-0.0.0.0}", port: "\${SOME_PORT}" }\n`
  t.match(loadConfig(fileOf(t, text), { SOME_PORT: '8181' }), { listen: { host: '0.0.0.0', port: 8181 } })
})

t.test('a section of an engine replaces the general section', async (t) => {
  const text = GOOD.replace(
    'rest] }',
    'rest], authorization: { mode: report, records: { source: file, file: other.yaml } } }',
  )
  const file = fileOf(t, text)
  t.match(loadConfig(file).engines['default'], {
    authorization: { mode: 'report', records: { file: join(file, '../other.yaml') } },
  })
})
