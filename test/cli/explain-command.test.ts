import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startSandbox } from '../../sandbox/sandbox.ts'
import { runInProcess } from '../support/run-command.ts'

const sandbox = await startSandbox()
process.env['ENGINE_URL'] = sandbox.base
const folder = mkdtempSync(join(tmpdir(), 'explain-'))
const body = join(folder, 'signal.json')
writeFileSync(body, '{"name":"stopAll"}')
t.teardown(async () => {
  rmSync(folder, { recursive: true })
  await sandbox.close()
})

const CONFIG = fileURLToPath(new URL('../../config/gateway.yaml', import.meta.url))

const run = (...argv: readonly string[]) => runInProcess(['explain', ...argv])

const ask = (user: string, ...rest: readonly string[]) => run('--config', CONFIG, '--user', user, ...rest)

t.test('explain shows the checks, missing permissions and sufficient records for a refusal', async (t) => {
  const { code, out, err } = await ask('mary', '--engine', 'default', 'POST /signal', '--body', body)
  t.match({ code, err }, { code: 1, err: '' })
  t.match(out, /^POST \/signal \(throwSignal\) at engine default\nmary: groups clerks; tenants acme\n/)
  t.match(out, /^check 0: any of PROCESS_INSTANCE\.UPDATE, .*for each of signalSubscriptions: refused$/m)
  t.match(out, /^ {4}UPDATE_INSTANCE on ProcessDefinition catching: no record$/m)
  t.match(
    out,
    /^check 1: PROCESS_INSTANCE\.CREATE, .*for each of signalStarts, .*: there is nothing to ask for$/m,
  )
  t.match(out, /^Refused at stage permit: 403\n {2}AuthorizationException: The user with id 'mary'/m)
  t.match(
    out,
    /^These records would permit it \(tested\):\n {2}- \{ type: 1, userId: mary, resourceType: 6, resourceId: catching, permissions: \[UPDATE_INSTANCE\] \} # process definition$/m,
  )
})

t.test('explain says that a request is permitted', async (t) => {
  const { code, out } = await ask('demo', 'GET /decision-definition/key/discount/diagram')
  t.equal(code, 0)
  t.match(out, /^Permitted: the request is sent to the engine$/m)
  t.notMatch(out, /Missing/)
})

t.test('explain shows which items of a list are visible', async (t) => {
  const { code, out } = await ask('mary', 'GET /task')
  t.equal(code, 0)
  t.match(out, /^visible items: some$/m)
  t.match(out, /^ {4}READ_TASK on ProcessDefinition: for all ids: no record; for single ids: review$/m)
  t.match(out, /^ {2}visible through links to the user or the groups: 1 task$/m)
  t.match(out, /^ {2}only items without a tenant, or of acme$/m)
  t.match(
    (await ask('demo', 'GET /task')).out,
    /^ {2}visible through links to the user or the groups: 4 tasks$/m,
  )
})

t.test('explain exits with 1 for a fetch of external tasks if the caller may see none', async (t) => {
  const fetch = join(folder, 'fetch.json')
  writeFileSync(fetch, '{"workerId":"w","maxTasks":1,"topics":[{"topicName":"work","lockDuration":1000}]}')
  const { code, out } = await ask('mary', 'POST /external-task/fetchAndLock', '--body', fetch)
  t.equal(code, 1)
  t.match(out, /^visible items: none$/m)
  t.match(out, /^ {4}UPDATE_INSTANCE on ProcessDefinition: for all ids: no record; for single ids: none$/m)
  t.match(out, /^Permitted, but no item is visible/m)
})

t.test('explain prints JSON with --format json', async (t) => {
  const { code, out } = await ask('mary', '--format', 'json', 'GET /task')
  t.equal(code, 0)
  t.match(JSON.parse(out), {
    operation: 'getTasks',
    decision: 'permitted',
    policy: { items: { sees: 'some items' } },
  })
})

t.test('explain sends only lookups to the engine', async (t) => {
  const before = sandbox.requests
  await ask('demo', 'DELETE /process-instance/x')
  const seen = sandbox.seen.slice(before - sandbox.requests)
  t.same(sandbox.requests === before ? [] : seen.filter(({ method }) => method !== 'GET'), [])
})

t.test('explain exits with 2 for an invalid question', async (t) => {
  for (const argv of [[], ['--config', CONFIG], ['--config', CONFIG, '--user', 'mary'], ['--frobnicate']])
    t.match(await run(...argv), { code: 2, out: '', err: /^error: .*\n\(--help prints the usage\)\n$/ })
  t.match(await ask('mary', 'GET /task', 'GET /job'), { code: 2, err: /^error: too many arguments/ })
  t.match(await ask('nobody', 'GET /task'), { code: 2, out: '', err: 'Engine default has no user nobody\n' })
  t.match(await ask('mary', 'GET /tusk'), { code: 2, err: 'There is no operation GET /tusk\n' })
  t.match(await ask('mary', 'POST /signal', '--body', join(folder, 'none')), {
    code: 2,
    err: /^--body: the file does not exist$/m,
  })
})

t.test('explain exits with 2 for an invalid configuration', async (t) => {
  const wrong = join(folder, 'wrong.yaml')
  writeFileSync(wrong, 'version: 2\n')
  t.match(await run('--config', wrong, '--user', 'mary', 'GET /task'), {
    code: 2,
    out: '',
    err: /^ {2}version: /m,
  })
  const none = join(folder, 'none')
  t.match(await run('--config', none, '--user', 'mary', 'GET /task'), {
    code: 2,
    out: '',
    err: /the file does not exist/,
  })
})

t.test('explain prints help with exit code 0, and names a missing argument', async (t) => {
  t.match(await run('--help'), { code: 0, out: /^Usage: engine-gateway explain/, err: '' })
  t.match(await run('--config', CONFIG, '--user', 'mary', '--frobnicate'), {
    code: 2,
    out: '',
    err: /^error: unknown option '--frobnicate'\n/,
  })
  t.match(await ask('mary'), { code: 2, err: /^error: missing required argument 'REQUEST'\n/ })
  t.match(await run('GET /task', '--config', CONFIG), {
    code: 2,
    err: /^error: required option '-u, --user <ID>' not specified\n/,
  })
})

t.test('explain exits with 2 if the engine does not respond', async (t) => {
  process.env['ENGINE_URL'] = 'http://127.0.0.1:9/engine-rest'
  const { code, out, err } = await ask('mary', 'GET /task/x')
  process.env['ENGINE_URL'] = sandbox.base
  t.match({ code, out }, { code: 2, out: '' })
  t.not(err, '')
})
