import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { startSandbox } from '../../sandbox/sandbox.ts'
import { tourOf } from '../../sandbox/tour.ts'
import { buildGateway } from '../engine/build.ts'
import { freePort } from '../support/free-port.ts'
import { writeSetup } from '../support/reloadable.ts'

const ROOT = join(import.meta.dirname, '../..')
const MAIN = join(ROOT, 'src/main.ts')
const DEMO = join(ROOT, 'sandbox/demo.ts')
const SANDBOX = join(ROOT, 'sandbox/main.ts')
/** An address that no test calls. */
const ENGINE = {
  engines: { default: { nodes: ['http://127.0.0.1:9/engine-rest'] } },
  health: { probe: false },
}
const STDIO: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe']

const STDIO_OF_SHELL: ['pipe', 'pipe', 'inherit'] = ['pipe', 'pipe', 'inherit']

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

const run = (...args: readonly string[]) => ranOf(spawn(process.execPath, [MAIN, ...args], { stdio: STDIO }))

async function ranOf(child: ReturnType<typeof spawn>): Promise<Ran> {
  const said = { out: '', err: '' }
  child.stdout?.on('data', (chunk: Buffer) => (said.out += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (said.err += chunk.toString()))
  await once(child, 'close')
  return { code: child.exitCode, ...said }
}

t.test('without a configuration the gateway does not start, and prints the missing option', async (t) => {
  const { code, err } = await run()
  t.equal(code, 2)
  t.match(err, /--config <FILE>/)
})

t.test('an invalid configuration stops the start and all problems are printed', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'engine-gateway-main-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  writeFileSync(
    join(folder, 'gateway.yaml'),
    'version: 1\nengines: { default: { nodes: ["http://e/engine-rest"] } }\n' +
      'identity: { source: file, file: nosuch.yaml }\nauthorization: { records: { source: file, file: broken.yaml } }\n',
  )
  writeFileSync(join(folder, 'broken.yaml'), 'authorizations: [{ type: 7 }]\n')
  const { code, err } = await run('--config', join(folder, 'gateway.yaml'))
  t.equal(code, 1)
  t.match(err, /nosuch\.yaml/)
  t.match(err, /authorizations\[0\]\.type/)
})

t.test('check prints warnings and that the configuration is valid', async (t) => {
  const { file, write } = await writeSetup(t)
  await write({ ...ENGINE, passthrough: [{ prefix: '/camunda', upstream: 'http://127.0.0.1:9' }] })
  const { code, out, err } = await run('check', '--config', file)
  t.match({ code, out }, { code: 0, out: / is good\n$/ })
  t.match(err, /^warning: passthrough\[0\]: \/camunda leads to localhost:9, the host of a node of default\./)
})

t.test('check warns about an administrator group without a record', async (t) => {
  const { file, write } = await writeSetup(t)
  await write(ENGINE)
  t.match(await run('check', '--config', file), { code: 0, err: '' })
  writeFileSync(join(dirname(file), 'records.yaml'), 'authorizations: []')
  t.match(await run('check', '--config', file), {
    code: 0,
    out: / is good\n$/,
    err: /^warning: authorization\.records: no authorization record names these administrators .*: demo \(admin groups: camunda-admin\).*config\/authorizations\.yaml/,
  })
})

t.test(
  'the demo listens, the commands of its tour and of the README work, and it exits on SIGTERM',
  async (t) => {
    const [port, adminPort] = [await freePort(), await freePort()]
    const settings = [`PORT=${port}`, `ADMIN_PORT=${adminPort}`]
    const child = spawn('env', [...settings, process.execPath, DEMO], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.teardown(() => child.kill('SIGKILL'))
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    while (!said.includes('# 8.')) await once(child.stdout, 'data')
    const origins = { base: `http://127.0.0.1:${port}/engine-rest`, admin: `http://127.0.0.1:${adminPort}` }
    t.equal(said.trim(), tourOf(origins).trim())
    const lines = said
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#') && !/^(engine-gateway|Users)/.test(line))
    const shell = spawn('sh', [], { stdio: STDIO_OF_SHELL })
    let shown = ''
    shell.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()))
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
    const ofReadme = [...readme.matchAll(/^curl .*/gm)].map(([line]) => line.replace(':8080', `:${port}`))
    t.equal(ofReadme.length, 2)
    shell.stdin.end([...lines, ...ofReadme].join('\n'))
    await once(shell, 'close')
    t.match(readme, '`mary`/`mary` may work on reviews')
    t.match(said, 'mary/mary may work on reviews')
    t.match(shown, /401 Unauthorized/)
    t.match(shown, /'CREATE_INSTANCE' permission on resource 'discount' of type 'DecisionDefinition'/)
    t.match(shown, /'DELETE' permission on resource 'demo' of type 'User'/)
    t.match(shown, /cache-status: engine-gateway; hit/)
    t.match(shown, /x-gateway-error: GW_HAZARD/)
    t.match(shown, /\}\n\{"count":9\}\n\{"count":3\}\n\[.*\]\n/, 'each answer ends its line')
    const ofGroup = shown
      .split('\n')
      .filter((line) => line.startsWith('[{"id":') && line.includes('Review it'))
    t.match(
      JSON.parse(ofGroup[0] ?? '[]'),
      [{ name: 'Review it' }, { name: 'Review it' }],
      'a task list of a group',
    )
    t.match(shown, /"taskState"/)
    t.match(shown, /gateway_refusals_total/)
    child.kill('SIGTERM')
    await once(child, 'exit')
    t.equal(child.exitCode, 0)
  },
)

t.test(
  'the demo in front of an engine of the user refuses nothing, and its tour shows what it would refuse',
  async (t) => {
    const sandbox = await startSandbox()
    t.teardown(() => sandbox.close())
    const [port, adminPort] = [await freePort(), await freePort()]
    const settings = [`PORT=${port}`, `ADMIN_PORT=${adminPort}`]
    const child = spawn('env', [...settings, process.execPath, DEMO, '--engine', sandbox.base], {
      stdio: STDIO,
    })
    t.teardown(() => child.kill('SIGKILL'))
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    while (!said.includes('head -c 100')) await once(child.stdout, 'data')
    const commands = said.split('\n').filter((line) => line.startsWith('curl '))
    t.equal(commands.length, 5)
    const shell = spawn('sh', [], { stdio: STDIO_OF_SHELL })
    let shown = ''
    shell.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()))
    shell.stdin.end(commands.join('\n'))
    await once(shell, 'close')
    t.match(shown, /\{"version":"7\.22\.0"\}/)
    t.equal(shown.match(/^HTTP\/1\.1 200 OK/gm)?.length, 2, 'also the request that mary may not send')
    t.match(shown, /"decision":"refused"/)
    t.match(shown, /gateway_refusals_total\{.*stage="permit-report".*\} 1/)
    t.match(shown, /<!doctype html>/)
    child.kill('SIGTERM')
    await once(child, 'exit')
    t.equal(child.exitCode, 0)
  },
)

t.test('the sandbox listens, prints its address, and exits on SIGTERM', async (t) => {
  const child = spawn(process.execPath, [SANDBOX, '--port', '0'], { stdio: STDIO })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  while (!said.includes('\n')) await once(child.stdout, 'data')
  const [, base = ''] = / listens at (\S+)\n$/.exec(said) ?? []
  t.equal((await fetch(`${base}/task/count`)).status, 200)
  const port = new URL(base).port
  const cases: readonly (readonly [string, string])[] = [
    [port, `.*EADDRINUSE.*:${port}: choose another port with --port`],
    ['65536', '--port takes a number from 0 to 65535'],
    ['x', '--port takes a number from 0 to 65535'],
  ]
  for (const [given, problem] of cases)
    t.match(await ranOf(spawn(process.execPath, [SANDBOX, '--port', given], { stdio: STDIO })), {
      code: 1,
      err: new RegExp(`^The sandbox has 1 problem\n  ${problem}\n$`),
    })
  child.kill('SIGTERM')
  await once(child, 'exit')
  t.equal(child.exitCode, 0)
})

t.test('the main file accepts a command after options, as the entry point of the image does', async (t) => {
  const { code, out } = await run('--config', 'x.yaml', 'explain', '--help')
  t.match({ code, out }, { code: 0, out: /^Usage: engine-gateway explain/ })
})

t.test(
  'the command of worker processes is not in the help, and refuses to run without a primary',
  async (t) => {
    t.notMatch((await run('help')).out, 'worker')
    t.same(await run('worker'), { code: 2, out: '', err: "error: unknown command 'worker'\n" })
  },
)

t.test('a closed standard output is not an error', async (t) => {
  const child = spawn(process.execPath, [MAIN, 'schema'], { stdio: STDIO })
  child.stdout.destroy()
  t.match(await ranOf(child), { code: 0, err: '' })
})

t.test('an address in use is reported with its configuration key', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => taken.close())
  const address = taken.address()
  const port = typeof address === 'object' ? address?.port : null
  const { file, write } = await writeSetup(t)
  for (const key of ['listen', 'admin']) {
    for (const workers of [1, 2]) {
      await write({ ...ENGINE, workers, [key]: { port } })
      const { code, err } = await run('--config', file)
      t.equal(code, 1)
      t.match(err, new RegExp(`^  ${key}: .*EADDRINUSE.*:${port}$`, 'm'), `${key}, workers: ${workers}`)
    }
  }
})

t.test('the demo prints how its ports can be changed if one is in use', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => taken.close())
  const address = taken.address()
  const port = typeof address === 'object' ? address?.port : null
  for (const [variable, other] of [
    ['PORT', 'ADMIN_PORT'],
    ['ADMIN_PORT', 'PORT'],
  ]) {
    const settings = [`${variable}=${port}`, `${other}=0`]
    const { code, err } = await ranOf(spawn('env', [...settings, process.execPath, DEMO], { stdio: STDIO }))
    t.equal(code, 1)
    t.match(err, new RegExp(`^The demo has 1 problem\n  .*EADDRINUSE.*: set ${variable} to another port\n$`))
  }
})

t.test('the version and the usage are printed on request', async (t) => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  t.same(await run('--version'), { code: 0, out: `${version}\n`, err: '' })
  t.match(await run('help'), { code: 0, out: /^Usage: engine-gateway \[options\] \[command\]/, err: '' })
})

t.test('a signal to npm drains the gateway, and no process remains', async (t) => {
  const { file, write } = await writeSetup(t)
  await write(ENGINE)
  const [port, adminPort] = [await freePort(), await freePort()]
  const ports = [`PORT=${port}`, `ADMIN_PORT=${adminPort}`]
  for (const [script, ready] of [
    [['start', '--', '--config', file], /"address":"([^"]+)".*"listening"/],
    [['run', 'demo'], /listens at (\S+)/],
  ] as const) {
    // A process group of its own, so that remaining processes end with the test.
    const npm = spawn('env', ['-u', 'NODE_OPTIONS', ...ports, 'npm', ...script], {
      stdio: STDIO,
      cwd: ROOT,
      detached: true,
    })
    t.teardown(() => endGroup(npm.pid))
    let said = ''
    npm.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    while (!ready.test(said)) await once(npm.stdout, 'data')
    const [, address = ''] = ready.exec(said) ?? []
    t.equal((await fetch(address)).status > 0, true)
    npm.kill('SIGTERM')
    await once(npm, 'exit')
    t.equal(npm.exitCode, 0, script.join(' '))
    await t.rejects(fetch(address), script.join(' '))
  }
})

function endGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL')
  } catch {
    // No process of the group is left.
  }
}

t.test('the image has the command on its path, and the target of the link is executable', (t) => {
  const lines = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').split('\n')
  const linked = lines.findIndex((line) =>
    /^RUN ln -s \/app\/dist\/main\.js \/usr\/local\/bin\/engine-gateway$/.test(line),
  )
  t.ok(
    linked > 0 && linked < lines.findIndex((line) => line.startsWith('USER ')),
    'before it is another user',
  )
  t.match(
    lines.find((line) => line.includes('npm run build')),
    /chmod \+x dist\/main\.js/,
  )
  t.match(readFileSync(MAIN, 'utf8'), /^#!\/usr\/bin\/env node\n/)
  t.end()
})

t.test('a link to the compiled main file works as the command', async (t) => {
  const folder = t.testdir({})
  const main = await buildGateway()
  chmodSync(main, 0o755)
  const link = join(folder, 'engine-gateway')
  symlinkSync(main, link)
  const path = `PATH=${dirname(process.execPath)}:/usr/bin:/bin`
  const command = spawn('env', ['-u', 'NODE_OPTIONS', path, link, 'explain', '--help'], { stdio: STDIO })
  t.match(await ranOf(command), { code: 0, out: /^Usage: engine-gateway explain/, err: '' })
})

t.test('npm start hashes the password on standard input, as the documentation says', async (t) => {
  const out = execFileSync('env', ['-u', 'NODE_OPTIONS', 'npm', 'start', '--silent', '--', 'hash-password'], {
    cwd: ROOT,
    input: 'secret\n',
    encoding: 'utf8',
    stdio: 'pipe',
  })
  t.match(out, /^\$argon2id\$\S+\n$/)
  for (const file of ['README.md', 'config/users.yaml'])
    t.match(readFileSync(join(ROOT, file), 'utf8'), 'npm start --silent -- hash-password', file)
})
