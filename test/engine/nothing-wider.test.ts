import { test, type Test } from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import { openGateway } from '../differential/gateway.ts'
import { basicOf } from '../differential/http.ts'
import { PASSWORD } from '../differential/sets.ts'
import { AMBIGUOUS_ACCEPTS } from '../support/accepts.ts'
import { javaSkip } from '../support/requirements.ts'
import { startEngine } from './engine.ts'
import { type Answer, type Ask, exchange } from './exchange.ts'
import { seed } from './seed.ts'

type Asks = (ask: Ask) => Promise<Answer>

const DEMO = { authorization: basicOf('demo', 'demo') }
const LOGGED =
  '--camunda.bpm.generic-properties.properties.restrict-user-operation-log-to-authenticated-users=false'
/** Values that are neither a JSON object nor null. */
const NO_QUERIES = ['x', '', 5, true, [], [{}]]
const PERMISSIONS = [
  { resourceType: 7, permissions: ['READ'] },
  { resourceType: 10, permissions: ['READ_HISTORY', 'DELETE_HISTORY'], resourceId: 'discount' },
  { resourceType: 13, permissions: ['CREATE', 'READ_HISTORY'] },
  // For one definition, one record has both permissions that the cleanable reports need. For another definition, two records have them.
  { resourceType: 6, permissions: ['READ', 'READ_HISTORY'], resourceId: 'moving' },
  { resourceType: 6, permissions: ['READ'], resourceId: 'review' },
  { resourceType: 6, permissions: ['READ_HISTORY'] },
  { resourceType: 17, permissions: ['READ'] },
]

void test('a restricted caller selects and sees no more through the gateway than at a secured engine', {
  skip: javaSkip,
}, async (t) => {
  const judge = await startEngine({ secured: true })
  t.teardown(() => judge.stop())
  // An engine without authorization does not know the caller. It writes its operation log only with this setting.
  const engine = await startEngine({ args: [LOGGED] })
  t.teardown(() => engine.stop())
  const asBare: Asks = (ask) => exchange(engine.base, ask)
  const asJudge: Asks = (ask) => exchange(judge.base, ask, DEMO)
  const { reviewDefinitionId } = await seed(engine.base)
  await seed(judge.base, DEMO)
  const asRita = await openFor(t, engine.base, 'rita')
  const asRitaThere = await addTo(asJudge, judge.base, 'rita')

  await t.test('a selector that is not a query returns 400, and no batch is created', async (t) => {
    for (const { method, template, selectors } of OPERATIONS)
      for (const selector of Object.keys(selectors?.queries ?? {}))
        for (const query of NO_QUERIES) {
          const path = template.replace(':id', reviewDefinitionId)
          const ask = { method, path, body: { [selector]: query, clearedRemovalTime: true } }
          const what = `${method} ${template} ${JSON.stringify({ [selector]: query })}`
          // The engine looks up the definition first.
          const said = { ...ask, path: template.replace(':id', 'nosuch') }
          t.equal((await asJudge(said)).status, 400, what)
          t.match(await asRita(ask), { status: 400, body: { type: 'InvalidRequestException' } }, what)
        }
    t.same((await asBare({ method: 'GET', path: '/batch' })).body, [])
  })

  await t.test(
    'a query with an unreadable part is refused, and selects no more than at a secured engine',
    async (t) => {
      for (const query of [
        { decisionDefinitionKey: ['discount'] },
        { decisionDefinitionKeyIn: 'discount' },
        { tenantIdIn: 'acme' },
        { tenantIdIn: [''] },
        { tenantIdIn: [null] },
        { rootDecisionInstancesOnly: 'x' },
        { evaluatedAfter: 'x' },
        { includeInputs: 'x' },
        { disableBinaryFetching: [] },
        { sorting: 'x' },
        { sorting: ['x'] },
        { sorting: [null] },
        { sorting: [{ sortBy: 'x', sortOrder: 'asc' }] },
        { sorting: [{ sortBy: 'evaluationTime' }] },
        { sorting: [{ sortOrder: 'asc' }] },
        { sortBy: null },
        { sortBy: 'x' },
        { sortBy: 'tenantId' },
      ]) {
        const body = { historicDecisionInstanceQuery: query }
        const ask = { method: 'POST', path: '/history/decision-instance/delete', body } as const
        const [there, here] = [await asJudge(ask), await asRita(ask)]
        const isSame = here.status === there.status
        const isRefused = here.headers.get('x-gateway-error') === 'GW_ITEMS_NOT_EXACT'
        t.ok(
          there.status >= 400 && (isSame || isRefused),
          `${JSON.stringify(query)} ${there.status} ${here.status}`,
        )
      }
      t.same((await asBare({ method: 'GET', path: '/batch' })).body, [])
    },
  )

  await t.test('a readable query selects the same items as at a secured engine', async (t) => {
    const count = '/history/decision-instance/count?decisionDefinitionKey=discount'
    for (const query of [
      {},
      { decisionDefinitionKey: 'discount', completed: null },
      { rootDecisionInstancesOnly: 'TRUE', evaluatedAfter: '', includeInputs: 1 },
      { sorting: [{ sortBy: 'evaluationTime', sortOrder: 'asc' }], withoutTenantId: 0 },
    ]) {
      const body = { historicDecisionInstanceQuery: query, clearedRemovalTime: true }
      const ask = { method: 'POST', path: '/history/decision-instance/set-removal-time', body } as const
      const [there, here] = [await asJudge(ask), await asRita(ask)]
      t.same([there.status, here.status], [200, 200], JSON.stringify(query))
      t.equal(totalOf(here), countOf(await asBare({ method: 'GET', path: count })), JSON.stringify(query))
    }
  })

  await t.test('an ambiguous Accept header is refused and returns no HAL', async (t) => {
    for (const accept of AMBIGUOUS_ACCEPTS) {
      const ask = { method: 'GET', path: '/task', headers: { accept } } as const
      t.match((await asBare(ask)).headers.get('content-type'), 'application/hal+json', accept)
      t.match(await asRita(ask), { status: 400, body: { message: /^Accept / } }, accept)
    }
    const plain = await asRita({ method: 'GET', path: '/task', headers: { accept: 'application/json' } })
    t.match(plain, { status: 200, body: [{ name: String }] })
  })

  await t.test('the cleanable reports have the same definitions as at a secured engine', async (t) => {
    const path = '/history/process-definition/cleanable-process-instance-report'
    const [there, here] = [await asRitaThere({ method: 'GET', path }), await asRita({ method: 'GET', path })]
    t.same(keysOf(here), keysOf(there))
    t.same(keysOf(here), ['moving', 'moving'])
    t.equal(countOf(await asRita({ method: 'GET', path: `${path}/count` })), 2)
  })

  await t.test('the operation log hides entries of a tenant whose deployment was deleted', async (t) => {
    const path = '/history/user-operation/count?entityType=Deployment'
    for (const as of [asJudge, asBare]) {
      const { body } = await as({ method: 'GET', path: '/deployment?tenantIdIn=acme' })
      const id = String(Object(body)[0]?.id)
      t.equal((await as({ method: 'DELETE', path: `/deployment/${id}?cascade=true` })).status, 204)
    }
    const all = countOf(await asBare({ method: 'GET', path }))
    const [there, here] = [await asRitaThere({ method: 'GET', path }), await asRita({ method: 'GET', path })]
    t.equal(countOf(here), countOf(there))
    t.equal(
      Number(all) - Number(countOf(here)),
      3,
      'two properties of what was made, one of what was deleted',
    )
  })
})

function keysOf({ body }: Answer): unknown {
  return Object(body)
    .map((row: unknown) => Object(row).processDefinitionKey)
    .sort()
}

/** Creates the same caller at a secured engine. */
async function addTo(asDemo: Asks, base: string, user: string): Promise<Asks> {
  const profile = { id: user, firstName: user, lastName: user, email: `${user}@localhost` }
  const make: Asks = async (ask) => {
    const answer = await asDemo(ask)
    if (answer.status >= 300) throw new Error(`${ask.path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer
  }
  await make({ method: 'POST', path: '/user/create', body: { profile, credentials: { password: PASSWORD } } })
  for (const body of recordsOf(user)) await make({ method: 'POST', path: '/authorization/create', body })
  return (ask) => exchange(base, ask, { authorization: basicOf(user, PASSWORD) })
}

function recordsOf(user: string) {
  return PERMISSIONS.map((one) => ({ type: 1, userId: user, resourceId: '*', ...one }))
}

/** Opens a gateway for a caller who may read tasks and the history of one decision, and may create batches. */
async function openFor(t: Test, base: string, user: string): Promise<Asks> {
  const set = {
    index: 0,
    user,
    group: '',
    password: PASSWORD,
    ownGroups: [],
    joins: [],
    tenants: [],
    links: [],
    records: [],
    plans: [],
  }
  const gateway = await openGateway(base, {
    sets: [set],
    records: recordsOf(user),
    implied: true,
    adminGroup: 'camunda-admin',
  })
  t.teardown(() => gateway.close())
  return (ask) => exchange(gateway.base, ask, { authorization: basicOf(user, PASSWORD) })
}

function totalOf({ body }: Answer): unknown {
  return Object(body).totalJobs
}

function countOf({ body }: Answer): unknown {
  return Object(body).count
}
