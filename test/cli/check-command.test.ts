import { writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { startSandbox } from '../../sandbox/sandbox.ts'
import { writeCertificates } from '../support/certificates.ts'
import { refusingUrl, startNode, type Seen } from '../support/fake-engine.ts'
import { startRedis } from '../support/redis.ts'
import { writeSetup } from '../support/reloadable.ts'
import { redisSkip } from '../support/requirements.ts'
import { runInProcess } from '../support/run-command.ts'
import { startTlsNode } from '../support/tls-node.ts'
import { createKey, startIssuer } from '../support/token-issuer.ts'
import { listenUntilEnd } from '../support/listen-until-end.ts'

const sandbox = await startSandbox()
t.teardown(() => sandbox.close())

/** Starts a server that accepts connections and never sends a byte. Returns its URL. */
async function silentUrl(t: Test): Promise<string> {
  const server: Server = createServer((socket) => void socket.on('error', () => undefined).resume())
  return `${await listenUntilEnd(t, server)}/engine-rest`
}

async function checked(t: Test, settings: Readonly<Record<string, unknown>>, ...rest: readonly string[]) {
  const { file, write } = await writeSetup(t)
  await write(settings)
  const ran = await runInProcess(['check', '--config', file, '--connect', ...rest])
  return {
    ...ran,
    lines: ran.out.split('\n').map((line) => line.replace(/\d+ ms/, 'N ms').replace(/ +/g, ' ')),
  }
}

/** Responds as a secured engine: every client may list the engines, and only the service account may read more. */
function secured({ url, headers }: Seen): readonly [number, unknown] {
  if (url === '/engine-rest/engine') return [200, [{ name: 'default' }]]
  if (headers.authorization !== `Basic ${Buffer.from('gate:right').toString('base64')}`) return [401, '']
  if (url === '/engine-rest/version') return [200, { version: '7.24.0' }]
  return [200, url.startsWith('/authorization', '/engine-rest'.length) ? [{ id: 'a' }] : []]
}

async function startSecured(t: Test) {
  const { url, seen } = await startNode(t, (request, response) => {
    const [status, value] = secured(request)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  })
  return { url: `${url}/engine-rest`, seen }
}

t.test('check --connect contacts each token issuer once', async (t) => {
  const key = await createKey('one')
  const issuer = await startIssuer(t, key)
  const setting = { name: 'company', issuer: issuer.url, audience: ['gateway'] }
  const away = { name: 'away', issuer: `${issuer.url}/realms/none`, audience: ['gateway'] }
  const identity = { source: 'file', file: 'users.yaml', tokens: { issuers: [setting, away] } }
  const { code, lines } = await checked(t, {
    engines: { default: { nodes: [sandbox.base] }, second: { nodes: [sandbox.base], remoteName: 'second' } },
    identity,
  })
  t.equal(code, 1)
  const ofIssuers = lines.filter((line) => line.includes(' issuer '))
  t.equal(ofIssuers.length, 2)
  t.equal(ofIssuers[0], `ok issuer company ${issuer.url} N ms 1 key`)
  t.match(ofIssuers[1], /^(?!ok).* issuer away .*response status 404/)
})

t.test('check --connect shows the version of each node that responds', async (t) => {
  const { code, err, lines } = await checked(t, {
    engines: {
      default: { nodes: [{ url: sandbox.base, drain: true }] },
      second: { nodes: [sandbox.base], remoteName: 'second' },
    },
  })
  t.equal(code, 0)
  t.match(err, /^warning: engines\.default\.nodes: all nodes have drain.*\n$/)
  t.equal(lines[0], `ok node of default ${sandbox.base} N ms version 7.22.0, drained`)
  t.equal(lines[1], `ok node of second ${sandbox.base} N ms version 7.22.0`)
  t.match(lines[2], / is good, and all connections succeeded$/)
})

t.test('check without --connect sends no request', async (t) => {
  const { file, write } = await writeSetup(t)
  const before = sandbox.requests
  await write({ engines: { default: { nodes: [sandbox.base] } }, health: { probe: false } })
  t.match(await runInProcess(['check', '--config', file]), { code: 0, out: `${file} is good\n` })
  t.equal(sandbox.requests, before)
})

t.test('check --connect reports nodes that are down, silent or not the engine', async (t) => {
  const [dead, silent] = [`${await refusingUrl()}/engine-rest`, await silentUrl(t)]
  const other = await startNode(t, (_, response) => response.end('[{"name":"other"}]'))
  const page = await startNode(t, (_, response) => response.end('<html>hello'))
  const startedMs = performance.now()
  const { code, lines } = await checked(
    t,
    { engines: { default: { nodes: [dead, silent, sandbox.base, other.url, page.url] } } },
    '--timeout',
    '0.8',
  )
  t.equal(code, 1)
  t.match(lines[0], /^FAILED node of default \S+ N ms connect ECONNREFUSED/)
  t.match(lines[1], /^FAILED node of default \S+ N ms no response within 0.8 s$/)
  t.match(lines[2], /^ok /)
  t.match(lines[3], /^FAILED .* the node does not have the engine default; it has other$/)
  t.match(lines[4], /^FAILED .*JSON/)
  t.match(lines[5], / has no errors; 4 of 5 connections failed$/)
  t.ok(performance.now() - startedMs < 20_000, 'and all of them wait together')
})

t.test('check --connect sends the configured probe to applications, and nothing without one', async (t) => {
  const answers = (status: number) =>
    startNode(t, (_request, response) => response.writeHead(status, { Location: '/login' }).end())
  const [up, ill, unknown] = [await answers(302), await answers(503), await answers(200)]
  const { code, lines } = await checked(t, {
    engines: { default: { nodes: [sandbox.base] } },
    health: { probe: false },
    passthrough: [
      { prefix: '/app', nodes: [`${up.url}/web`, { url: `${ill.url}/web`, drain: true }], probe: '/health' },
      { prefix: '/other', upstream: unknown.url },
    ],
  })
  t.equal(code, 1)
  t.equal(lines[1], `ok node of /app ${up.url}/web N ms answers`)
  t.equal(lines[2], `FAILED node of /app ${ill.url}/web N ms response status 503`)
  t.match(lines[3], / has no errors; 1 of 3 connections failed$/)
  t.match(up.seen, [{ method: 'GET', url: '/health', headers: { authorization: undefined } }])
  t.equal(up.seen.length, 1)
  t.same(unknown.seen, [])
})

t.test('check --connect says what to change in the URL of a node', async (t) => {
  const secure = (await startTlsNode(t, writeCertificates(t))).origin('127.0.0.1')
  const root = sandbox.base.replace(/\/engine-rest$/, '')
  const nodes = [
    `${root.replace('http:', 'https:')}/engine-rest`,
    `${secure.replace('https:', 'http:')}/engine-rest`,
    root,
    `${sandbox.base}/nothing`,
    `${secure}/engine-rest`,
  ]
  const { code, lines } = await checked(t, { engines: { default: { nodes } } })
  t.equal(code, 1)
  t.match(lines[0], /the node does not respond in TLS: if it has no TLS, write http:\/\/ in its URL$/)
  t.match(lines[1], /: if the node expects TLS, write https:\/\/ in its URL$/)
  t.match(
    lines[2],
    /response status 404 for \/engine: the engine is at \/engine-rest: add this path to the URL/,
  )
  t.match(lines[3], /response status 404 for \/engine-rest\/nothing\/engine: the engine is at \/engine-rest/)
  t.match(
    lines[4],
    /the certificate of the node is not signed by a known authority: name its authority in tls\.ca$/,
  )
})

t.test('check --connect names the usual path if the engine is not there either', async (t) => {
  const page = await startNode(t, (_, response) => response.writeHead(404).end())
  const { lines } = await checked(t, { engines: { default: { nodes: [page.url] } } })
  t.match(lines[0], /must end with the path of the REST API, for example \/engine-rest$/)
})

t.test(
  'check --production prints each setting that is not for production, and what to check by hand',
  async (t) => {
    const { file, write } = await writeSetup(t)
    await write({
      engines: { default: { nodes: [sandbox.base] } },
      authorization: { mode: 'report', records: { source: 'file', file: 'records.yaml' } },
    })
    const { code, out, err } = await runInProcess(['check', '--config', file, '--production'])
    t.equal(code, 1)
    t.equal(err, '')
    t.match(out, /^not for production: authorization\.mode: report refuses no request/m)
    t.match(out, /^not for production: limits\.rate: is not set/m)
    t.match(out, /^check by hand: only the gateway can reach the engines$/m)
    t.match(out, / has no errors; \d+ settings are not for production$/m)
    await write({
      engines: { default: { nodes: [sandbox.base] } },
      listen: { trustedProxies: ['127.0.0.1'] },
      hosts: ['api.example'],
      limits: { rate: { requests: 600, per: '1m' } },
    })
    const good = await runInProcess(['check', '--config', file, '--production', '--format', 'json'])
    t.equal(good.code, 0)
    t.same(JSON.parse(good.out).production, [])
  },
)

t.test('check --connect reports an engine whose date format differs from the configured one', async (t) => {
  const dates = (timestamp: string) =>
    startNode(t, ({ url }, response) => {
      const isLog = url.startsWith('/engine-rest/schema/log')
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify(isLog ? [{ id: '0', timestamp, version: '7.22.0' }] : [{ name: 'default' }]),
      )
    })
  const checkedWith = async (timestamp: string, dateFormat?: string) => {
    const { url } = await dates(timestamp)
    const engine = { nodes: [`${url}/engine-rest`], ...(dateFormat !== undefined && { dateFormat }) }
    const { code, lines } = await checked(t, { engines: { default: engine } })
    return { code, line: lines[0] }
  }
  t.match(await checkedWith('2026-01-31T12:00:00.000+0000'), { code: 0 })
  t.match(await checkedWith('31.01.2026 12:00:00'), {
    code: 1,
    line: /^FAILED node of default .* the engine writes dates as 31\.01\.2026 12:00:00: set dateFormat to the engine's format$/,
  })
  t.match(await checkedWith('31.01.2026 12:00:00', 'dd.MM.yyyy HH:mm:ss'), { code: 0 })
  t.match(await checkedWith('2026-01-31T12:00:00Z', "yyyy-MM-dd'T'HH:mm:ssX"), { code: 0 })
})

t.test('check --connect tests the service account and never prints its password', async (t) => {
  const engine = await startSecured(t)
  const settingsWith = (password: string) => ({
    engines: { default: { nodes: [engine.url], service: { username: 'gate', password } } },
    identity: { source: 'engine' },
    authorization: { records: { source: 'engine' } },
  })
  const right = await checked(t, settingsWith('right'))
  t.equal(right.code, 0, right.out)
  t.match(right.lines, [
    /^ok node of default .* version 7\.24\.0$/,
    /^ok users of default \S+\/user\?maxResults=1 N ms the list is empty, or the account may not see any item$/,
    /^ok records of default \S+\/authorization\?maxResults=1 N ms readable$/,
  ])
  t.same(
    engine.seen.filter(({ method }) => method !== 'GET'),
    [],
    'nothing is changed',
  )
  const wrong = await checked(t, settingsWith('wrong-hunter2'), '--format', 'json')
  t.equal(wrong.code, 1)
  t.match(JSON.parse(wrong.out), {
    good: true,
    problems: [],
    connections: [
      {
        what: 'node of default',
        ok: false,
        detail: "the node refuses the gateway's credentials: response status 401",
      },
      { what: 'users of default', ok: false, detail: /401/ },
      { what: 'records of default', ok: false, detail: /401/ },
    ],
  })
  t.notMatch(wrong.out + wrong.err + right.out, /hunter2|right/)
})

t.test('check --connect contacts Redis and does not print its password', { skip: redisSkip }, async (t) => {
  const redis = await startRedis({ args: ['--requirepass', 'hunter2hunter2'] })
  t.teardown(() => redis.stop())
  const engines = { default: { nodes: [sandbox.base] } }
  const at = `127.0.0.1:${redis.port}`
  const ask = (url: string) => checked(t, { engines, cache: { redis: url } }, '--timeout', '2')
  const right = await ask(`redis://:hunter2hunter2@${at}/1`)
  t.equal(right.code, 0, right.out)
  t.equal(right.lines[1], `ok redis redis://${at}/1 N ms PONG`)
  for (const url of [`redis://:wrong-hunter2@${at}`, `redis://${at}`, `redis://:hunter2@127.0.0.1:9`]) {
    const { code, out, err, lines } = await ask(url)
    t.equal(code, 1)
    t.match(lines[1], /^FAILED redis redis:\/\/127\.0\.0\.1:\d+ N ms (WRONGPASS|NOAUTH|.*ECONNREFUSED)/, url)
    t.notMatch(out + err, /hunter2/)
  }
})

t.test('check reports an invalid configuration as JSON and sends no request', async (t) => {
  const { file, write } = await writeSetup(t)
  await write({ engines: { default: { nodes: [] } } })
  const before = sandbox.requests
  const { code, out } = await runInProcess(['check', '-c', file, '--connect', '--format', 'json'])
  t.equal(code, 1)
  t.match(JSON.parse(out), {
    good: false,
    problems: [/^engines\.default\.nodes: at least one node is needed$/],
    connections: null,
  })
  t.equal(sandbox.requests, before)
  await writeFile(join(dirname(file), 'users.yaml'), 'users: [')
  await write({ engines: { default: { nodes: [sandbox.base] } } })
  t.match(await runInProcess(['check', '-c', file, '--connect']), { code: 1, err: /users\.yaml/ })
})

t.test('check refuses an invalid --timeout', async (t) => {
  for (const time of ['0', '-1', '5s', '61', ''])
    t.match(await runInProcess(['check', '-c', 'x.yaml', '--timeout', time]), { code: 2, out: '' }, time)
})
