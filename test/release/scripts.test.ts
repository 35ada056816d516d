import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')
const {
  scripts,
  devDependencies,
}: Readonly<Record<'scripts' | 'devDependencies', Readonly<Record<string, string>>>> = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
)

const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' })
/** Files of a clone, including files that are not committed yet. */
const CLONED = git('ls-files', '-z', '--cached', '--others', '--exclude-standard')
  .split('\0')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)))

/** Returns the commands of a script, including those of the scripts that it runs. */
function commandsOf(name: string): readonly string[] {
  const text = scripts[name]
  if (text === undefined) throw new Error(`there is no script ${name}`)
  return text.split(' && ').flatMap((line) => {
    const command = line.replace(/^(\w+=\S+ )+/, '')
    const [, other] = /^npm (?:run )?([\w:]+)/.exec(command) ?? []
    return other === undefined ? [command] : commandsOf(other)
  })
}

t.test('every script builds what it needs, because a clone has no build output', (t) => {
  for (const name of Object.keys(scripts)) {
    const commands = commandsOf(name)
    const [builds, runs] = ['tap build', 'tap run'].map((start) =>
      commands.findIndex((command) => command.startsWith(start)),
    )
    if (runs !== -1)
      t.ok(builds !== undefined && builds !== -1 && builds < Number(runs), `${name}: tap build first`)
    for (const command of commands.filter((one) => !one.startsWith('tap '))) {
      const files = command.match(/(?<= )[\w/-][\w./-]*\.(ts|json)\b/g) ?? []
      t.same(
        files.filter((file) => !CLONED.includes(file)),
        [],
        `${name}: its files are in a clone`,
      )
    }
  }
  t.end()
})

t.test('the five test commands run each test once', (t) => {
  const listed = (script: string) => {
    const run = commandsOf(script).findLast((command) => command.startsWith('tap run')) ?? ''
    const list = run.replace('tap run', 'npx tap list')
    const out = execFileSync('env', ['-u', 'NODE_OPTIONS', 'sh', '-c', list], { cwd: ROOT, encoding: 'utf8' })
    return out.split('\n').filter((line) => line.endsWith('.test.ts'))
  }
  const folders = ['processes', 'release', 'engine', 'faults']
  const ofFolders = folders.map((folder) => listed(`test:${folder}`))
  const all = CLONED.filter((file) => /^test\/.*\.test\.ts$/.test(file))
  t.same([...listed('test'), ...ofFolders.flat()].toSorted(), all.toSorted())
  const ci = readFileSync(join(ROOT, '.ci/run'), 'utf8')
  t.match(ci, 'run_tests test\n')
  for (const [index, folder] of folders.entries()) {
    t.ok(
      ofFolders[index]?.every((file) => file.startsWith(`test/${folder}/`)),
      folder,
    )
    t.match(ci, `run_tests run test:${folder}\n`)
  }
  t.equal(
    scripts['test:all'],
    ['npm test', ...folders.map((folder) => `npm run test:${folder}`)].join(' && '),
  )
  t.end()
})

t.test('scripts without a test runner work in a clone', (t) => {
  const clone = t.testdir({})
  for (const file of CLONED.filter((one) => !one.startsWith('test/'))) {
    mkdirSync(dirname(join(clone, file)), { recursive: true })
    cpSync(join(ROOT, file), join(clone, file))
  }
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  t.ok(devDependencies['node'] !== undefined)
  const npm = (...args: readonly string[]) =>
    execFileSync('env', ['-u', 'NODE_OPTIONS', 'npm', ...args], {
      cwd: clone,
      encoding: 'utf8',
      stdio: 'pipe',
    })
  t.match(npm('start', '--silent', '--', 'check', '--config', 'config/gateway.yaml'), / is good\n$/)
  npm('run', 'build')
  t.ok(existsSync(join(clone, 'dist/main.js')))
  for (const [script, ...written] of [
    ['schema', 'config/gateway.schema.json', 'helm/engine-gateway/values.schema.json'],
    ['docs:configuration', 'docs/configuration/reference.md'],
    ['docs:metrics', 'docs/metrics.md'],
  ]) {
    npm('run', String(script))
    for (const file of written)
      t.equal(readFileSync(join(clone, file), 'utf8'), readFileSync(join(ROOT, file), 'utf8'), file)
  }
  t.end()
})
