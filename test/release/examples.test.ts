import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { z } from 'zod'
import { bpmnOf } from '../../sandbox/bpmn.ts'
import { review } from '../../sandbox/models.ts'
import { promtoolSkip } from '../support/requirements.ts'

const ROOT = join(import.meta.dirname, '../..')
const COMPOSE = join(ROOT, 'examples/compose')
const textOf = (file: string) => readFileSync(join(COMPOSE, file), 'utf8')

const mount = z.union([
  z.string().transform((text) => text.split(':')[0] ?? ''),
  z.object({ source: z.string() }).transform(({ source }) => source),
])
const service = z.object({
  image: z.string(),
  build: z.object({ context: z.string() }).optional(),
  ports: z.array(z.string()).default([]),
  networks: z.array(z.string()),
  volumes: z.array(mount).default([]),
  user: z.string().optional(),
  read_only: z.literal(true),
  cap_drop: z.tuple([z.literal('ALL')]),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]),
  healthcheck: z.object({ test: z.array(z.string()).min(2) }),
  mem_limit: z.string(),
})
const file = z.object({
  services: z.record(z.string(), service),
  networks: z.record(z.string(), z.object({ internal: z.boolean().optional() }).nullable()),
  volumes: z.record(z.string(), z.null()),
})
// Merge keys, `<<`, are part of YAML 1.1.
const { services, networks, volumes } = file.parse(parse(textOf('compose.yaml'), { merge: true }))

t.test('each container is hardened, has a fixed version, and is published only on localhost', (t) => {
  for (const [name, { image, build, ports, user }] of Object.entries(services)) {
    t.match(image, /:[\w.-]*\d+\.\d+\.\d+/, `${name}: ${image}`)
    for (const port of ports) t.match(port, /^127\.0\.0\.1:\d+:\d+$/, `${name}: ${port}`)
    // The image of the project itself sets a user other than root.
    if (build === undefined) t.notMatch(user ?? 'root', /^(root|0)(:|$)/, `${name}: ${user}`)
  }
  t.end()
})

t.test('only the gateway reaches the engine and Redis, and they reach nothing else', (t) => {
  for (const inner of ['engine', 'redis']) {
    const own = services[inner]
    t.same({ ports: own?.ports, networks: own?.networks }, { ports: [], networks: [inner] })
    t.same(networks[inner], { internal: true })
    const others = Object.entries(services).filter(
      ([name, one]) => name !== inner && one.networks.includes(inner),
    )
    t.same(
      others.map(([name]) => name),
      ['gateway'],
    )
  }
  t.end()
})

t.test('mounted files exist, and the alerts and the dashboard are those of the chart', (t) => {
  const sources = Object.values(services).flatMap((one) => one.volumes)
  const [files, named] = [sources.filter(isFile), sources.filter((source) => !isFile(source))]
  t.same(named.toSorted(), Object.keys(volumes).toSorted())
  t.same(
    files.filter((source) => !existsSync(join(COMPOSE, source))),
    [],
  )
  const outside = files.map((source) => relative(ROOT, join(COMPOSE, source))).filter(isOfChart)
  t.same(outside, ['helm/engine-gateway/files/alerts.yaml', 'helm/engine-gateway/files/dashboard.json'])
  t.end()
})

function isFile(source: string): boolean {
  return source.startsWith('.')
}

function isOfChart(path: string): boolean {
  return path.startsWith('helm/')
}

t.test('the example contains no secret and does not start without its secrets', (t) => {
  const needed = new Set([...textOf('compose.yaml').matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name))
  const named = [...textOf('.env.example').matchAll(/^(\w+)=(.*)$/gm)]
  t.same(
    named.map(([, name]) => name),
    [...needed],
  )
  t.same(
    named.filter(([, , value]) => value !== ''),
    [],
  )
  const ignored = ['.env', 'gateway/users.yaml'].map((name) => `examples/compose/${name}`)
  t.same(execFileSync('git', ['check-ignore', ...ignored], { cwd: ROOT, encoding: 'utf8' }).split('\n'), [
    ...ignored,
    '',
  ])
  t.end()
})

const SECRETS = ['ADMIN_TOKEN', 'REDIS_SIGNING_KEY'].map((name) => `${name}=${name.padEnd(48, '-')}`)

/** Runs `check` of the gateway on the files of the example, with these users. */
function check(folder: string, users: string): { readonly status: number | null; readonly said: string } {
  cpSync(join(COMPOSE, 'gateway'), folder, { recursive: true })
  writeFileSync(join(folder, 'users.yaml'), users)
  const command = [
    process.execPath,
    join(ROOT, 'src/main.ts'),
    'check',
    '--config',
    join(folder, 'gateway.yaml'),
  ]
  const settings = ['-u', 'NODE_OPTIONS', ...SECRETS, 'REDIS_URL=redis://:p@redis:6379']
  const { status, stdout, stderr } = spawnSync('env', [...settings, ...command], { encoding: 'utf8' })
  return { status, said: stdout + stderr }
}

t.test('the configuration of the example is valid when its users have passwords', (t) => {
  const example = textOf('gateway/users.example.yaml')
  t.match(check(t.testdir(), example), { status: 1, said: /users\[0\]\.passwordHash/ })
  const demo = readFileSync(join(ROOT, 'config/users.yaml'), 'utf8')
  const [hash = ''] = /\$argon2id[^"]+/.exec(demo) ?? []
  const good = check(t.testdir({}), example.replaceAll('"HASH",', `"${hash}",`))
  t.equal(good.status, 0)
  t.match(good.said, /^\S+ is good\n$/, 'without a warning')
  t.end()
})

function ofAdministrators(path: string): readonly unknown[] {
  const records: readonly { readonly groupId?: string }[] = parse(
    readFileSync(join(ROOT, path), 'utf8'),
  ).authorizations
  return records.filter(({ groupId }) => groupId === 'camunda-admin')
}

t.test('administrators have the records of config/authorizations.yaml', (t) => {
  t.ok(ofAdministrators('config/authorizations.yaml').length > 20)
  t.same(
    ofAdministrators('examples/compose/gateway/authorizations.yaml'),
    ofAdministrators('config/authorizations.yaml'),
  )
  t.end()
})

t.test('Prometheus accepts its configuration with the alerts', { skip: promtoolSkip }, (t) => {
  const folder = t.testdir({ token: 'x' })
  cpSync(join(ROOT, 'helm/engine-gateway/files/alerts.yaml'), join(folder, 'alerts.yaml'))
  const config = textOf('prometheus.yml')
  t.match(config, '/tmp/admin-token')
  writeFileSync(join(folder, 'prometheus.yml'), config.replace('/tmp/admin-token', join(folder, 'token')))
  const said = execFileSync('promtool', ['check', 'config', join(folder, 'prometheus.yml')], {
    encoding: 'utf8',
  })
  t.match(said, /1 rule files found[\s\S]*SUCCESS: \d+ rules found/)
  t.end()
})

t.test('Grafana has one data source, of the type that the dashboard requires', (t) => {
  const { datasources } = parse(textOf('grafana/datasource.yaml'))
  const dashboard = JSON.parse(readFileSync(join(ROOT, 'helm/engine-gateway/files/dashboard.json'), 'utf8'))
  const variable = dashboard.templating.list.find(
    ({ type }: { readonly type: string }) => type === 'datasource',
  )
  t.match(datasources, [{ type: variable.query, isDefault: true }])
  t.same(
    [...JSON.stringify(dashboard).matchAll(/"type":"prometheus","uid":"([^"]+)"/g)].filter(
      ([, uid]) => uid !== `\${${variable.name}}`,
    ),
    [],
    'it names none itself',
  )
  const [provider] = parse(textOf('grafana/dashboards.yaml')).providers
  t.match(textOf('compose.yaml'), `dashboard.json:${provider.options.path}/`)
  t.end()
})

t.test(
  'the engine of the example is the tested release, and its process is the process of the sandbox',
  (t) => {
    const pom = readFileSync(join(ROOT, 'test/engine/app/pom.xml'), 'utf8')
    const [, version = '?'] = /<family\.version>([^<]+)</.exec(pom) ?? []
    t.equal(services['engine']?.image, `camunda/camunda-bpm-platform:run-${version}`)
    t.match(readFileSync(join(ROOT, 'docs/getting-started.md'), 'utf8'), services['engine']?.image)
    t.equal(readFileSync(join(ROOT, 'examples/review.bpmn'), 'utf8').trimEnd(), bpmnOf(review).trimEnd())
    t.end()
  },
)
