import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'

const SOURCE = new URL('../src/', import.meta.url).pathname

interface Source {
  /** Below src: `policy/decide.ts`. */
  readonly file: string
  readonly text: string
  /** Below src for our own, else the package's name. */
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
  return specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : specifier
}

/** The files that every room may know. */
const GROUND = ['operations', 'config', 'errors.ts', 'log.ts']

/** What each part of the house may import beside itself and packages. What is not named stands between: main.ts, gateway.ts and their like. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  proxy: GROUND,
  policy: GROUND,
  cache: GROUND,
  metrics: GROUND,
  operations: [],
  sandbox: [],
  'errors.ts': [],
  'log.ts': [],
  config: [],
}

/** Packages that only some parts may import. */
const ONLY_IN: Readonly<Record<string, readonly string[]>> = {
  undici: ['proxy'],
  '@fastify/http-proxy': ['proxy'],
  ioredis: ['cache'],
  'lru-cache': ['cache', 'policy'],
  'prom-client': ['metrics'],
  zod: ['config', 'policy'],
  bcrypt: ['policy'],
  '@node-rs/argon2': ['policy'],
  pino: ['log.ts'],
}

/** The room of a file, or the file itself where it stands in none. The configuration is several files beside one another. */
function partOf(file: string): string {
  if (/^(config(-\w+)?|substitute)\.ts$/.test(file)) return 'config'
  return file.split('/')[0] ?? ''
}

function where(claim: (source: Source) => boolean): readonly string[] {
  return FILES.filter(claim).map(({ file }) => file)
}

t.test('there is something to look at', (t) => {
  t.ok(FILES.length > 100)
  t.ok(FILES.some(({ file, imports }) => file === 'serving.ts' && imports.includes('generation.ts')))
  t.end()
})

t.test('imports go one way, and the four rooms do not know one another', (t) => {
  for (const { file, imports } of FILES) {
    const part = partOf(file)
    const allowed = MAY_IMPORT[part]
    if (allowed === undefined) continue
    const own = imports.filter((name) => name.endsWith('.ts')).map(partOf)
    t.same(
      own.filter((name) => name !== part && !allowed.includes(name)),
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
        file !== 'main.ts' && imports.some((name) => partOf(name) === 'cli') && partOf(file) !== 'cli',
    ),
    [],
  )
  t.end()
})

t.test('the sandbox is for the demo and the tests', (t) => {
  const importing = where(
    ({ file, imports }) => partOf(file) !== 'sandbox' && imports.some((name) => partOf(name) === 'sandbox'),
  )
  t.same(importing, ['cli/demo.ts'])
  t.end()
})

for (const [name, parts] of Object.entries(ONLY_IN)) {
  t.test(`${name} is known only to ${parts.join(' and ')}`, (t) => {
    const importing = where(({ imports }) => imports.includes(name))
    t.ok(importing.length > 0)
    t.same(
      importing.filter((file) => !parts.includes(partOf(file))),
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

t.test('the environment is read in config.ts alone', (t) => {
  t.same(
    where(({ text }) => /\bprocess\.env\b/.test(text)),
    ['config.ts'],
  )
  t.end()
})

t.test('signals and the exit are main’s', (t) => {
  t.same(
    where(({ text }) => /\bprocess\.(exit\b|exitCode|once|on)\b/.test(text)),
    ['main.ts'],
  )
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
