import { readdirSync, readlinkSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { build } from '../../src/assembly/build.ts'
import { hasSameUsers } from '../../src/assembly/build-engine.ts'
import { ConfigError, loadConfig } from '../../src/config/config.ts'
import { createLogger } from '../../src/log.ts'
import { until } from '../support/cache-harness.ts'
import { loadSettings, settingsWith } from '../support/config-file.ts'
import { startNode } from '../support/fake-engine.ts'
import { startReloadable } from '../support/reloadable.ts'

const log = createLogger({ level: 'silent', destination: { write: () => undefined } })

/** Returns the problems of a configuration with these files. */
async function problemsOf(
  t: Test,
  settings: Readonly<Record<string, unknown>>,
  files: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const folder = t.testdir({ 'users.yaml': 'users: []\n', 'authorizations.yaml': '[]\n', ...files })
  const file = join(folder, 'gateway.yaml')
  await writeFile(file, JSON.stringify(settingsWith(settings)))
  try {
    const { close } = await build({ config: loadConfig(file), log, version: 'test' })
    await close()
    return []
  } catch (error) {
    if (error instanceof ConfigError)
      return error.problems.map((problem) => problem.replace(`${folder}/`, ''))
    throw error
  }
}

/** Returns whether this process has a file open whose path ends with the name. Always false if the system is not Linux. */
function opensAny(name: string): boolean {
  if (process.platform !== 'linux') return false
  return readdirSync('/proc/self/fd').some((fd) => targetOf(fd).endsWith(name))
}

function targetOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return '' // the descriptor that was used to read the directory
  }
}

const nodes = ['http://engine:8080/engine-rest']

t.test('a problem in a file that several engines share is reported once', async (t) => {
  const stale = { identity: { source: 'file', file: 'users.yaml', staleAfter: '1m' } }
  const engines = { default: { nodes }, orders: { nodes }, stale: { nodes, ...stale } }
  const problems = await problemsOf(
    t,
    { engines },
    {
      'users.yaml': 'users: [{ id: mary, passwordHash: mary }]\n',
    },
  )
  t.match(problems[0], /^users\.yaml: users\[0\]\.passwordHash: /)
  t.equal(problems.length, 1)
})

t.test('an unknown key in a file is reported with the allowed keys', async (t) => {
  const files = { 'users.yaml': 'users: [{ id: mary, pass: x }]\n', 'authorizations.yaml': 'records: []\n' }
  t.match(await problemsOf(t, {}, files), [
    /^users\.yaml: users\[0\]\.passwordHash: /,
    'users.yaml: users[0]: unknown key pass (allowed: id, passwordHash, groups, tenants)',
    /^authorizations\.yaml: authorizations: /,
    'authorizations.yaml: (top level): unknown key records (allowed: authorizations)',
  ])
})

t.test('an empty file is reported as empty', async (t) => {
  t.same(await problemsOf(t, {}, { 'users.yaml': '', 'authorizations.yaml': '# none\n' }), [
    'users.yaml: (top level): is empty',
    'authorizations.yaml: (top level): is empty',
  ])
})

t.test('all unusable files are reported together, and none remains open', async (t) => {
  const settings = {
    passthrough: [{ prefix: '/engine-rest/task', upstream: 'http://web' }],
    identity: { source: 'file', file: 'nosuch.yaml' },
    log: { audit: 'audit.log' },
  }
  t.match(await problemsOf(t, settings), [
    /^passthrough\[0\]\.prefix: /,
    /^identity\.file: nosuch\.yaml does not exist/,
  ])
  await until(() => !opensAny('audit.log'))
  t.match(await problemsOf(t, { ...settings, log: { audit: '/none/audit.log' } }), [
    /^passthrough\[0\]\.prefix: /,
    /^identity\.file: nosuch\.yaml does not exist/,
    /^log\.audit: /,
  ])
})

t.test('a passthrough prefix below a path of the API is refused', async (t) => {
  const problemsWith = (prefix: string) =>
    problemsOf(t, { passthrough: [{ prefix, upstream: 'http://web' }] })
  for (const first of ['task', 'engine', 'version', 'process-definition'])
    for (const rest of ['', '/custom'])
      t.same(await problemsWith(`/engine-rest/${first}${rest}`), [
        `passthrough[0].prefix: the API has paths below /engine-rest/${first}`,
      ])
  for (const prefix of ['/engine-rest/custom', '/engine-rest/tasks', '/task', '/engine-restful/task'])
    t.same(await problemsWith(prefix), [], prefix)
})

t.test('a passthrough prefix below the base path is forwarded, and no other unknown path is', async (t) => {
  const engine = await startNode(t, (_request, response) => response.end('{"by":"engine"}'))
  const web = await startNode(t, (_request, response) => response.end('{"by":"web"}'))
  const gateway = await startReloadable(t, {
    engines: { default: { nodes: [`${engine.url}/engine-rest`] } },
    health: { probe: false },
    passthrough: [{ prefix: '/engine-rest/custom', upstream: web.url }],
  })
  t.same(await (await gateway.ask('demo', '/custom/x')).json(), { by: 'web' })
  t.same(await (await gateway.ask('demo', '/version')).json(), { by: 'engine' })
  for (const path of ['/customs', '/other', '/task/a/b/c/d'])
    t.equal((await gateway.ask('demo', path)).status, 404)
})

t.test('an engine without requests takes less than 128 KiB of memory', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  const heapOf = async (engines: number) => {
    const named = Array.from({ length: engines }, (_, at) => [at === 0 ? 'default' : `e${at}`, { nodes }])
    const file = join(
      t.testdir({ 'users.yaml': 'users: []\n', 'authorizations.yaml': '[]\n' }),
      'gateway.yaml',
    )
    await writeFile(file, JSON.stringify(settingsWith({ engines: Object.fromEntries(named) })))
    const { close } = await build({ config: loadConfig(file), log, version: 'test' })
    if (typeof collect === 'function') collect()
    const { heapUsed } = process.memoryUsage()
    await close()
    return heapUsed
  }
  await heapOf(1)
  const each = ((await heapOf(101)) - (await heapOf(1))) / 100
  t.comment(`${Math.round(each / 1024)} KiB each`)
  t.ok(each < 128 * 1024)
})

t.test('verified credentials are kept if the users come from the same source', (t) => {
  const config = (settings: object, own: object = {}) =>
    loadSettings(t, settingsWith({ ...settings }, { ...own }))
  const atEngine = { identity: { source: 'engine' } }
  const other = { nodes: ['http://other:8080/engine-rest'] }
  const same = [
    [config({}), config({ limits: { body: '1MiB' } })],
    [config({}), config({ identity: { source: 'file', file: 'other.yaml' } })],
    [config({}), config({}, other)],
    [config(atEngine), config({ ...atEngine, limits: { body: '1MiB' } })],
    [config(atEngine), config({ identity: { source: 'engine', remember: '1s' } })],
  ] as const
  for (const [index, [before, after]] of same.entries())
    t.ok(hasSameUsers('default', before, after), `${index}`)
  const different = [
    [config({}), config(atEngine)],
    [config(atEngine), config(atEngine, other)],
    [config(atEngine), config(atEngine, { remoteName: 'other' })],
    [config(atEngine), config(atEngine, { service: { username: 'a', password: 'b' } })],
  ] as const
  for (const [index, [before, after]] of different.entries())
    t.notOk(hasSameUsers('default', before, after), `${index}`)
  t.notOk(hasSameUsers('none', config({}), config({})))
  t.end()
})
