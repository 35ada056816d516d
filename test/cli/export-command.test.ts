import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { loadSettings, settingsWith } from '../support/config-file.ts'
import { startIdentityEngine } from '../support/identity-engine.ts'
import { runInProcess } from '../support/run-command.ts'

const RECORD = { id: '1', type: 1, permissions: ['READ'], userId: 'mary', resourceType: 7, resourceId: '*' }
const PASSWORD = 'hunter2-hunter2'

async function open(t: Test) {
  const engine = await startIdentityEngine(t, {
    records: [RECORD],
    users: ['mary', 'a:b'],
    groups: { clerks: ['mary'] },
    tenants: { acme: ['mary'] },
  })
  const folder = t.testdir()
  const out = join(folder, 'exported')
  const url = `${engine.url}/engine-rest`
  const run = (...argv: readonly string[]) => runInProcess(['export', '--out', out, ...argv])
  return { engine, folder, out, url, run }
}

t.test(
  'export writes two files that only their owner can read, and prints what they cannot contain',
  async (t) => {
    const { out, url, run, engine } = await open(t)
    const { code, out: text, err } = await run('--url', url)
    t.equal(code, 0, err)
    t.same(await readdir(out), ['authorizations.json', 'groups.yaml'])
    t.equal(
      await readFile(join(out, 'groups.yaml'), 'utf8'),
      'users:\n  - { id: "mary", groups: ["clerks"], tenants: ["acme"] }\n',
    )
    t.equal(
      await readFile(join(out, 'authorizations.json'), 'utf8'),
      '[\n  {"type":1,"userId":"mary","resourceType":7,"resourceId":"*","permissions":["READ"]}\n]\n',
    )
    for (const name of await readdir(out)) t.equal((await stat(join(out, name))).mode & 0o777, 0o600)
    t.match(text, /^2 users and 1 record read$/m)
    t.match(text, /^not in the files: users whose id has a colon .* \(1\): a:b$/m)
    t.match(text, /^Passwords cannot be exported/m)
    t.ok(engine.seen.every(({ method }) => method === 'GET'))
  },
)

t.test('the sections that export prints are valid configurations', async (t) => {
  const { url, run } = await open(t)
  const { out: text } = await run('--url', url)
  const sections = [...text.matchAll(/^ {2}(\w+: \{.*\})$/gm)].map(([, section = '']) => section)
  t.equal(sections.length, 3)
  for (const section of sections) {
    const value: unknown = parse(section)
    t.doesNotThrow(() => loadSettings(t, settingsWith({ ...Object(value) })), section)
  }
})

t.test('an export with the options of a configuration uses its service account', async (t) => {
  const { url, run, folder, engine } = await open(t)
  const file = join(folder, 'gateway.json')
  const settings = settingsWith({
    engines: {
      default: { nodes: ['http://127.0.0.1:1/engine-rest'] },
      orders: { nodes: [url], credentials: 'forward', service: { username: 'svc', password: PASSWORD } },
      closed: { nodes: [url], credentials: 'forward' },
    },
  })
  await writeFile(file, JSON.stringify(settings))
  const { code, out, err } = await run('--config', file, '--engine', 'orders')
  t.equal(code, 0, err)
  const authorization = `Basic ${Buffer.from(`svc:${PASSWORD}`).toString('base64')}`
  t.ok(engine.seen.every(({ headers }) => headers.authorization === authorization))
  t.notMatch(out + err, PASSWORD)
  const seen = engine.seen.length
  t.match(await run('--force', '--config', file, '--engine', 'closed'), {
    code: 2,
    err: /engines\.closed\.service is not set/,
  })
  t.match(await run('--force', '--config', file, '--engine', 'none'), {
    code: 2,
    err: /has no engine with this name/,
  })
  t.equal(engine.seen.length, seen)
})

t.test('the password of --user comes from a file or the environment, and is never printed', async (t) => {
  const { url, run, folder, engine } = await open(t)
  const file = join(folder, 'password')
  await writeFile(file, `${PASSWORD}\n`)
  const authorization = `Basic ${Buffer.from(`svc:${PASSWORD}`).toString('base64')}`
  const used = () => engine.seen.splice(0).every(({ headers }) => headers.authorization === authorization)
  const byFile = await run('--url', url, '--user', 'svc', '--password-file', file)
  t.ok(byFile.code === 0 && used())
  process.env['ENGINE_GATEWAY_ENGINE_PASSWORD'] = PASSWORD
  t.teardown(() => delete process.env['ENGINE_GATEWAY_ENGINE_PASSWORD'])
  const byEnvironment = await run('--url', url, '--user', 'svc', '--force')
  t.ok(byEnvironment.code === 0 && used())
  delete process.env['ENGINE_GATEWAY_ENGINE_PASSWORD']
  engine.before = (_request, response) => {
    response.writeHead(401).end()
    return true
  }
  const refused = await run('--url', url, '--user', 'svc', '--password-file', file, '--force')
  t.match(refused, { code: 2, err: /status 401/ })
  for (const { out, err } of [byFile, byEnvironment, refused]) t.notMatch(out + err, PASSWORD)
})

t.test('an export with options that exclude each other, or without a password, sends nothing', async (t) => {
  const { url, run, engine } = await open(t)
  const withPassword = url.replace('//', `//svc:${PASSWORD}@`)
  const cases: readonly (readonly [argv: readonly string[], message: RegExp])[] = [
    [[], /--config or --url is required/],
    [['--url', url, '--config', 'x'], /exclude each other/],
    [['--url', url, '--user', 'svc'], /needs a password/],
    [['--url', url, '--user', 'svc', '--password-file', '/nowhere'], /ENOENT|cannot be read/],
    [['--url', withPassword], /must not contain credentials/],
    [['--url', 'engine:8080'], /takes a URL/],
    [['--url', url, '--page-size', '1'], /from 2 to 10000/],
    [['--url', url, '--timeout', '0'], /from 1 to 86400/],
    [['--config', 'x', '--user', 'svc'], /need --url/],
  ]
  for (const [argv, message] of cases) {
    const { code, err } = await run(...argv)
    t.equal(code, 2, message.source)
    t.match(err, message)
    t.notMatch(err, PASSWORD)
  }
  t.equal(engine.seen.length, 0)
})

t.test('files that exist are replaced only with --force', async (t) => {
  const { out, url, run, engine } = await open(t)
  await mkdir(out)
  await writeFile(join(out, 'groups.yaml'), 'mine\n')
  t.match(await run('--url', url), { code: 2, err: /groups\.yaml exists: use --force/ })
  t.equal(engine.seen.length, 0)
  t.same(await readdir(out), ['groups.yaml'])
  t.equal((await run('--url', url, '--force')).code, 0)
  t.match(await readFile(join(out, 'groups.yaml'), 'utf8'), /mary/)
  t.equal((await stat(join(out, 'groups.yaml'))).mode & 0o777, 0o600)
})

t.test('a failed export leaves the files as they are', async (t) => {
  const { out, url, run, engine } = await open(t)
  t.equal((await run('--url', url)).code, 0)
  const before = await readFile(join(out, 'authorizations.json'), 'utf8')
  engine.content.records.push({ id: '2', type: 7 })
  t.match(await run('--url', url, '--force'), { code: 2, err: /is not a list of authorization records/ })
  t.equal(await readFile(join(out, 'authorizations.json'), 'utf8'), before)
  t.same(await readdir(out), ['authorizations.json', 'groups.yaml'])
})

t.test('the engine is read again after a failed read, and no longer than --timeout', async (t) => {
  const { url, run, engine } = await open(t)
  let failures = 1
  engine.before = ({ url: path }, response) => {
    if (!path.includes('/tenant') || failures === 0) return false
    failures -= 1
    response.destroy()
    return true
  }
  t.equal((await run('--url', url)).code, 0)
  engine.before = () => true
  const late = await run('--url', url, '--force', '--timeout', '1')
  t.equal(late.code, 2)
})

t.test('a folder that cannot be written is reported', async (t) => {
  const { folder, url } = await open(t)
  const file = join(folder, 'file')
  await writeFile(file, '')
  t.match(await runInProcess(['export', '--out', join(file, 'x'), '--url', url]), { code: 2, err: /ENOTDIR/ })
})

t.test('with --format json, everything is listed', async (t) => {
  const { url, run, out } = await open(t)
  const { out: text } = await run('--url', url, '--format', 'json')
  t.match(JSON.parse(text), {
    files: [join(out, 'groups.yaml'), join(out, 'authorizations.json')],
    users: 2,
    records: 1,
    passwords: false,
    omissions: [{ what: /^users whose id/, items: ['a:b'] }],
  })
})
