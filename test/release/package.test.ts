import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')
const NAME = 'engine-gateway'

interface Locked {
  readonly dev?: boolean
  readonly version?: string
}

interface Lock {
  readonly packages: Readonly<Record<string, Locked>>
}

const npm = (cwd: string, ...args: readonly string[]) =>
  execFileSync('env', ['-u', 'NODE_OPTIONS', 'npm', ...args], { cwd, encoding: 'utf8', stdio: 'pipe' })

/** Copies the tracked files, as in a clone without build output. */
function copySources(folder: string): void {
  const tracked = execFileSync(
    'git',
    [
      'ls-files',
      '-z',
      'src',
      'config',
      'docs',
      'examples',
      'helm',
      '*.json',
      '*.md',
      'LICENSE',
      '.npmrc',
      '.gitignore',
    ],
    {
      cwd: ROOT,
      encoding: 'utf8',
    },
  )
  for (const file of tracked.split('\0').filter((one) => one !== '')) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(ROOT, file), join(folder, file))
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
}

/** Returns a lock file with the tested versions. Without it npm would request newer ones from the registry. */
function lockOf(tarball: string): object {
  const own: Lock & Locked = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const needed = Object.entries(own.packages).filter(([path, { dev }]) => path !== '' && dev !== true)
  const { dependencies, bin, engines }: Readonly<Record<string, unknown>> = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  )
  return {
    name: 'somebody',
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': { dependencies: { [NAME]: `file:${tarball}` } },
      [`node_modules/${NAME}`]: {
        version: own.version,
        resolved: `file:${tarball}`,
        dependencies,
        bin,
        engines,
      },
      ...Object.fromEntries(needed),
    },
  }
}

/** Returns the relative links of pages that lead to no file of the package. */
function brokenLinks(folder: string, packed: readonly string[]): readonly string[] {
  const pages = packed.filter((file) => file.endsWith('.md'))
  return pages.flatMap((page) => {
    const links = [...readFileSync(join(folder, page), 'utf8').matchAll(/\]\(([^)\s#]+)/g)]
    const relative = links.flatMap(([, link]) => (link === undefined || /^\w+:/.test(link) ? [] : [link]))
    return relative
      .filter((link) => !existsSync(join(folder, dirname(page), link)))
      .map((link) => `${page}: ${link}`)
  })
}

t.test('the packed project is installed without build dependencies, and its command runs', async (t) => {
  const folder = t.testdir({ sources: {}, home: {} })
  const [sources, home] = [join(folder, 'sources'), join(folder, 'home')]
  copySources(sources)
  // Files with secrets that the example creates.
  const secrets = ['examples/compose/.env', 'examples/compose/gateway/users.yaml']
  for (const file of secrets) writeFileSync(join(sources, file), 'secret')
  const [{ filename, files }] = JSON.parse(
    npm(sources, 'pack', '--json', '--loglevel=silent').replace(/^[^[]*/, ''),
  )
  const packed: readonly string[] = files.map(({ path }: { path: string }) => path)
  for (const file of [
    'dist/main.js',
    'dist/gateway.js',
    'config/gateway.yaml',
    'config/users.yaml',
    'README.md',
    'SECURITY.md',
    'helm/engine-gateway/Chart.yaml',
    'examples/compose/.env.example',
  ])
    t.ok(packed.includes(file), file)
  t.same(
    packed.filter((file) => /^(src|sandbox|test|node_modules|\.tap|release)\/|(?<!\.d)\.ts$/.test(file)),
    [],
  )
  t.same(
    packed.filter(
      (file) =>
        /^(helm|bench)\//.test(file) && !/^(helm\/(engine-gateway|examples)\/|bench\/README\.md)/.test(file),
    ),
    [],
  )
  t.same(
    packed.filter((file) => secrets.includes(file)),
    [],
    'the package contains no secret',
  )
  t.notOk(packed.some((file) => file.includes('sandbox')))
  const tarball = join(sources, filename)
  writeFileSync(join(home, 'package.json'), JSON.stringify({ dependencies: { [NAME]: `file:${tarball}` } }))
  writeFileSync(join(home, 'package-lock.json'), JSON.stringify(lockOf(tarball)))
  npm(home, 'ci', '--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund')
  t.same(brokenLinks(join(home, 'node_modules', NAME), packed), [], 'links lead to files of the package')
  const command = (...args: readonly string[]) => {
    const path = `PATH=${dirname(process.execPath)}:/usr/bin:/bin`
    const bin = join(home, 'node_modules', '.bin', NAME)
    const { status, stdout } = spawnSync('env', ['-u', 'NODE_OPTIONS', path, bin, ...args], {
      encoding: 'utf8',
    })
    return { status, stdout }
  }
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  t.same(command('--version'), { status: 0, stdout: `${version}\n` })
  t.match(command('help'), { status: 0, stdout: /^Usage: engine-gateway/ })
  const example = join(home, 'node_modules', NAME, 'config', 'gateway.yaml')
  t.match(command('check', '--config', example), { status: 0, stdout: / is good\n$/ })
  const long = join(home, 'long')
  cpSync(dirname(example), long, { recursive: true })
  const padding = `# ${'x'.repeat(1022)}\n`.repeat(2048)
  appendFileSync(join(long, 'authorizations.yaml'), padding)
  const checked = command('check', '--config', join(long, 'gateway.yaml'))
  t.match(checked, { status: 0, stdout: / is good\n$/ }, 'a thread reads a long file')
  for (const words of [['start'], []]) {
    const ports = ['PORT=0', 'ADMIN_PORT=0', `PATH=${dirname(process.execPath)}:/usr/bin:/bin`]
    const bin = join(home, 'node_modules', '.bin', NAME)
    const gateway = spawn('env', ['-u', 'NODE_OPTIONS', ...ports, bin, ...words, '--config', example], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.teardown(() => gateway.kill('SIGKILL'))
    let said = ''
    gateway.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const address = /"address":"([^"]+)".*"listening"/
    while (!address.test(said)) await once(gateway.stdout, 'data')
    t.equal((await fetch(`${address.exec(said)?.[1]}/engine-rest/task`)).status, 401, words.join(' '))
    gateway.kill('SIGTERM')
    await once(gateway, 'exit')
    t.equal(gateway.exitCode, 0, `start as ${words.join(' ') || 'the default'}`)
  }
})
