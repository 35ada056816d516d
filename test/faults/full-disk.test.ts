import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync, rmSync, rmdirSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { build } from '../../src/assembly/build.ts'
import { createLogger } from '../../src/log.ts'
import { openDestination } from '../../src/log-destination.ts'
import { until } from '../support/cache-harness.ts'
import { freePort } from '../support/free-port.ts'
import { authorizationOf, BASE, configOf, openGateway } from '../support/open-gateway.ts'
import { startNode } from '../support/fake-engine.ts'
import { writeSetup } from '../support/reloadable.ts'
import { spawnGateway } from '../support/started-workers.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname
const MIB = 1024 ** 2
/** Size of the disk, which is larger than the lines that may wait. */
const SIZE_MIB = 16
const WITHIN_MS = 20_000
const ENGINE = 'http://127.0.0.1:9/engine-rest'
const AUDIT = {
  requestId: 'r',
  traceId: null,
  client: '127.0.0.1',
  user: 'mary',
  attemptedUser: null,
  authenticated: 'basic',
  node: null,
  via: null,
  tool: null,
  ceiling: null,
  params: {},
  created: [],
  change: null,
  policy: null,
  permittedBy: [],
  durationMs: 1,
  engine: 'default',
  operation: 'getTasks',
  prefix: null,
  path: null,
  method: 'GET',
  decision: 'refused',
  stage: 'permit',
  rule: 'x'.repeat(250),
  missing: [],
  otherRefusal: null,
  comparison: null,
  status: 403,
} as const

/** Without the permission to mount, no small disk can be filled. */
const skip = mayMount() ? false : 'a file system cannot be mounted here'

function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'engine-gateway-mount-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', folder], { stdio: 'ignore' })
    execFileSync('umount', [folder])
    return true
  } catch {
    return false
  } finally {
    rmdirSync(folder)
  }
}

/** Mounts a disk without a free byte. `giveRoom` frees it. */
function mountFull(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'engine-gateway-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MIB}m`, 'tmpfs', folder])
  t.teardown(() => {
    execFileSync('umount', ['-l', folder])
    rmdirSync(folder)
  })
  const file = join(folder, 'lines')
  const filler = join(folder, 'filler')
  writeFileSync(file, '')
  try {
    writeFileSync(filler, Buffer.alloc(SIZE_MIB * MIB))
  } catch {
    // The disk is full now.
  }
  return {
    file,
    giveRoom: () => rmSync(filler),
    lines: () => readFileSync(file, 'utf8').split('\n').slice(0, -1),
  }
}

async function lostOf(metrics: { readonly text: () => Promise<string> }, stream: string): Promise<number> {
  const series = new RegExp(`^gateway_log_lines_lost_total\\{stream="${stream}"\\} (\\d+)$`, 'm')
  return Number(series.exec(await metrics.text())?.[1] ?? 0)
}

t.test(
  'while the audit file cannot be written, requests are served, lines wait and lost lines are counted',
  { skip },
  async (t) => {
    const disk = mountFull(t)
    const gateway = await openGateway(t, { settings: { log: { audit: disk.file } } })
    const { dependencies, log } = gateway
    const asked = ['GET /task/nosuch', 'POST /signal'] as const
    for (const route of asked) t.ok((await gateway.ask('mary', route)).status >= 400)
    const before = 30_000
    for (let count = 0; count < before; count += 1) {
      dependencies.audit(AUDIT)
      if (count % 100 === 0) await nextTurn()
    }
    await until(async () => (await lostOf(dependencies.metrics, 'audit')) > 0, WITHIN_MS)
    t.equal((await gateway.ask('demo', 'GET /task')).status, 200)
    t.same(disk.lines(), [])
    const told = () => log.filter(({ path }) => path === disk.file)
    t.match(
      told(),
      [
        { level: 'error', msg: 'audit lines cannot be written to the file; they wait', reason: 'ENOSPC' },
        { level: 'error', msg: 'audit lines are lost; cannot write to the file' },
      ],
      'once',
    )
    disk.giveRoom()
    await until(() => told().length === 3, WITHIN_MS)
    const lost = await lostOf(dependencies.metrics, 'audit')
    t.match(told()[2], { level: 'info', msg: 'audit lines are written again', lost })
    dependencies.audit({ ...AUDIT, requestId: 'last' })
    await until(() => disk.lines().at(-1)?.includes('"last"') === true, WITHIN_MS)
    t.ok(disk.lines().length + lost >= before + 1, `${disk.lines().length} written, ${lost} lost`)
    t.ok(
      disk.lines().every((line) => JSON.parse(line)),
      'each of them whole',
    )
  },
)

t.test('the log reports how many lines were lost on a full disk', { skip }, async (t) => {
  const disk = mountFull(t)
  const destination = openDestination({ to: disk.file })
  t.teardown(() => destination.end())
  const log = createLogger({ level: 'info', destination })
  const config = configOf(t, ENGINE, { settings: { log: { audit: 'off' } } })
  const { gateway: dependencies, close } = await build({ config, log, version: 'test' })
  t.teardown(() => close())
  const before = 400
  for (let count = 0; count < before; count += 1) {
    log.info('x'.repeat(60_000))
    await nextTurn()
  }
  await until(async () => (await lostOf(dependencies.metrics, 'log')) > 0, WITHIN_MS)
  disk.giveRoom()
  await until(() => disk.lines().at(-1)?.includes('log lines were lost') === true, WITHIN_MS)
  const lost = await lostOf(dependencies.metrics, 'log')
  t.match(JSON.parse(disk.lines().at(-1) ?? ''), { level: 'warn', lost })
  t.equal(disk.lines().length - 1 + lost, before)
})

t.test(
  'a process whose standard output is on a full disk serves requests and writes when there is space',
  { skip },
  async (t) => {
    const disk = mountFull(t)
    const node = await startNode(t)
    const { file, write } = await writeSetup(t)
    const [port, adminPort] = [await freePort(), await freePort()]
    const engines = { default: { nodes: [node.url + BASE] } }
    await write({ engines, listen: { port }, admin: { port: adminPort }, health: { probe: false } })
    const stdout = openSync(disk.file, 'a')
    const child = spawn(process.execPath, [MAIN, '--config', file], { stdio: ['ignore', stdout, 'inherit'] })
    t.teardown(() => child.kill('SIGKILL'))
    const url = `http://127.0.0.1:${port}${BASE}/version`
    await until(async () => (await statusOf(url)) === 200, WITHIN_MS)
    for (let count = 0; count < 50; count += 1) t.equal(await statusOf(url), 200)
    t.same(disk.lines(), [])
    disk.giveRoom()
    await until(() => disk.lines().length > 50, WITHIN_MS)
    const [first] = disk.lines().filter((line) => !line.includes('"stream":"audit"'))
    t.match(first, /"msg":"listening"/)
    child.kill('SIGTERM')
    await once(child, 'exit')
    t.equal(child.exitCode, 0)
    t.match(disk.lines().at(-1), /"msg":"drain ended"/)
  },
)

/** Starts a gateway with two workers that refuses writes without audit lines. */
async function startRequired(t: Test, audit: string) {
  const node = await startNode(t)
  const { file, write } = await writeSetup(t)
  const [port, adminPort] = [await freePort(), await freePort()]
  await write({
    engines: { default: { nodes: [node.url + BASE] } },
    workers: 2,
    listen: { port },
    admin: { port: adminPort },
    health: { probe: false },
    log: { audit },
    audit: { required: true },
  })
  const { child, lines, err, exit } = spawnGateway(t, file)
  await until(() => lines().some(({ msg }) => msg === 'listening'), WITHIN_MS)
  const url = `http://127.0.0.1:${port}${BASE}`
  const errors = () =>
    err()
      .split('\n')
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
  return {
    child,
    exit,
    errors,
    read: () => statusOf(`${url}/version`),
    change: () =>
      statusOf(`${url}/group/create`, { method: 'POST', body: '{"id":"g","name":"g","type":"W"}' }),
  }
}

t.test(
  'workers refuse writes while no process reads the output of the primary, which exits with code 1',
  async (t) => {
    const { child, exit, errors, read, change } = await startRequired(t, 'stdout')
    t.not(await change(), 503)
    child.stdout?.destroy()
    await until(async () => (await change()) === 503, WITHIN_MS)
    t.equal(await read(), 200)
    t.match(errors(), [{ output: 'standard output', reason: 'EPIPE', msg: 'lines cannot be written' }])
    child.kill('SIGTERM')
    t.equal(await exit, 1)
    t.match(errors().at(-1), { output: 'standard output', msg: /were lost/ })
    t.ok(errors().at(-1).lostAuditLines > 0)
  },
)

t.test('the gateway exits with code 1 if a worker has lost audit lines of a full disk', async (t) => {
  const { child, exit, errors, read, change } = await startRequired(t, '/dev/full')
  await until(async () => (await change()) === 503, WITHIN_MS)
  t.equal(await read(), 200)
  child.kill('SIGTERM')
  t.equal(await exit, 1)
  t.ok(errors().some(({ output, lostAuditLines }) => output === '/dev/full' && lostAuditLines > 0))
})

function statusOf(url: string, init: RequestInit = {}): Promise<number> {
  return fetch(url, {
    ...init,
    headers: { authorization: authorizationOf('demo'), 'content-type': 'application/json' },
  }).then(
    ({ status }) => status,
    () => 0,
  )
}
