import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { until } from '../support/cache-harness.ts'
import { refusingUrl } from '../support/fake-engine.ts'
import { engineSources, startGateway } from '../support/running-gateway.ts'
import { allOn, startStandIn } from '../support/stand-in.ts'

const MARYS = '/authorization/mary-4'
const AUTHORIZATION = 4
// Each password is the user's name. bcrypt has its lowest cost.
const HASHES = {
  mary: '$2b$04$zQuIcZ1fI5oj9mi8mR3TsOxEag8KbIKLJO6azKBohTEwLUuuDQSqe',
  demo: '$2b$04$YYhif5HLVkfH2gRZvI4qCOAidgoV8Ii4hRpCIB4pbVaUD7wN4iZcq',
}

function usersText(...ids: readonly (keyof typeof HASHES)[]): string {
  const lines = ids.map((id) => `  - { id: ${id}, passwordHash: "${HASHES[id]}" }\n`)
  return `users:\n${lines.join('')}`
}

function recordsText(...ids: readonly string[]): string {
  const lines = ids.map(
    (id) => `  - { type: 1, userId: ${id}, resourceType: 4, resourceId: "*", permissions: [READ] }\n`,
  )
  return `authorizations:\n${lines.join('')}`
}

/** Opens a gateway whose users and records are in files. User mary may read records, and demo may not. */
async function openWithFiles(t: Test) {
  const engine = await startStandIn(t)
  allOn(engine, 'mary', AUTHORIZATION)
  const folder = await mkdtemp(join(tmpdir(), 'engine-gateway-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const [users, records] = [join(folder, 'users.yaml'), join(folder, 'records.yaml')]
  await writeFile(users, usersText('mary'))
  await writeFile(records, recordsText('mary'))
  const gateway = await startGateway(t, {
    engines: { default: { nodes: [engine.base] } },
    identity: { source: 'file', file: users, remember: '1h', rememberFailures: '0s' },
    authorization: { records: { source: 'file', file: records, staleAfter: '1s' } },
  })
  t.equal(await gateway.statusOf('mary:mary', MARYS), 200)
  const becomes = (credential: string, status: number) =>
    until(async () => (await gateway.statusOf(credential, MARYS)) === status)
  return { engine, gateway, users, records, becomes }
}

t.test('a change of the users file takes effect without a reload', async (t) => {
  const { users, becomes } = await openWithFiles(t)
  await writeFile(users, usersText('demo'))
  t.ok((await becomes('mary:mary', 401)) < 1_500)
  await becomes('demo:demo', 404)
})

t.test('a change of the records file takes effect without a reload', async (t) => {
  const { records, users, becomes } = await openWithFiles(t)
  await writeFile(users, usersText('mary', 'demo'))
  await writeFile(records, recordsText('demo'))
  await becomes('mary:mary', 404)
  await becomes('demo:demo', 200)
})

t.test('a partially written or invalid file changes nothing', async (t) => {
  const { gateway, users, records } = await openWithFiles(t)
  const text = usersText('demo', 'mary')
  await writeFile(users, text.slice(0, text.length - 30))
  await writeFile(records, 'authorizations: [{ type: 9 }]\n')
  await until(async () => (await gateway.admin('/readyz?verbose')).text.includes('[-] records of default:'))
  await wait(500)
  t.equal(await gateway.statusOf('mary:mary', MARYS), 200)
  t.equal(await gateway.statusOf('demo:demo', MARYS), 401)
  t.equal((await gateway.admin('/readyz')).status, 200)
  const { text: metrics } = await gateway.admin('/metrics')
  t.match(metrics, 'gateway_source_up{engine="default",source="records"} 0\n')
})

t.test(
  'a long records file takes effect without a reload, and a mistake in it changes nothing',
  async (t) => {
    const { gateway, records, users, becomes } = await openWithFiles(t)
    await writeFile(users, usersText('mary', 'demo'))
    const others = Array.from({ length: 500 }, (_, at) => `user${at}`)
    const long = recordsText(...others, 'demo')
    await writeFile(records, long)
    await becomes('mary:mary', 404)
    await becomes('demo:demo', 200)
    await writeFile(records, `${long}  - { type: 1, userId: mary ]\n`)
    await until(async () => (await gateway.admin('/readyz?verbose')).text.includes('[-] records of default:'))
    t.equal(await gateway.statusOf('demo:demo', MARYS), 200)
    await writeFile(records, recordsText(...others, 'mary'))
    await becomes('mary:mary', 200)
    await becomes('demo:demo', 404)
  },
)

t.test('without its records file, a gateway works for a while and then returns 503', async (t) => {
  const { gateway, records, becomes } = await openWithFiles(t)
  await rename(records, `${records}.away`)
  await until(async () => (await gateway.admin('/readyz?verbose')).text.includes('ENOENT'))
  t.equal(await gateway.statusOf('mary:mary', MARYS), 200)
  await becomes('mary:mary', 503)
  const { headers } = await gateway.ask('mary:mary', 'GET', MARYS)
  t.equal(headers.get('x-gateway-error'), 'GW_RECORDS_UNAVAILABLE')
  await rename(`${records}.away`, records)
  await becomes('mary:mary', 200)
})

t.test('lookups use the service account, and no credentials of a caller are sent', async (t) => {
  const engine = await startStandIn(t)
  allOn(engine, 'mary', AUTHORIZATION)
  const { engines, ...settings } = engineSources(engine.base)
  const service = { username: 'gateway', password: 'secret' }
  const gateway = await startGateway(t, {
    ...settings,
    engines: { default: { nodes: [engine.base], service } },
  })
  t.ok(engines)
  t.equal(await gateway.statusOf('mary:mary', MARYS), 200)
  const expected = `Basic ${Buffer.from('gateway:secret').toString('base64')}`
  for (const line of ['GET /authorization', 'POST /identity/verify', 'GET /group?member=mary'])
    t.equal(engine.askedAs(line), expected, line)
  t.equal(engine.askedAs(`GET ${MARYS}`), undefined)
})

t.test(
  'if the engine does not respond to verifications, a known user continues until staleAfter',
  async (t) => {
    const engine = await startStandIn(t)
    for (const user of ['mary', 'demo']) allOn(engine, user, AUTHORIZATION)
    const identity = { remember: '1s', staleAfter: '4s' }
    const timeouts = { headers: '1s' }
    const gateway = await startGateway(t, engineSources(engine.base, { identity, timeouts }))
    t.equal(await gateway.statusOf('mary:mary', MARYS), 200)
    engine.hangsOn = /verify/
    const startedAt = performance.now()
    while (performance.now() - startedAt < 3_000) {
      t.equal(await gateway.statusOf('mary:mary', MARYS), 200)
      await wait(100)
    }
    t.equal(await gateway.statusOf('demo:demo', MARYS), 504, 'a user whom the gateway does not know waits')
    await until(async () => (await gateway.statusOf('mary:mary', MARYS)) === 504)
    const { text } = await gateway.admin('/metrics')
    t.match(text, /gateway_auth_total\{engine="default",result="expired",method="basic"\} \d/)
    t.match(text, /gateway_auth_renewals_total\{engine="default",result="failed"\} \d/)
    engine.hangsOn = null
    t.equal(await gateway.statusOf('mary:mary', MARYS), 200)
  },
)

t.test('a user whom the engine no longer accepts is refused by the renewal in the background', async (t) => {
  const engine = await startStandIn(t)
  allOn(engine, 'mary', AUTHORIZATION)
  const gateway = await startGateway(t, engineSources(engine.base, { identity: { remember: '1s' } }))
  t.equal(await gateway.statusOf('mary:mary', MARYS), 200)
  engine.refuses = 'mary'
  const ms = await until(async () => (await gateway.statusOf('mary:mary', MARYS)) === 401)
  t.ok(ms < 1_500, `after ${ms} ms`)
  const { text } = await gateway.admin('/metrics')
  t.match(text, 'gateway_auth_renewals_total{engine="default",result="refused"} 1\n')
})

t.test('a write with an unknown outcome is treated as executed', async (t) => {
  const engine = await startStandIn(t)
  for (const user of ['mary', 'admin']) allOn(engine, user, AUTHORIZATION)
  const records = { refresh: '1h', staleAfter: '2h' }
  const gateway = await startGateway(t, engineSources(engine.base, { records }))
  t.equal(await gateway.statusOf('mary:mary', MARYS), 200)
  engine.breaksOff = true
  t.equal((await gateway.ask('admin:admin', 'DELETE', MARYS)).status, 502)
  await until(async () => (await gateway.statusOf('mary:mary', '/authorization/admin-4')) === 404)
})

t.test('a gateway is not ready before the records of its engine have been read', async (t) => {
  const nobody = await refusingUrl()
  const gateway = await startGateway(t, engineSources(`${nobody}/engine-rest`))
  const { status, text } = await gateway.admin('/readyz?verbose')
  t.equal(status, 503)
  t.match(text, '[-] records of default: No node of the engine can be reached\n')
  t.equal(await gateway.statusOf('mary:mary', '/version'), 503)
})

t.test('with authorization off, a gateway is ready without records', async (t) => {
  const nobody = await refusingUrl()
  const settings = engineSources(`${nobody}/engine-rest`)
  const gateway = await startGateway(t, {
    ...settings,
    authorization: { mode: 'off', records: { source: 'engine' } },
  })
  t.equal((await gateway.admin('/readyz')).status, 200)
})
