import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import t from 'tap'
import { OPERATIONS } from '../src/operations/all.ts'

const SOURCE = new URL('../src/', import.meta.url).pathname
const SANDBOX = new URL('../sandbox/', import.meta.url).pathname

interface Source {
  /** Path relative to src, for example `policy/decide.ts`. */
  readonly file: string
  readonly text: string
  /** Path relative to src for own files, otherwise the name of the package. */
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

/** Returns the name of a package without the path of a module in it. */
function packageOf(specifier: string): string {
  const [first = '', second = ''] = specifier.split('/')
  return first.startsWith('@') ? `${first}/${second}` : first
}

/**
 * The layers from top to bottom. A file imports from its own layer and from the layers below. A folder that is missing
 * here has no layer, and the test fails for each file in it. All features are one layer, but their settings are below the
 * configuration, which contains them.
 */
const LAYERS = [
  'main.ts',
  'cli',
  'workers',
  'server',
  'assembly',
  'parsing',
  'transfer',
  'move',
  'status',
  'features.ts',
  'gateway.ts',
  'handlers',
  'handlers/selection',
  'handlers/lists',
  'features',
  'feature.ts',
  'component.ts',
  'pipeline',
  'mcp',
  'explain',
  'lists/answer',
  'lists/merge',
  'lists/postfilter',
  'lists/prefilter',
  'lists/rewrite',
  'lists/facts',
  'lists',
  'policy/authz',
  'policy/authz/visibility',
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
  'proxy/compare',
  'proxy/nodes',
  'proxy/passthrough',
  'proxy/wire',
  'cache',
  'idempotency',
  'metrics',
  'traces',
  'api-document',
  'redis',
  'tls',
  'request',
  'files',
  'config',
  'feature-settings.ts',
  'features/*/settings.ts',
  'config/values.ts',
  'config/engine-surroundings.ts',
  'operations',
  'operations/tags',
  'operations/published',
  'errors.ts',
  'log.ts',
  'log-destination.ts',
] as const

/** Sibling layers. They and their subfolders import nothing from each other. */
const SIBLINGS = [
  'policy/authn',
  'policy/validation',
  'policy/limits',
  'proxy',
  'cache',
  'idempotency',
  'metrics',
  'traces',
]

/** Layers whose rows are written with the types of the layer above. */
const TYPES_FROM_ABOVE: Readonly<Record<string, readonly string[]>> = { 'operations/tags': ['operations'] }

/** Packages that only some layers and their subfolders may import. */
const ONLY_IN: Readonly<Record<string, readonly string[]>> = {
  commander: ['cli'],
  undici: ['proxy'],
  ioredis: ['redis'],
  'prom-client': ['metrics'],
  zod: ['config', 'files', 'feature-settings.ts', 'features'],
  bcrypt: ['policy/authn'],
  '@node-rs/argon2': ['policy/authn'],
  jose: ['policy/authn'],
  pino: ['log.ts'],
  saxes: ['policy/validation'],
  '@modelcontextprotocol/server': ['mcp'],
  '@opentelemetry/api': ['traces'],
  '@opentelemetry/core': ['traces'],
  '@opentelemetry/otlp-exporter-base': ['traces'],
  '@opentelemetry/otlp-transformer': ['traces'],
  '@opentelemetry/resources': ['traces'],
  '@opentelemetry/sdk-trace': ['traces'],
}

/** Returns the folder of a file, or the file itself if it is at the root or named in `LAYERS`. */
function layerOf(file: string): string {
  if (/^features\/[^/]+\/settings\.ts$/.test(file)) return 'features/*/settings.ts'
  if (file.startsWith('features/')) return 'features'
  return LAYERS.some((layer) => layer === file) || !file.includes('/') ? file : dirname(file)
}

/** Returns the feature to which a file belongs, or null if it belongs to the core. */
function featureOf(file: string): string | null {
  return /^features\/([^/]+)\//.exec(file)?.[1] ?? null
}

function isWithin(file: string, layers: readonly string[]): boolean {
  return layers.some((layer) => file === layer || file.startsWith(`${layer}/`))
}

function where(claim: (source: Source) => boolean): readonly string[] {
  return FILES.filter(claim).map(({ file }) => file)
}

t.test('the architecture test finds the source files and their imports', (t) => {
  t.ok(FILES.length > 200)
  t.ok(
    FILES.some(
      ({ file, imports }) => file === 'gateway.ts' && imports.includes('pipeline/locate-request.ts'),
    ),
  )
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

t.test('a file imports only from its own layer and from layers below', (t) => {
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

t.test('sibling layers do not import each other', (t) => {
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

t.test('only the lists of features import features, and features do not import each other', (t) => {
  const lists = ['features.ts', 'feature-settings.ts']
  for (const { file, imports } of FILES)
    t.same(
      imports.filter((name) => ![null, featureOf(file)].includes(featureOf(name)) && !lists.includes(file)),
      [],
      file,
    )
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

t.test('file names and exported names are unique', (t) => {
  // Each feature has a file with these names.
  const ofEachFeature = ['feature.ts', 'settings.ts']
  const files = FILES.map(({ file }) => file).filter(
    (file) =>
      !isWithin(file, ['operations/tags']) &&
      !(featureOf(file) !== null && ofEachFeature.includes(basename(file))),
  )
  t.same(twice(files.map((file) => basename(file))), [])
  const exported = FILES.flatMap(({ text }) => [
    ...text.matchAll(/^export (?:abstract )?(?:async )?(?:function\*?|class|const|interface|type) (\w+)/gm),
  ])
  t.same(twice(exported.map(([, name = '']) => name)), [])
  t.end()
})

/** Matches the declaration of a type, exported or not, at any depth. An import of a type has no `=` and no `<` after the name. */
const TYPE_DECLARATION =
  /^\s*(?:export )?(?:declare )?(?:(?:abstract )?class|interface|type(?=\s+\w+\s*[=<]))\s+(\w+)/gm

t.test('no type name is declared in two files', (t) => {
  const filesOf = new Map<string, Set<string>>()
  for (const { file, text } of FILES)
    for (const [, name = ''] of text.matchAll(TYPE_DECLARATION))
      filesOf.set(name, (filesOf.get(name) ?? new Set()).add(file))
  t.ok(filesOf.size > 500)
  t.same(
    [...filesOf]
      .filter(([, files]) => files.size > 1)
      .map(([name, files]) => `${name} is declared in ${[...files].sort().join(' and in ')}`),
    [],
  )
  t.end()
})

function twice(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))].sort()
}

t.test('no operation is known by its id outside the table of operations', (t) => {
  const ids = new Set(OPERATIONS.map(({ id }) => id))
  for (const { file, text } of FILES) {
    // One operation is called `interval`, which is also the name of a setting.
    if (isWithin(file, ['config', 'operations'])) continue
    const quoted = [...text.matchAll(/'(\w+)'/g)].map(([, name = '']) => name)
    t.same(
      quoted.filter((name) => ids.has(name)),
      [],
      file,
    )
  }
  t.end()
})

t.test('lists are restricted without the framework and without the pipeline', (t) => {
  t.same(
    where(
      ({ file, imports }) =>
        isWithin(file, ['lists']) &&
        imports.some((name) => name === 'fastify' || isWithin(name, ['pipeline', 'handlers'])),
    ),
    [],
  )
  t.end()
})

t.test('every threshold of lists is in lists/limits.ts', (t) => {
  t.same(
    where(
      ({ file, text }) =>
        isWithin(file, ['lists', 'handlers/lists', 'handlers/selection']) &&
        /^(?:export )?const [A-Z][A-Z_]+ = [\d.]/m.test(text),
    ),
    ['lists/limits.ts'],
  )
  t.end()
})

t.test('main.ts is not imported, and only main.ts imports the commands', (t) => {
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

t.test('no file of src imports a file outside of src', (t) => {
  t.same(
    where(({ imports }) => imports.some((name) => name.startsWith('..'))),
    [],
  )
  t.end()
})

t.test('the engine of the sandbox imports nothing from the gateway', (t) => {
  const files = globSync('*.ts', { cwd: SANDBOX })
  t.ok(files.includes('sandbox.ts'))
  t.same(files.filter((file) => readFileSync(join(SANDBOX, file), 'utf8').includes("'../src/")).toSorted(), [
    'demo.ts',
    'main.ts',
  ])
  t.end()
})

for (const [name, layers] of Object.entries(ONLY_IN)) {
  t.test(`${name} is imported only in ${layers.join(' and ')}`, (t) => {
    const importing = where(({ imports }) => imports.includes(name))
    t.ok(importing.length > 0)
    t.same(
      importing.filter((file) => !isWithin(file, layers)),
      [],
    )
    t.end()
  })
}

t.test('every imported package is a dependency, and every dependency is imported', (t) => {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const imported = new Set(
    FILES.flatMap(({ imports }) => imports).filter(
      (name) => !/\.(ts|json)$/.test(name) && !name.startsWith('node:'),
    ),
  )
  t.same([...imported].sort(), Object.keys(Object(Object(manifest).dependencies)).sort())
  t.end()
})

t.test('the environment is read only in config/config.ts', (t) => {
  t.same(
    where(({ text }) => /\bprocess\.env\b/.test(text)),
    ['config/config.ts'],
  )
  t.end()
})

t.test(
  'signals and the exit code are handled only in the command line, and where lines are lost at the exit',
  (t) => {
    t.same(where(({ text }) => /\bprocess\.(exit\b|exitCode|once|on)\b/.test(text)).toSorted(), [
      'cli/command-line.ts',
      'cli/until-signal.ts',
      'log-destination.ts',
      'main.ts',
    ])
    t.end()
  },
)

t.test('all exports are named', (t) => {
  t.same(
    where(({ text }) => /^export default\b|\bas default\b/m.test(text)),
    [],
  )
  t.end()
})

t.test('enums and namespaces are not used', (t) => {
  t.same(
    where(({ text }) => /^\s*(?:export )?(?:const )?enum \w|^\s*(?:export )?namespace \w/m.test(text)),
    [],
  )
  t.end()
})

t.test('file names are kebab-case and name their content', (t) => {
  for (const { file } of FILES) {
    for (const name of file.replace(/\.ts$/, '').split('/')) {
      t.match(name, /^[a-z0-9]+(-[a-z0-9]+)*$/, file)
      t.notMatch(name, /^(index|utils?|helpers?|common|types|misc)$/, file)
    }
  }
  t.end()
})

t.test('no module has mutable state at its top level', (t) => {
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

t.test('docs/architecture.md names every layer or its parent folder', (t) => {
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
