import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import t from 'tap'
import { OPERATIONS } from '../src/operations/all.ts'

const SOURCE = new URL('../src/', import.meta.url).pathname

interface Source {
  /** Below src: `policy/decide.ts`. */
  readonly file: string
  readonly text: string
  /** Below src for our own, else the name of the package. */
  readonly imports: readonly string[]
}

const FILES: readonly Source[] = globSync('**/*.ts', { cwd: SOURCE }).map((file) => {
  const text = readFileSync(join(SOURCE, file), 'utf8')
  const specifiers = [
    ...text.matchAll(
      /^(?:import|export)\b[^'"]*?\bfrom '([^']+)'|\bimport\('([^']+)'\)|^import '([^']+)'/gms,
    ),
  ]
  const imports = specifiers.map(([, from, late, bare]) => resolved(file, from ?? late ?? bare ?? ''))
  return { file, text, imports }
})

function resolved(file: string, specifier: string): string {
  return specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : packageOf(specifier)
}

/** Without the path of one of its modules. */
function packageOf(specifier: string): string {
  const [first = '', second = ''] = specifier.split('/')
  return first.startsWith('@') ? `${first}/${second}` : first
}

/**
 * The layers, from the top down: a file imports from its own layer and from those below. A folder that is not named here
 * has no layer, and a file in it fails.
 */
const LAYERS = [
  'main.ts',
  'cli',
  'workers',
  'server',
  'assembly',
  'status',
  'gateway.ts',
  'handlers',
  'handlers/selection',
  'handlers/rows',
  'pipeline',
  'policy/authz/explain',
  'policy/authz',
  'policy/authz/rows',
  'policy/authz/checks',
  'policy/authz/entities',
  'policy/authz/decision',
  'policy/authz/records',
  'policy/authn',
  'policy/validation',
  'policy/validation/schemas',
  'policy/limits',
  'proxy',
  'proxy/long-polls',
  'proxy/attempts',
  'proxy/nodes',
  'proxy/passthrough',
  'proxy/wire',
  'cache',
  'idempotency',
  'gauges',
  'metrics',
  'traces',
  'redis',
  'tls',
  'request',
  'files',
  'config',
  'operations',
  'operations/rows',
  'sandbox',
  'errors.ts',
  'log.ts',
] as const

/** Layers that stand beside one another: with all that is below their folder they import nothing of each other. */
const SIBLINGS = [
  'policy/authn',
  'policy/validation',
  'policy/limits',
  'proxy',
  'cache',
  'idempotency',
  'gauges',
  'metrics',
  'traces',
]

/** Layers whose rows are written in the words of the layer above. */
const TYPES_FROM_ABOVE: Readonly<Record<string, readonly string[]>> = { 'operations/rows': ['operations'] }

/** Packages that only some layers may import, with all that is below their folder. */
const ONLY_IN: Readonly<Record<string, readonly string[]>> = {
  undici: ['proxy'],
  ioredis: ['redis'],
  'prom-client': ['metrics'],
  zod: ['config', 'files'],
  bcrypt: ['policy/authn'],
  '@node-rs/argon2': ['policy/authn'],
  jose: ['policy/authn'],
  pino: ['log.ts'],
  saxes: ['policy/authz/entities'],
  '@opentelemetry/api': ['traces'],
  '@opentelemetry/core': ['traces'],
  '@opentelemetry/otlp-exporter-base': ['traces'],
  '@opentelemetry/otlp-transformer': ['traces'],
  '@opentelemetry/resources': ['traces'],
  '@opentelemetry/sdk-trace': ['traces'],
}

/** The folder of a file, or the file itself where it stands at the root. */
function layerOf(file: string): string {
  return file.includes('/') ? dirname(file) : file
}

function isWithin(file: string, layers: readonly string[]): boolean {
  return layers.some((layer) => file === layer || file.startsWith(`${layer}/`))
}

function where(claim: (source: Source) => boolean): readonly string[] {
  return FILES.filter(claim).map(({ file }) => file)
}

t.test('there is something to look at', (t) => {
  t.ok(FILES.length > 200)
  t.ok(FILES.some(({ file, imports }) => file === 'gateway.ts' && imports.includes('pipeline/match.ts')))
  t.end()
})

t.test('every file belongs to a named layer', (t) => {
  t.same(
    where(({ file }) => !LAYERS.some((layer) => layer === layerOf(file))),
    [],
  )
  t.same(
    LAYERS.filter((layer) => !FILES.some(({ file }) => layerOf(file) === layer)),
    [],
  )
  t.end()
})

const DEPTHS = new Map<string, number>(LAYERS.map((layer, depth) => [layer, depth]))

t.test('imports lead down', (t) => {
  for (const { file, imports } of FILES) {
    const depth = DEPTHS.get(layerOf(file)) ?? -1
    const allowed = TYPES_FROM_ABOVE[layerOf(file)] ?? []
    t.same(
      imports.filter(
        (name) =>
          name.endsWith('.ts') &&
          (DEPTHS.get(layerOf(name)) ?? -1) < depth &&
          !allowed.includes(layerOf(name)),
      ),
      [],
      file,
    )
  }
  t.end()
})

t.test('siblings do not know one another', (t) => {
  for (const { file, imports } of FILES) {
    const own = SIBLINGS.find((layer) => isWithin(file, [layer]))
    if (own === undefined) continue
    const others = SIBLINGS.filter((layer) => layer !== own)
    t.same(
      imports.filter((name) => isWithin(name, others)),
      [],
      file,
    )
  }
  t.end()
})

t.test('there are no import cycles', (t) => {
  const imports = new Map(FILES.map((source) => [source.file, source.imports]))
  const finished = new Set<string>()
  const cycles: string[] = []
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' → '))
    if (path.includes(file) || finished.has(file)) return
    for (const name of imports.get(file) ?? []) if (imports.has(name)) visit(name, [...path, file])
    finished.add(file)
  }
  for (const file of imports.keys()) visit(file, [])
  t.same(cycles, [])
  t.end()
})

t.test('no two files have one name, and no two exports', (t) => {
  const files = FILES.map(({ file }) => file).filter(
    (file) => !isWithin(file, ['operations/rows', 'sandbox']),
  )
  t.same(twice(files.map((file) => basename(file))), [])
  const exported = FILES.filter(({ file }) => !isWithin(file, ['sandbox'])).flatMap(({ text }) => [
    ...text.matchAll(/^export (?:abstract )?(?:async )?(?:function\*?|class|const|interface|type) (\w+)/gm),
  ])
  t.same(twice(exported.map(([, name = '']) => name)), [])
  t.end()
})

function twice(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))].sort()
}

t.test('no operation is known by its id outside the table', (t) => {
  const ids = new Set(OPERATIONS.map(({ id }) => id))
  for (const { file, text } of FILES) {
    // One operation is called `interval`, which is a setting, too.
    if (isWithin(file, ['config', 'operations', 'sandbox'])) continue
    const quoted = [...text.matchAll(/'(\w+)'/g)].map(([, name = '']) => name)
    t.same(
      quoted.filter((name) => ids.has(name)),
      [],
      file,
    )
  }
  t.end()
})

t.test('nobody imports the process, and it alone the commands', (t) => {
  t.same(
    where(({ imports }) => imports.includes('main.ts')),
    [],
  )
  t.same(
    where(
      ({ file, imports }) =>
        file !== 'main.ts' && imports.some((name) => isWithin(name, ['cli'])) && !isWithin(file, ['cli']),
    ),
    [],
  )
  t.end()
})

t.test('the sandbox is for the demo and the tests', (t) => {
  const importing = where(
    ({ file, imports }) =>
      !isWithin(file, ['sandbox']) && imports.some((name) => isWithin(name, ['sandbox'])),
  )
  t.same(importing, ['cli/demo.ts', 'cli/sandbox-command.ts'])
  t.end()
})

for (const [name, layers] of Object.entries(ONLY_IN)) {
  t.test(`${name} is known only to ${layers.join(' and ')}`, (t) => {
    const importing = where(({ imports }) => imports.includes(name))
    t.ok(importing.length > 0)
    t.same(
      importing.filter((file) => !isWithin(file, layers)),
      [],
    )
    t.end()
  })
}

t.test('every package that is imported is a dependency, and the other way round', (t) => {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const imported = new Set(
    FILES.flatMap(({ imports }) => imports).filter(
      (name) => !name.endsWith('.ts') && !name.startsWith('node:'),
    ),
  )
  t.same([...imported].sort(), Object.keys(Object(Object(manifest).dependencies)).sort())
  t.end()
})

t.test('the environment is read in config/config.ts alone', (t) => {
  t.same(
    where(({ text }) => /\bprocess\.env\b/.test(text)),
    ['config/config.ts'],
  )
  t.end()
})

t.test('signals and the exit are the command line’s', (t) => {
  t.same(where(({ text }) => /\bprocess\.(exit\b|exitCode|once|on)\b/.test(text)).toSorted(), [
    'cli/command-line.ts',
    'cli/until-signal.ts',
    'main.ts',
  ])
  t.end()
})

t.test('exports are named', (t) => {
  t.same(
    where(({ text }) => /^export default\b|\bas default\b/m.test(text)),
    [],
  )
  t.end()
})

t.test('nothing is written to be erased at build time only', (t) => {
  t.same(
    where(({ text }) => /^\s*(?:export )?(?:const )?enum \w|^\s*(?:export )?namespace \w/m.test(text)),
    [],
  )
  t.end()
})

t.test('files are kebab-case, and named for what they hold', (t) => {
  for (const { file } of FILES) {
    for (const name of file.replace(/\.ts$/, '').split('/')) {
      t.match(name, /^[a-z0-9]+(-[a-z0-9]+)*$/, file)
      t.notMatch(name, /^(index|utils?|helpers?|common|types|misc)$/, file)
    }
  }
  t.end()
})

t.test('nothing is held at the level of a module that could change', (t) => {
  t.same(
    where(({ text }) => /^(?:export )?let /m.test(text)),
    [],
  )
  t.end()
})

const page = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')

t.test('CONTRIBUTING lists the layers of each package', (t) => {
  const rows = [...page('CONTRIBUTING.md').matchAll(/^ +\| `([^`]+)` \| (`[^|]+`) \|$/gm)]
  const listed = rows.map(([, name, layers = '']) => [name, layers.replaceAll('`', '').split(', ')])
  t.same(Object.fromEntries(listed), ONLY_IN)
  t.end()
})

t.test('the page on the architecture names every layer or the folder around it', (t) => {
  const named = new Set(
    [...page('docs/architecture.md').matchAll(/`src\/([\w./-]+)`/g)].map(([, name]) => name),
  )
  const isNamed = (layer: string): boolean =>
    named.has(layer) || (layer.includes('/') && isNamed(dirname(layer)))
  t.same(
    LAYERS.filter((layer) => !isNamed(layer)),
    [],
  )
  t.end()
})
