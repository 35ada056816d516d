import { EventEmitter, once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { until } from '../support/cache-harness.ts'
import { authorizationOf, BASE } from '../support/open-gateway.ts'
import { recordsOf, USERS } from '../support/people.ts'
import { refusingUrl, type Seen, startNode } from '../support/fake-engine.ts'
import {
  APPLIED,
  askToReload,
  REFUSED,
  SUCCESSFUL,
  type Reloadable,
  startReloadable,
  setupsOf,
} from '../support/reloadable.ts'

/** Responds with an entity named `x` where one is requested. */
function answerAsEngine({ url }: Seen, response: ServerResponse): void {
  const isEntity = /\/x(\/xml)?$/.test(url)
  response.setHeader('content-type', 'application/json')
  response.end(isEntity ? '{"id":"x","tenantId":null,"bpmn20Xml":"<definitions/>"}' : '{}')
}

const node = await startNode(t, answerAsEngine)
const base = node.url + BASE
const { ONE, TWO, ENGINES_OF_TWO } = setupsOf(base)
const OPEN = { authorization: { mode: 'off', records: { source: 'file', file: 'records.yaml' } } }

/** Sends requests without a pause until it is stopped. Collects every unexpected status. */
function streamOf({ ask }: Reloadable) {
  const unexpected: unknown[] = []
  const end = new AbortController()
  let count = 0
  const goOn = async (path: string) => {
    while (!end.signal.aborted) {
      const status = await ask('demo', path).then((response) => response.status, String)
      if (status !== 200) unexpected.push(status)
      count += 1
    }
  }
  const streams = ['/version', '/engine', '/task', '/version'].map(goOn)
  const stop = async () => {
    end.abort()
    await Promise.all(streams)
    return count
  }
  return { unexpected, stop }
}

t.test(
  'reloads under load fail no request, and each configuration is in force when its response arrives',
  async (t) => {
    const gateway = await startReloadable(t, ONE)
    const { unexpected, stop } = streamOf(gateway)
    for (let round = 0; round < 20; round += 1) {
      const isOpen = round % 2 === 0
      t.equal((await gateway.reload(isOpen ? { ...TWO, ...OPEN } : ONE)).status, 200)
      t.same(await gateway.engines(), isOpen ? ENGINES_OF_TWO : [{ name: 'default' }])
      t.equal((await gateway.ask('nobody', '/deployment/x')).status === 200, isOpen)
    }
    const count = await stop()
    t.same(unexpected, [])
    t.ok(count > 100, `${count} requests`)
    t.ok(Number(await gateway.metric(APPLIED)) >= 20)
    const version =
      'http_server_request_duration_seconds_count{operation="getRestAPIVersion",engine="default",http_request_method="GET",http_response_status_code="200"}'
    t.ok(Number(await gateway.metric(version)) > 40, 'counts go on')
    t.equal(await gateway.metric('gateway_source_up{engine="second",source="records"}'), null)
  },
)

t.test('an invalid file changes nothing and is reported until it is corrected', async (t) => {
  const gateway = await startReloadable(t, ONE)
  t.equal(await gateway.metric(SUCCESSFUL), 1)
  const appliedAt = await gateway.metric('gateway_config_applied_timestamp_seconds')
  const { status, value } = await gateway.reload({ ...TWO, limits: { body: 7 }, colour: 'red' })
  t.equal(status, 422)
  t.match(value, { result: 'refused', problems: [/^limits\.body: /, /^colour: unknown key/] })
  t.match(
    gateway.log.find(({ level }) => level === 'error'),
    { problems: [/^limits\.body: /, /^colour: /] },
  )
  t.same(await gateway.engines(), [{ name: 'default' }])
  t.equal(await gateway.metric(SUCCESSFUL), 0)
  t.ok(Number(await gateway.metric(REFUSED)) >= 1)
  t.equal(await gateway.metric('gateway_config_applied_timestamp_seconds'), appliedAt)
  const ready = await fetch(`${gateway.running.adminAddress}/readyz?verbose`)
  t.equal(ready.status, 200)
  t.match(await ready.text(), '[-] configuration the file was refused')
  t.equal((await gateway.reload(TWO)).status, 200)
  t.equal(await gateway.metric(SUCCESSFUL), 1)
  t.same(await gateway.engines(), ENGINES_OF_TWO)
})

t.test('the response of a reload lists the changes', async (t) => {
  const gateway = await startReloadable(t, ONE)
  // Before the file watcher notices it.
  t.same((await gateway.reload({ ...TWO, limits: { body: '1MiB' } })).value, {
    result: 'applied',
    changed: ['engines.second', 'limits.body'],
  })
})

t.test('a reload has one log line and one count, also after the file is noticed', async (t) => {
  const gateway = await startReloadable(t, ONE)
  await gateway.reload(TWO)
  // The watcher looks at the file at the latest after five seconds.
  await wait(6000)
  const lines = gateway.log.filter(({ msg }) => msg === 'configuration reloaded')
  t.equal(await gateway.metric(APPLIED), lines.length)
  // On a busy machine, the watcher may have noticed the file before the request.
  t.equal(lines.at(-1)?.['cause'], 'request')
})

t.test('a reload without a change fails if a file of users is missing, and changes nothing', async (t) => {
  const gateway = await startReloadable(t, ONE)
  const users = join(dirname(gateway.file), 'users.yaml')
  const content = await readFile(users, 'utf8')
  await rm(users)
  const response = await askToReload(gateway.running)
  t.equal(response.status, 422)
  t.match(await response.json(), { result: 'refused', problems: [/^identity\.file: .* does not exist$/] })
  t.equal((await gateway.ask('demo', '/version')).status, 200)
  await writeFile(users, content)
  t.equal((await askToReload(gateway.running)).status, 200)
  t.equal((await gateway.ask('demo', '/version')).status, 200)
})

t.test('no response and no log line shows the content of the file', async (t) => {
  const gateway = await startReloadable(t, ONE)
  const { status, text } = await gateway.reload(
    'version: 1\nservice: { password: "hush-hush" }\nengines: [\n',
  )
  t.equal(status, 422)
  t.notMatch(text, 'hush')
  t.notMatch(JSON.stringify(gateway.log), 'hush')
})

t.test('allowed origins of writes change without a restart', async (t) => {
  const gateway = await startReloadable(t, ONE)
  const post = async () => {
    const headers = { origin: 'https://app.example', authorization: authorizationOf('demo') }
    const response = await fetch(`${gateway.running.address}${BASE}/nothing`, { method: 'POST', headers })
    return response.status
  }
  t.equal(await post(), 403)
  const listen = { port: 0, allowedOrigins: ['https://app.example'] }
  t.match((await gateway.reload({ ...ONE, listen })).value, { changed: ['listen.allowedOrigins'] })
  t.equal(await post(), 404)
})

/** Returns the number of authentications with this `result` in `gateway_auth_total`. */
async function authenticated(gateway: Reloadable, result: string): Promise<number> {
  return (await gateway.metric(`gateway_auth_total{engine="default",result="${result}",method="basic"}`)) ?? 0
}

t.test('a verified user is remembered after a reload while the user’s entry is unchanged', async (t) => {
  const gateway = await startReloadable(t, ONE)
  const users = (change: (user: (typeof USERS)[number]) => object) =>
    writeFile(join(dirname(gateway.file), 'users.yaml'), JSON.stringify({ users: USERS.map(change) }))
  const ask = async () => (await gateway.ask('mary', '/version')).status
  t.equal(await ask(), 200)
  t.equal(await authenticated(gateway, 'verified'), 1)
  const limitedTo = (body: string) => gateway.reload({ ...ONE, limits: { body } })
  await limitedTo('1MiB')
  t.equal(await ask(), 200)
  t.equal(await authenticated(gateway, 'verified'), 1)
  t.equal(await authenticated(gateway, 'remembered'), 1)
  // A changed entry of another user has no effect on mary.
  await users((user) => (user.id === 'demo' ? { ...user, groups: [] } : user))
  await limitedTo('2MiB')
  t.equal(await ask(), 200)
  t.equal(await authenticated(gateway, 'remembered'), 2)
  const [other] = USERS
  await users((user) => (user.id === 'mary' ? { ...user, passwordHash: other?.passwordHash } : user))
  await limitedTo('3MiB')
  t.equal(await ask(), 401, 'another password counts at once')
  t.equal(await authenticated(gateway, 'remembered'), 2)
})

t.test('wrong passwords from before a reload are still counted after it', async (t) => {
  const gateway = await startReloadable(t, ONE)
  const guess = async (password: string) => {
    const headers = { authorization: authorizationOf('mary', password) }
    const startedAt = performance.now()
    t.equal((await fetch(`${gateway.running.address}${BASE}/version`, { headers })).status, 401)
    return performance.now() - startedAt
  }
  for (let count = 0; count < 5; count += 1) await guess(`wrong ${count}`)
  await gateway.reload({ ...ONE, limits: { body: '1MiB' } })
  t.ok((await guess('wrong again')) >= 990, 'its answer is held')
})

t.test('any number of concurrent reload requests causes two reloads', async (t) => {
  const gateway = await startReloadable(t, ONE)
  const asks = Array.from({ length: 20 }, () => gateway.running.reload())
  for (const reloaded of await Promise.all(asks)) t.equal(reloaded.result, 'applied')
  t.equal(await gateway.metric(APPLIED), 2)
})

t.test('the token of the admin listener changes without a restart', async (t) => {
  const gateway = await startReloadable(t, ONE)
  const statusWith = async (token: string) => {
    return (await askToReload(gateway.running, { authorization: `Bearer ${token}` })).status
  }
  const admin = { port: 0, token: 'a-token-of-this-test' }
  t.match((await gateway.reload({ ...ONE, admin })).value, { changed: ['admin.token'] })
  t.equal(await statusWith('another-token-of-it'), 401)
  t.equal(await statusWith(admin.token), 200)
  t.notMatch(JSON.stringify(gateway.log), admin.token)
})

t.test('a change that needs a restart is refused with its name', async (t) => {
  const gateway = await startReloadable(t, ONE)
  const sockets = { listen: { port: 1 }, admin: { host: '0.0.0.0', port: 0 }, timeouts: { request: '5s' } }
  t.same((await gateway.reload({ ...TWO, ...sockets })).value, {
    result: 'refused',
    problems: ['listen.port', 'admin.host', 'timeouts.request'].map((path) => `${path}: needs a restart`),
  })
  t.same(await gateway.engines(), [{ name: 'default' }])
})

t.test('dangerous settings of a new configuration cause warnings', async (t) => {
  const gateway = await startReloadable(t, ONE)
  const warnings = () => gateway.log.filter(({ msg }) => String(msg).startsWith('passthrough[0]: '))
  const passthrough = [{ prefix: '/camunda', upstream: node.url }]
  t.same(warnings(), [])
  t.equal((await gateway.reload({ ...ONE, passthrough })).status, 200)
  t.match(warnings(), [{ level: 'warn' }])
  await gateway.reload({ ...ONE, passthrough })
  t.equal(warnings().length, 1, 'what has not changed is not said again')
})

t.test('a duplicate passthrough prefix is refused', async (t) => {
  const gateway = await startReloadable(t, ONE)
  const twice = { prefix: '/camunda', upstream: node.url }
  t.equal((await gateway.reload({ ...ONE, passthrough: [twice, twice] })).status, 422)
  t.same(await gateway.engines(), [{ name: 'default' }])
})

t.test('a configuration with an engine whose records cannot be read is refused', async (t) => {
  const gateway = await startReloadable(t, ONE)
  const nodes = [`${await refusingUrl()}${BASE}`]
  const third = { nodes, authorization: { records: { source: 'engine' } } }
  t.match((await gateway.reload({ engines: { ...ONE.engines, third } })).value, {
    result: 'refused',
    problems: [/^engines\.third: its records: ./],
  })
  t.same(await gateway.engines(), [{ name: 'default' }])
  t.equal(await gateway.metric('gateway_source_up{engine="default",source="records"}'), 1)
})

/** Starts a node that holds the requests selected by `holds` until the test responds to them. */
async function startSlowNode(t: Test, holds: (request: Seen) => boolean) {
  const held: ServerResponse[] = []
  const news = new EventEmitter()
  let records: readonly unknown[] = []
  const { url } = await startNode(t, (request, response) => {
    if (holds(request)) {
      held.push(response)
      news.emit('asked')
    } else if (request.url === `${BASE}/authorization`) response.end(JSON.stringify(records))
    else answerAsEngine(request, response)
  })
  return {
    base: url + BASE,
    asked: () => once(news, 'asked'),
    answer: (status: number, body?: string) => held[0]?.writeHead(status).end(body),
    has: (list: readonly unknown[]) => {
      records = list
    },
  }
}

t.test('a request that started before a reload gets the response of its old node', async (t) => {
  const slow = await startSlowNode(t, ({ url }) => url === `${BASE}/version`)
  const gateway = await startReloadable(t, { engines: { default: { nodes: [slow.base] } } })
  const asked = slow.asked()
  const answer = gateway.ask('demo', '/version')
  await asked
  t.equal((await gateway.reload(ONE)).status, 200)
  t.equal((await gateway.ask('demo', '/version')).status, 200)
  slow.answer(200, '{"version":"old"}')
  t.same(await (await answer).text(), '{"version":"old"}')
})

t.test('a change of records that started before a reload is in force after it', async (t) => {
  const slow = await startSlowNode(t, ({ method }) => method === 'DELETE')
  const admins = recordsOf([])
  const setup = {
    engines: { default: { nodes: [slow.base] } },
    authorization: { records: { source: 'engine', refresh: '1h', staleAfter: '2h' } },
  }
  slow.has(recordsOf(['grant nobody DEPLOYMENT:* READ']))
  const gateway = await startReloadable(t, setup)
  const asked = slow.asked()
  const change = gateway.ask('demo', '/authorization/x', { method: 'DELETE' })
  await asked
  t.equal((await gateway.reload({ ...setup, hosts: [new URL(gateway.running.address).host] })).status, 200)
  t.equal((await gateway.ask('nobody', '/deployment/x')).status, 200)
  slow.has(admins)
  slow.answer(204)
  t.equal((await change).status, 204)
  t.equal((await gateway.ask('nobody', '/deployment/x')).status, 404)
})

t.test('a request from before a reload may outlast the drain timeout and is audited', async (t) => {
  const slow = await startSlowNode(t, ({ method }) => method === 'DELETE')
  const audit = join(t.testdir(), 'audit.log')
  const setup = {
    engines: { default: { nodes: [slow.base] } },
    timeouts: { drain: '50ms' },
    log: { audit },
  }
  const gateway = await startReloadable(t, setup)
  const asked = slow.asked()
  const change = gateway.ask('demo', '/authorization/x', { method: 'DELETE' })
  await asked
  t.equal((await gateway.reload({ ...setup, ...ONE })).status, 200)
  await wait(200)
  slow.answer(204)
  t.equal((await change).status, 204)
  await until(async () => (await readFile(audit, 'utf8')).includes('"operation":"deleteAuthorization"'))
  t.same(await (await gateway.ask('demo', '/version')).json(), {})
})

t.test('cached entries are kept while the engines are unchanged, and dropped otherwise', async (t) => {
  const gateway = await startReloadable(t, ONE)
  const fromMemory = async () => {
    const response = await gateway.ask('demo', '/process-definition/x/xml')
    return /; hit/.test(response.headers.get('cache-status') ?? '')
  }
  t.equal(await fromMemory(), false)
  t.equal(await fromMemory(), true)
  await gateway.reload({ ...ONE, limits: { body: '1MiB' } })
  t.equal(await fromMemory(), true)
  const other = await startNode(t, answerAsEngine)
  await gateway.reload({ ...ONE, engines: { default: { nodes: [other.url + BASE] } } })
  t.equal(await fromMemory(), false)
  t.equal(await fromMemory(), true)
})

t.test('the log level changes with a reload', async (t) => {
  const gateway = await startReloadable(t, ONE)
  t.equal((await gateway.reload({ ...ONE, log: { level: 'error', audit: 'off' } })).status, 200)
  const before = gateway.log.length
  await gateway.ask('demo', '/version')
  t.equal((await gateway.reload({ ...ONE, log: { audit: 'off' } })).status, 200)
  t.equal(gateway.log.slice(before).filter(({ operation }) => operation !== undefined).length, 0)
})
