import t, { type Test } from 'tap'
import { RESOURCES } from '../../src/operations/permissions.ts'
import { isRecord } from '../../src/request/value.ts'
import { javaSkip } from '../support/requirements.ts'
import { engineSources, startGateway } from '../support/running-gateway.ts'
import { startEngine } from './engine.ts'
import { type Ask, exchange } from './exchange.ts'
import { JobMaker, type MadeJob } from './job-makers.ts'
import type { Call } from './seed.ts'

type As = (user: string | null, ask: Ask) => ReturnType<typeof exchange>

/** One of the two sides that are compared: an engine that checks permissions, and the gateway in front of one that does not. */
interface Side {
  readonly ask: As
  readonly call: Call
}

function sideOf(ask: As): Side {
  const call: Call = async (method, path, body) => {
    const answer = await ask('demo', { method, path, body })
    if (answer.status < 300) return answer.body
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  }
  return { ask, call }
}

const basic = (user: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}`,
})

async function sidesOf(t: Test): Promise<{ readonly secured: Side; readonly gateway: Side }> {
  const [secured, bare] = [await startEngine({ secured: true }), await startEngine()]
  t.teardown(() => Promise.all([secured.stop(), bare.stop()]))
  const gateway = await startGateway(
    t,
    engineSources(bare.base, { identity: { remember: '1h' }, log: { audit: 'off' } }),
  )
  const sides = {
    secured: sideOf((user, ask) => exchange(secured.base, ask, basic(user ?? 'demo'))),
    gateway: sideOf((user, { method, path, body }) => gateway.ask(`${user}:${user}`, method, path, body)),
  }
  for (const { call } of Object.values(sides)) {
    for (const id of USERS) {
      const profile = { id, firstName: id, lastName: id, email: `${id}@localhost` }
      await call('POST', '/user/create', { profile, credentials: { password: id } })
    }
    await call('POST', '/tenant/create', { id: 'acme', name: 'Acme' })
    await call('PUT', '/tenant/acme/user-members/member')
    for (const user of ['all', 'member'])
      for (const resource of [
        'BATCH',
        'PROCESS_DEFINITION',
        'PROCESS_INSTANCE',
        'DECISION_DEFINITION',
      ] as const)
        await call('POST', '/authorization/create', {
          type: 1,
          permissions: ['ALL'],
          userId: user,
          groupId: null,
          resourceType: RESOURCES[resource].id,
          resourceId: '*',
        })
  }
  return sides
}

/** `none` has no record. `all` and `member` have every permission on all processes, instances, decisions and batches. */
const USERS = ['none', 'all', 'member']

interface Outcome {
  readonly status: number
  readonly type: unknown
  /** Whether an entity that the job may change has changed. */
  readonly isChanged: boolean
  /** Whether the job still exists. */
  readonly isLeft: boolean
}

async function execute({ ask }: Side, user: string, { id, look }: MadeJob): Promise<Outcome> {
  const before = await look()
  const { status, body } = await ask(user, { method: 'POST', path: `/job/${id}/execute` })
  const left = await ask('demo', { method: 'GET', path: `/job/${id}` })
  const type = isRecord(body) ? body['type'] : null
  return { status, type, isChanged: (await look()) !== before, isLeft: left.status === 200 }
}

/** Jobs that a secured engine executes for every user. */
const OPEN: ReadonlySet<string> = new Set([
  'cleanup of the history',
  'monitor of a batch',
  'removal times of instances',
  'seed of a batch',
])

t.test('jobs without a process definition', { skip: javaSkip, timeout: 290_000 }, async (t) => {
  const { secured, gateway } = await sidesOf(t)
  const plain = { secured: new JobMaker(secured.call), gateway: new JobMaker(gateway.call) }
  await ofNobody(t, { secured, gateway }, plain)
  await t.test('a user with the permissions executes jobs without a process definition', async (t) => {
    for (const kind of Object.keys(plain.secured.kinds)) {
      const { direct, through } = await both({ secured, gateway }, plain, { user: 'all', kind })
      t.same(through, direct, kind)
      t.match(direct, { status: 204, isLeft: kind === 'cleanup of the history' }, kind)
      if (!OPEN.has(kind)) t.ok(direct.isChanged, kind)
    }
  })
  // From here on, entities of a tenant exist.
  await ofTenants(t, { secured, gateway })
  await ofBatches(t, { secured, gateway })
})

interface Sides<T> {
  readonly secured: T
  readonly gateway: T
}

/** Executes the same kind of job as the same caller on both sides. */
async function both(
  sides: Sides<Side>,
  makers: Sides<JobMaker>,
  { user, kind }: { user: string; kind: string },
) {
  const [direct, through] = await Promise.all([
    madeBy(makers.secured, kind).then((job) => execute(sides.secured, user, job)),
    madeBy(makers.gateway, kind).then((job) => execute(sides.gateway, user, job)),
  ])
  return { direct, through }
}

function madeBy(maker: JobMaker, kind: string): Promise<MadeJob> {
  const make = maker.kinds[kind]
  if (make === undefined) throw new Error(`no such kind: ${kind}`)
  return make()
}

async function ofNobody(t: Test, { secured, gateway }: Sides<Side>, makers: Sides<JobMaker>) {
  await t.test('a user without permissions executes only jobs that are open to all users', async (t) => {
    for (const kind of Object.keys(makers.secured.kinds)) {
      const direct = await execute(secured, 'none', await madeBy(makers.secured, kind))
      const job = await madeBy(makers.gateway, kind)
      const through = await execute(gateway, 'none', job)
      t.same(through, direct, kind)
      const refused = { status: 403, type: 'AuthorizationException', isChanged: false, isLeft: true }
      t.match(direct, OPEN.has(kind) ? { status: 204 } : refused, kind)
      if (through.isLeft) await stillOpen(t, gateway, job)
    }
  })
}

/** Checks that every user may make the other changes of such a job. */
async function stillOpen(t: Test, { ask }: Side, { id }: MadeJob) {
  for (const [member, value] of [
    ['retries', 3],
    ['priority', 1],
    ['duedate', null],
  ] as const) {
    const { status } = await ask('none', {
      method: 'PUT',
      path: `/job/${id}/${member}`,
      body: { [member]: value },
    })
    t.equal(status, 204, member)
  }
}

async function ofTenants(t: Test, { secured, gateway }: Sides<Side>) {
  const makers = { secured: new JobMaker(secured.call, 'acme'), gateway: new JobMaker(gateway.call, 'acme') }
  const kinds = Object.keys(makers.secured.kinds).filter((kind) => !OPEN.has(kind))
  await t.test('a job changes nothing of another tenant, whatever the caller’s permissions', async (t) => {
    for (const kind of kinds) {
      const { direct, through } = await both({ secured, gateway }, makers, { user: 'all', kind })
      // For these jobs the engine ignores tenants. It completes some of the other jobs without a change, and the gateway refuses those.
      if (IGNORING.has(kind)) t.match(direct, { status: 204, isChanged: true }, kind)
      else t.equal(direct.isChanged, false, kind)
      if (kind === 'deletion of decisions') t.same(through, direct, kind)
      else t.match(through, { isChanged: false, isLeft: true }, kind)
      if (direct.status === 404 && through.status === 404) t.same(through, direct, kind)
    }
  })
  await t.test('members of a tenant execute jobs that change its entities', async (t) => {
    for (const kind of ['modification', 'restart', 'migration', 'variables', 'correlation of messages']) {
      const { direct, through } = await both({ secured, gateway }, makers, { user: 'member', kind })
      t.same(through, direct, kind)
      t.match(direct, { status: 204, isChanged: true }, kind)
    }
  })
}

const OF_BATCHES: readonly ((id: string) => Ask)[] = [
  (id) => ({ method: 'GET', path: `/batch/${id}` }),
  (id) => ({ method: 'GET', path: `/history/batch/${id}` }),
  (id) => ({ method: 'PUT', path: `/batch/${id}/suspended`, body: { suspended: true } }),
  (id) => ({ method: 'DELETE', path: `/history/batch/${id}` }),
  (id) => ({ method: 'DELETE', path: `/batch/${id}` }),
  (id) => ({
    method: 'POST',
    path: '/history/batch/set-removal-time',
    body: { historicBatchIds: [id], absoluteRemovalTime: '2099-01-01T00:00:00.000+0000' },
  }),
]

async function ofBatches(t: Test, { secured, gateway }: Sides<Side>) {
  await t.test('a batch of another tenant is not found, whatever the caller’s permissions', async (t) => {
    const said = async ({ ask, call }: Side, askOf: (id: string) => Ask) => {
      const rows = await call('GET', '/batch?tenantIdIn=acme')
      const [row]: readonly unknown[] = Array.isArray(rows) ? rows : []
      const id = isRecord(row) ? String(row['id']) : ''
      t.match(id, /./)
      const { status, body } = await ask('all', askOf(id))
      return { status, body: JSON.stringify(body).replaceAll(id, 'ID') }
    }
    for (const askOf of OF_BATCHES) {
      const direct = await said(secured, askOf)
      t.same(await said(gateway, askOf), direct, askOf('ID').path)
      t.ok(direct.status >= 400)
    }
  })
}

/** Jobs for which a secured engine does not check the tenant. */
const IGNORING: ReadonlySet<string> = new Set([
  'activation of a job definition',
  'deletion of decisions',
  'suspension of a job definition',
  'suspension of a job definition and its jobs',
])
