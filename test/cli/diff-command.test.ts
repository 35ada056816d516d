import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { refusingUrl } from '../support/fake-engine.ts'
import { startReloadable, writeSetup } from '../support/reloadable.ts'
import { runInProcess } from '../support/run-command.ts'
import { listenUntilEnd } from '../support/listen-until-end.ts'

const TOKEN = 'abcdefghij-0123456789'
const NODES = ['http://127.0.0.1:9/engine-rest']
const account = (password: string) => ({ username: 'gate', password })
const RUNNING = {
  engines: { default: { nodes: NODES, service: account('hunter2-one') } },
  health: { probe: false },
  admin: { port: 0, token: TOKEN },
  cache: { redis: 'redis://:hunter2-redis@127.0.0.1:9/1' },
}

/** Starts a gateway with `RUNNING`. Each compared file is in the same folder as its configuration, with the same users and records. */
async function setUp(t: Test, settings: Readonly<Record<string, unknown>> = RUNNING) {
  const { running, file } = await startReloadable(t, settings)
  const folder = dirname(file)
  const tokenFile = join(folder, 'token')
  await writeFile(tokenFile, `${TOKEN}\n`)
  const other = join(folder, 'other.yaml')
  return {
    address: running.adminAddress,
    diff: async (changed: Readonly<Record<string, unknown>>, ...rest: readonly string[]) => {
      await writeFile(
        other,
        JSON.stringify({
          version: 1,
          listen: { port: 0 },
          identity: { source: 'file', file: 'users.yaml', remember: '1h' },
          authorization: { records: { source: 'file', file: 'records.yaml' } },
          ...settings,
          ...changed,
        }),
      )
      return runInProcess([
        'diff',
        '--config',
        other,
        '--admin',
        running.adminAddress,
        '--token-file',
        tokenFile,
        ...rest,
      ])
    },
  }
}

/** Shared, because a start and a drain for each test would take most of the time. */
const shared = setUp(t)

t.test('diff reports equal files, differences, and changes that need a restart', async (t) => {
  const { diff } = await shared
  t.match(await diff({}), { code: 0, out: /other\.yaml is the running configuration\n$/, err: '' })
  const { code, out } = await diff({
    listen: { port: 1234 },
    timeouts: { headers: '30s' },
    engines: { ...RUNNING.engines, orders: { nodes: NODES } },
  })
  t.equal(code, 1)
  t.match(out, /^listen\.port: 0 → 1234 {2}\(needs a restart\)$/m)
  t.match(out, /^timeouts\.headers: 60000 → 30000$/m)
  t.match(out, /^engines\.orders: \(none\) → \{"nodes":/m)
  t.match(out, /^3 differences: a reload refuses the file, because 1 of them needs a restart$/m)
})

t.test('diff reports that a secret differs without showing it', async (t) => {
  const { diff } = await shared
  const engines = { default: { nodes: NODES, service: account('hunter2-two') } }
  const cache = { redis: 'redis://:hunter2-other@127.0.0.1:9/1' }
  const admin = { port: 0, token: `${TOKEN}-hunter2` }
  const text = await diff({ engines, cache, admin })
  t.equal(text.code, 1)
  t.same(text.out.split('\n'), [
    'admin.token: (secret, differs)',
    'cache.redis.url: (secret, differs)',
    'engines.default.service.password: (secret, differs)',
    '3 differences: a reload applies all',
    '',
  ])
  const json = await diff({ engines, cache: { redis: 'redis://:hunter2@elsewhere:9/1' } }, '--format', 'json')
  t.match(JSON.parse(json.out), {
    secretsCompared: true,
    differences: [
      { path: 'cache.redis', running: 'redis://(secret)@127.0.0.1:9/1', isSecret: false, applies: 'reload' },
      { path: 'engines.default.service.password', running: '(secret)', file: '(secret)', isSecret: true },
    ],
  })
  t.notMatch(text.out + text.err + json.out + json.err, /hunter2|abcdefghij/)
})

t.test('GET /config shows no secret and requires the token', async (t) => {
  const { address } = await shared
  t.equal((await fetch(`${address}/config`)).status, 401)
  const headers = { authorization: `Bearer ${TOKEN}` }
  const answer = await fetch(`${address}/config`, { headers })
  const text = await answer.text()
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('cache-control'), 'no-store')
  t.notMatch(text, /hunter2|abcdefghij/)
  t.match(JSON.parse(text).config, {
    admin: { token: '(secret)' },
    cache: { redis: { url: 'redis://(secret)@127.0.0.1:9/1' } },
    engines: { default: { service: { username: 'gate', password: '(secret)' } } },
  })
  t.equal(await (await fetch(`${address}/config`, { headers })).text(), text, 'made once')
  t.equal((await fetch(`${address}/config`, { headers: { ...headers, origin: 'http://evil' } })).status, 403)
})

t.test('diff does not compare secrets if the gateway has no admin token', async (t) => {
  const { diff, address } = await setUp(t, { ...RUNNING, admin: { port: 0 } })
  t.match(JSON.parse(await (await fetch(`${address}/config`)).text()), { secrets: null })
  const engines = { default: { nodes: NODES, service: account('hunter2-two') } }
  t.match(await diff({ engines }), {
    code: 0,
    err: 'secrets were not compared: the running gateway has no admin.token\n',
  })
})

t.test('diff exits with 2 if the gateway does not respond or refuses the request', async (t) => {
  const { file, write } = await writeSetup(t)
  await write(RUNNING)
  const wrong = join(dirname(file), 'wrong')
  await writeFile(wrong, 'not-the-token-0123456789')
  const { address } = await shared
  const ask = (...rest: readonly string[]) => runInProcess(['diff', '-c', file, ...rest])
  t.match(await ask(), { code: 2, out: '', err: /^admin\.port is 0/ })
  t.match(await ask('--admin', await refusingUrl()), { code: 2, out: '', err: /ECONNREFUSED/ })
  t.match(await ask('--admin', address, '--token-file', wrong), { code: 2, err: /token is missing or wrong/ })
  t.match(await ask('--admin', address, '--token-file', `${wrong}-none`), { code: 2, err: /ENOENT/ })
  t.match(await ask('--admin', 'ftp://x'), { code: 2, err: /--admin takes a URL/ })
  await writeFile(file, 'version: 2')
  t.match(await ask('--admin', address), { code: 2, out: '', err: /^ {2}version: /m })
})

t.test('diff exits with 2 if another server responds', async (t) => {
  const { file, write } = await writeSetup(t)
  await write(RUNNING)
  const server = createServer(({ url }, response) => {
    if (url?.startsWith('/config') !== true) response.writeHead(404)
    response.end('<html>')
  })
  const at = await listenUntilEnd(t, server)
  t.match(await runInProcess(['diff', '-c', file, '--admin', at]), { code: 2, out: '', err: /JSON/ })
})
