import t from 'tap'
import { bodyText } from '../../src/request/body.ts'
import { until } from '../support/cache-harness.ts'
import { javaSkip } from '../support/requirements.ts'
import { engineSources, type RunningGateway, startGateway } from '../support/running-gateway.ts'
import { type Engine, startEngine } from './engine.ts'
import { exchange } from './exchange.ts'

const ADMIN = 'demo:demo'

async function mustDo(
  gateway: RunningGateway,
  ...ask: Parameters<RunningGateway['ask']> extends [unknown, ...infer R] ? R : never
) {
  const answer = await gateway.ask(ADMIN, ...ask)
  if (answer.status >= 300)
    throw new Error(`${ask[0]} ${ask[1]}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

function userOf(id: string) {
  const profile = { id, firstName: id, lastName: id, email: `${id}@example.org` }
  return { profile, credentials: { password: `${id}Secret1` } }
}

function readGrant(userId: string, resourceType: number) {
  return { type: 1, permissions: ['READ'], userId, groupId: null, resourceType, resourceId: '*' }
}

const GROUP = 2

t.test('users and records of an engine are read from the engine', { skip: javaSkip }, async (t) => {
  const engine = await startEngine()
  t.teardown(() => engine.stop())
  const gateway = await startGateway(t, engineSources(engine.base, { identity: { remember: '1h' } }))
  t.equal(await gateway.statusOf(ADMIN, '/group/camunda-admin'), 200, 'its admin is known from the start')
  await changes(t, gateway)
  await oddRecords(t, gateway)
  await deletions(t, { gateway, engine })
  await passwords(t, { gateway, engine })
  await outage(t, engine)
})

type Subtests = Pick<typeof t, 'test'>

async function changes(t: Subtests, gateway: RunningGateway) {
  await t.test('changes made through the gateway are in force immediately', async (t) => {
    await mustDo(gateway, 'POST', '/group/create', { id: 'clerks', name: 'Clerks', type: 'WORKFLOW' })
    await mustDo(gateway, 'POST', '/tenant/create', { id: 'acme', name: 'Acme' })
    t.equal(await gateway.statusOf('anna:annaSecret1', '/version'), 401)
    await mustDo(gateway, 'POST', '/user/create', userOf('anna'))
    const anna = 'anna:annaSecret1'
    t.equal(await gateway.statusOf(anna, '/group/clerks'), 404, 'at once, though she was wrong before')

    await mustDo(gateway, 'PUT', '/group/clerks/members/anna')
    t.equal(await gateway.statusOf(anna, '/group/clerks'), 200, 'a member sees the group')
    await mustDo(gateway, 'DELETE', '/group/clerks/members/anna')
    t.equal(await gateway.statusOf(anna, '/group/clerks'), 404)

    await mustDo(gateway, 'PUT', '/tenant/acme/user-members/anna')
    t.equal(await gateway.statusOf(anna, '/tenant/acme'), 200)
    await mustDo(gateway, 'DELETE', '/tenant/acme/user-members/anna')
    t.equal(await gateway.statusOf(anna, '/tenant/acme'), 404)

    const record = await mustDo(gateway, 'POST', '/authorization/create', readGrant('anna', GROUP))
    t.equal(await gateway.statusOf(anna, '/group/clerks'), 200, 'a record')
    const id = bodyText(record, 'id') ?? ''
    await mustDo(gateway, 'PUT', `/authorization/${id}`, { ...readGrant('anna', GROUP), permissions: [] })
    t.equal(await gateway.statusOf(anna, '/group/clerks'), 404)
    await mustDo(gateway, 'DELETE', `/authorization/${id}`)

    await mustDo(gateway, 'PUT', '/user/anna/credentials', { password: 'another1Secret' })
    t.equal(await gateway.statusOf(anna, '/version'), 401, 'the old password is remembered no longer')
    await mustDo(gateway, 'POST', '/user/anna/unlock')
    t.equal(
      await gateway.statusOf('anna:another1Secret', '/version'),
      200,
      'and an unlock ends what it led to',
    )
  })
}

async function oddRecords(t: Subtests, gateway: RunningGateway) {
  await t.test(
    'a record without a resource id grants nothing, and the other records remain in force',
    async (t) => {
      const { resourceId: _, ...nowhere } = readGrant('anna', GROUP)
      const made = await mustDo(gateway, 'POST', '/authorization/create', nowhere)
      t.match(made, { resourceId: null })
      t.equal(await gateway.statusOf('anna:another1Secret', '/group/clerks'), 404)
      t.notMatch((await gateway.admin('/readyz?verbose')).text, /\[-\] records/)
      const record = await mustDo(gateway, 'POST', '/authorization/create', readGrant('anna', GROUP))
      t.equal(await gateway.statusOf('anna:another1Secret', '/group/clerks'), 200, 'what follows is read')
      await mustDo(gateway, 'DELETE', `/authorization/${bodyText(record, 'id') ?? ''}`)
    },
  )
}

interface Both {
  readonly gateway: RunningGateway
  readonly engine: Engine
}

async function deletions(t: Subtests, { gateway, engine }: Both) {
  await t.test('a user deleted through the gateway is refused immediately', async (t) => {
    await mustDo(gateway, 'POST', '/user/create', userOf('bob'))
    t.equal(await gateway.statusOf('bob:bobSecret1', '/version'), 200)
    await mustDo(gateway, 'DELETE', '/user/bob')
    t.equal(await gateway.statusOf('bob:bobSecret1', '/version'), 401)
  })
  await t.test('a user deleted at the engine is refused within five seconds', async (t) => {
    const other = await startGateway(t, engineSources(engine.base))
    await mustDo(gateway, 'POST', '/user/create', userOf('carl'))
    t.equal(await other.statusOf('carl:carlSecret1', '/version'), 200)
    await exchange(engine.base, { method: 'DELETE', path: '/user/carl' })
    const ms = await until(async () => (await other.statusOf('carl:carlSecret1', '/version')) === 401, 6_000)
    t.ok(ms < 5_500, `after ${ms} ms`)
  })
}

async function passwords(t: Subtests, { gateway, engine }: Both) {
  await t.test(
    'repeated wrong passwords of one client refuse its user for only the first three seconds',
    async (t) => {
      await mustDo(gateway, 'POST', '/user/create', userOf('dora'))
      for (let time = 0; time < 50; time += 1) t.equal(await gateway.statusOf('dora:wrong', '/version'), 401)
      const { status, headers } = await gateway.ask('dora:doraSecret1', 'GET', '/version')
      t.equal(status, 429)
      t.ok(Number(headers.get('retry-after')) <= 4)
      const ms = await until(
        async () => (await gateway.statusOf('dora:doraSecret1', '/version')) === 200,
        6_000,
      )
      t.ok(ms < 3_500, `after ${ms} ms`)
      const body = { username: 'dora', password: 'doraSecret1' }
      const decision = await exchange(engine.base, { method: 'POST', path: '/identity/verify', body })
      t.match(decision.body, { authenticated: true }, 'nor is she locked for those who ask the engine')
    },
  )
  await t.test('a wrong password takes as long as an unknown user name', async (t) => {
    const times: Record<string, number[]> = { erna: [], nobody: [] }
    for (let time = 0; time < 5; time += 1)
      for (const [kind, of] of Object.entries(times)) {
        const user = `${kind}${time}`
        if (kind === 'erna') await mustDo(gateway, 'POST', '/user/create', userOf(user))
        const start = performance.now()
        t.equal(await gateway.statusOf(`${user}:wrong`, '/version'), 401)
        of.push(performance.now() - start)
      }
    const [known = 0, unknown = 0] = Object.values(times).map((of) => Math.min(...of))
    t.ok(known >= 50 && unknown >= 50, `${known} and ${unknown} ms`)
    t.ok(Math.abs(known - unknown) < 10, `${known} and ${unknown} ms`)
  })
}

async function outage(t: Subtests, engine: Engine) {
  await t.test(
    'while the engine is down, its last records remain in force for a while, and then none are',
    async (t) => {
      const records = { refresh: '500ms', staleAfter: '3s' }
      const gateway = await startGateway(
        t,
        engineSources(engine.base, { identity: { remember: '1h' }, records }),
      )
      await mustDo(gateway, 'POST', '/user/create', userOf('fred'))
      const fred = () => gateway.ask('fred:fredSecret1', 'DELETE', '/user/demo')
      t.equal((await fred()).status, 403)
      t.equal((await gateway.admin('/readyz')).status, 200)
      await engine.stop()
      t.equal((await fred()).status, 403, 'the last good records say so')
      const checks = () => gateway.admin('/readyz?verbose')
      await until(async () => (await checks()).text.includes('[-] records of default:'))
      t.equal((await checks()).status, 200, 'others may still be served')
      await until(async () => (await fred()).status === 503)
      const { headers } = await fred()
      t.equal(headers.get('x-gateway-error'), 'GW_RECORDS_UNAVAILABLE')
      t.equal(await gateway.statusOf('stranger:x', '/version'), 503, 'whom nobody can verify is not let in')
    },
  )
  await t.test('a gateway that has never read the records is not ready and decides nothing', async (t) => {
    const settings = engineSources(engine.base)
    const gateway = await startGateway(t, settings)
    const { status, text } = await gateway.admin('/readyz?verbose')
    t.equal(status, 503)
    t.match(text, /\[-\] records of default: No node/)
  })
}
