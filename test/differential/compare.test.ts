import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import { type Outcome, outcomeOf, type Seen } from './compare.ts'
import { oddPlanOf } from './odd.ts'
import type { Kind, Plan } from './plan.ts'
import { Random } from './random.ts'
import { Report } from './report.ts'

const operation = OPERATIONS.find(({ id }) => id === 'queryUserOperationCount')

function planOf(path: string, kind: Kind = 'plain'): Plan {
  if (operation === undefined) throw new Error('The table has lost a row')
  return { operation, kind, path, uses: null, keeps: false, leaves: [] }
}

const seen = (status: number, body: unknown, code = ''): Seen => ({
  status,
  type: 'application/json',
  code,
  body,
})
const job = (retries: number, exceptionMessage: string | null = null) => ({
  id: '<id>',
  jobDefinitionId: '<id>',
  retries,
  exceptionMessage,
})
const ANY_KIND: readonly Kind[] = ['plain', 'accept', 'spelling', 'selector', 'headers']

t.test(
  'a response that shows or permits more than the engine is wider, for every kind of request',
  async (t) => {
    for (const [engine, gateway] of [
      [seen(200, { count: 0 }), seen(200, { count: 1 })],
      [seen(200, []), seen(200, [{ tenantId: 'acme' }])],
      [seen(200, [{ id: 'a' }]), seen(200, [{ id: 'a' }, { id: 'a' }])],
      [seen(200, [{ id: 'a' }]), seen(200, [{ id: 'b' }])],
      [seen(200, { a: { b: [] } }), seen(200, { a: { b: [1] } })],
      [seen(200, { a: null }), seen(200, { a: 'x' })],
      [seen(200, { totalJobs: 3 }), seen(200, { totalJobs: 11 })],
      [seen(204, null), seen(200, { id: 'x' })],
      [seen(404, {}), seen(200, { tenantId: 'acme' })],
      [seen(400, {}), seen(204, null)],
      [seen(403, { message: 'belongs to no authenticated tenant' }), seen(200, { count: 0 })],
      [seen(500, {}), seen(200, null)],
      [seen(200, [job(1, 'failed')]), seen(200, [job(3), job(3)])],
    ] as const)
      for (const kind of ANY_KIND)
        for (const path of ['/history/user-operation/count', '/process-instance/<new.pi>?tenantIdIn=acme'])
          t.equal(outcomeOf(engine, gateway, planOf(path, kind)), 'wider', JSON.stringify([engine, gateway]))
  },
)

t.test('a refusal, or fewer items than the engine shows, is not wider', async (t) => {
  const plan = planOf('/history/user-operation/count')
  for (const [engine, gateway, outcome] of [
    [seen(200, []), seen(403, {}, 'GW_ITEMS_NOT_EXACT'), 'rows'],
    [seen(200, []), seen(403, {}, 'GW_CHECK_NOT_EXACT'), 'check'],
    [seen(200, [{ id: 'a' }]), seen(200, []), 'differs'],
    [seen(200, { count: 2 }), seen(200, { count: 1 }), 'differs'],
    [seen(404, {}), seen(403, {}), 'differs'],
    [seen(200, [{ tenantId: 'acme' }]), seen(200, []), 'tenants'],
    [seen(200, [{ id: 'a' }]), seen(200, [{ id: 'a' }]), 'equal'],
    [seen(200, [job(1, 'failed')]), seen(200, [job(3)]), 'differs'],
  ] as const)
    t.equal(outcomeOf(engine, gateway, plan), outcome, JSON.stringify([engine, gateway]))
})

t.test(
  'two refusals of a request in an odd spelling may have different messages, and those of a plain request may not',
  async (t) => {
    const [engine, gateway] = [seen(400, ''), seen(400, { message: 'ours' }, 'GW_INVALID_BODY')]
    t.equal(outcomeOf(engine, gateway, planOf('/task', 'selector')), 'words')
    t.equal(outcomeOf(engine, gateway, planOf('/task')), 'differs')
  },
)

t.test('a wider response is counted and named, in every form of the request', async (t) => {
  for (const kind of ANY_KIND) {
    const report = new Report()
    const [plan, engine, gateway] = [planOf('/task', kind), seen(404, {}), seen(200, {})]
    t.equal(report.totals().wider, 0)
    report.add(plan, 'wider', () => ({
      outcome: 'wider',
      operation: plan.operation.id,
      kind,
      set: 0,
      caller: { user: 'u', ownGroups: [], joins: [], tenants: [], links: [] },
      records: [],
      request: { method: 'GET', path: '/task' },
      engine,
      gateway,
    }))
    t.equal(report.totals().wider, 1, kind)
    t.match(report.lines(7, 1)[0], new RegExp(`^WIDER ${kind} queryUserOperationCount: `))
  }
})

t.test('an odd spelling omits no condition, and the same seed gives the same spelling', async (t) => {
  const body = { suspended: false, ids: ['<new.pi>', 'a'], retries: 2, query: { key: 'office' } }
  const plan: Plan = { ...planOf('/task/<new.task>/x?a=true&b=office'), body }
  const random = Random.of(7, 1)
  for (let asked = 0; asked < 500; asked += 1) {
    const odd = oddPlanOf(plan, 'spelling', random)
    if (odd === null) continue
    t.not(JSON.stringify([odd.path, odd.body]), JSON.stringify([plan.path, plan.body]))
    t.equal(namesOf(odd.body), namesOf(plan.body))
    t.match(odd.path, /^\/task\/<new.task>.*\/x\?.*a=.*&.*b=/)
  }
  const spelt = (): unknown => oddPlanOf(plan, 'spelling', Random.of(7, 2))
  t.same(spelt(), spelt())
})

function namesOf(value: unknown): string {
  return (JSON.stringify(value).match(/"\w+":/g) ?? []).join()
}

/** Returns a report with one comparison for each path. All requests have the same caller. */
function reportOf(outcomes: Readonly<Record<string, Outcome>>): Report {
  const report = new Report()
  for (const [path, outcome] of Object.entries(outcomes)) {
    const caller = { user: 'anna', ownGroups: [], joins: [], tenants: [], links: [] }
    const answers = { engine: seen(200, []), gateway: seen(403, null) }
    const asked = {
      operation: 'queryUserOperationCount',
      kind: 'plain',
      set: 1,
      request: { method: 'GET', path },
    } as const
    report.add(planOf(path), outcome, () => ({ ...asked, ...answers, outcome, caller, records: [] }))
  }
  return report
}

t.test('compared with an earlier run, only a refusal as not exact may be a new difference', async (t) => {
  const before = reportOf({
    a: 'differs',
    b: 'equal',
    c: 'equal',
    d: 'equal',
    e: 'check',
    f: 'equal',
  }).unequal()
  const later = reportOf({ a: 'differs', b: 'rows', c: 'differs', d: 'words', e: 'differs', f: 'stricter' })
  const lines = later.newSince(before)
  t.equal(lines.length, 2)
  t.match(lines[0], /^NEW differs plain .* GET c /)
  t.match(lines[1], /^NEW differs plain .* GET e /)
})

t.test('a request that the documentation refuses may be refused, and nothing else', async (t) => {
  const queryTasks = OPERATIONS.find(({ id }) => id === 'queryTasks')
  if (queryTasks === undefined) throw new Error('The table has no queryTasks')
  const plan: Plan = { ...planOf('/task'), operation: queryTasks }
  for (const [mayBeRefused, outcome, differs] of [
    [true, 'rows', false],
    [false, 'rows', true],
    [true, 'differs', true],
    [true, 'wider', true],
  ] as const) {
    const report = new Report()
    report.add({ ...plan, mayBeRefused }, outcome, () => ({
      operation: queryTasks.id,
      kind: 'plain',
      set: 1,
      caller: { user: 'anna', ownGroups: [], joins: [], tenants: [], links: [] },
      records: [],
      request: { method: 'POST', path: '/task' },
      engine: seen(200, []),
      gateway: seen(403, {}),
      outcome,
    }))
    t.equal(report.totals().nineteenDiffer, differs, `${mayBeRefused} ${outcome}`)
    t.equal(report.totals().equal, 0, 'it is not counted as equal')
  }
})

t.test('a request after a revocation must be equal, or stricter for a caller who has changed', async (t) => {
  const report = new Report()
  const answers = { engine: seen(200, [1]), gateway: seen(200, []) }
  const caller = { user: 'anna', ownGroups: [], joins: [], tenants: [], links: [] }
  for (const outcome of ['equal', 'stricter', 'differs', 'rows', 'words'] as const)
    report.add(planOf('/task', 'revoked'), outcome, () => ({
      operation: 'queryTasks',
      kind: 'revoked',
      set: 1,
      request: { method: 'GET', path: '/task' },
      ...answers,
      outcome,
      caller,
      records: [],
    }))
  t.equal(report.totals().revokedDiffer, 3)
  t.equal(report.totals().total, 0, 'they are not counted as plain requests')
})

t.test(
  'one of the nineteen operations may be refused because of filtering only for a caller with a revocation',
  async (t) => {
    const queryTasks = OPERATIONS.find(({ id }) => id === 'queryTasks')
    if (queryTasks === undefined) throw new Error('The table has no queryTasks')
    const plan: Plan = { ...planOf('/task'), operation: queryTasks }
    for (const [outcome, type, differs] of [
      ['rows', 2, false],
      ['rows', 1, true],
      ['rows', 0, true],
      ['differs', 2, true],
      ['check', 2, true],
      ['tenants', 2, true],
    ] as const) {
      const report = new Report()
      const record = {
        type,
        userId: 'anna',
        groupId: null,
        resourceType: 7,
        resourceId: '*',
        permissions: [],
      }
      report.add(plan, outcome, () => ({
        operation: queryTasks.id,
        kind: 'plain',
        set: 1,
        caller: { user: 'anna', ownGroups: [], joins: [], tenants: [], links: [] },
        records: [record],
        request: { method: 'POST', path: '/task' },
        engine: seen(200, []),
        gateway: seen(403, {}),
        outcome,
      }))
      t.equal(report.totals().nineteenDifferBesideRevoked, differs, `${outcome} ${type}`)
      t.equal(report.totals().nineteenDiffer, true)
    }
  },
)
