import t from 'tap'
import { limits } from '../../../src/config/limit-settings.ts'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { compileRestriction } from '../../../src/policy/authz/visibility/compile-restriction.ts'
import { createPlan, createPlanner } from '../../../src/lists/prefilter/plan-list.ts'
import {
  type PlanContext,
  type PlanOptions,
  planContextOf,
} from '../../../src/lists/prefilter/plan-context.ts'
import { FILTER, type ListPlan } from '../../../src/lists/list-plan.ts'
import { createDateFormat } from '../../../src/request/date-format.ts'
import type { ImplicitTasks } from '../../../src/policy/authz/entities/implicit-bits.ts'
import { recordsOf } from '../../support/record-lines.ts'

const KEYS = ['a', 'b', 'c', 'd', 'e']
const DEFINITIONS = KEYS.map((key) => ({ id: `${key}:1`, key, tenantId: null }))

const definitions: PlanOptions['definitions'] = async ({ keys }) =>
  DEFINITIONS.filter(({ key }) => keys === null || keys.includes(key))

/** Returns whether a query for instances selects only those of the hidden key. */
const isHidden = (query: Readonly<Record<string, unknown>>) =>
  JSON.stringify(query['processDefinitionKeyIn']) === '["e"]'

const OPTIONS: PlanOptions = {
  definitions,
  deleted: async () => [],
  hasOwnTenants: async () => false,
  nullsFirst: async () => 'asc',
  instanceIds: async (_kind, query) => (isHidden(query) ? ['hidden'] : ['visible', 'other']),
  countInstances: async (_kind, query) => (isHidden(query) ? 1 : 2),
  variableTenants: async () => [],
  recentVariableTenants: () => null,
  lookUp: async () => null,
  lookUpAll: async () => new Map(),
  limits: limits.parse({ scannedItems: 1000 }),
  dateFormat: createDateFormat(),
}

/** Mary sees every key except one. */
const ALL_BUT_E = [
  'grant mary PROCESS_DEFINITION:* READ_INSTANCE,READ_HISTORY',
  'revoke mary PROCESS_DEFINITION:e READ_INSTANCE,READ_HISTORY',
]

interface Caller {
  readonly lines: readonly string[]
  readonly disabledPermissions?: readonly string[]
  readonly implicitGrants?: ImplicitTasks | null
  readonly options?: PlanOptions
  /** Null if tenants are not checked. */
  readonly tenants?: readonly string[] | null
}

function contextOf(
  id: string,
  { lines, disabledPermissions = [], implicitGrants = null, options = OPTIONS, tenants = null }: Caller,
): PlanContext | null {
  const operation = OPERATIONS.find((one) => one.id === id)
  if (operation?.items === undefined) throw new Error(`${id} lists no items`)
  const restriction = compileRestriction(operation.items)
  if (restriction.prefilter === null) throw new Error(`${id} has no prefilter`)
  const planner = createPlanner({
    ...restriction.prefilter,
    method: operation.method,
    restriction,
    options,
  })
  const principal = { userId: 'mary', groups: [], tenants: [] }
  const subject = {
    principal,
    records: recordsOf(lines, { disabledPermissions }),
    tenants: tenants === null ? null : new Set(tenants),
    implicitGrants,
    impliesIdentity: false,
  }
  const accessRequest = { principal, params: {}, query: new Map<string, string>(), body: undefined }
  return planContextOf({ ...planner, subject, accessRequest, isAnswerable: true, hasCases: false })
}

async function planOf(id: string, lines: readonly string[]): Promise<ListPlan> {
  const context = contextOf(id, { lines })
  return context === null ? FILTER : createPlan(context)
}

t.test('a count of running items subtracts the hidden keys if they are few', async (t) => {
  const count = await planOf('getIncidentsCount', ALL_BUT_E)
  t.match(count, {
    strategy: 'union',
    subqueries: [{ set: {} }],
    excluded: [{ set: { processDefinitionId: 'e:1' } }],
    nullGroup: null,
  })
})

t.test('a list adds the visible keys, and the items that every caller sees', async (t) => {
  const list = await planOf('getIncidents', ALL_BUT_E)
  const ids = ['a:1', 'b:1', 'c:1', 'd:1']
  t.match(list, {
    strategy: 'union',
    subqueries: ids.map((processDefinitionId) => ({ set: { processDefinitionId } })),
    excluded: [],
    nullGroup: { member: 'processDefinitionId' },
  })
})

t.test(
  'a count of the history adds the visible keys, because items of deleted definitions may be hidden',
  async (t) => {
    const count = await planOf('getHistoricJobLogsCount', ALL_BUT_E)
    t.match(count, {
      strategy: 'union',
      subqueries: KEYS.filter((key) => key !== 'e').map((key) => ({
        set: { processDefinitionId: `${key}:1` },
      })),
      excluded: [],
      nullGroup: { member: 'processDefinitionId' },
    })
  },
)

t.test('a count by instances subtracts the hidden instances if they are few', async (t) => {
  t.match(await planOf('getHistoricDetailsCount', ALL_BUT_E), {
    strategy: 'union',
    subqueries: [{ set: {} }],
    excluded: [{ set: { processInstanceIdIn: ['hidden'] } }],
    nullGroup: null,
  })
  t.match(await planOf('getHistoricDetails', ALL_BUT_E), {
    strategy: 'union',
    subqueries: [{ set: { processInstanceIdIn: ['visible', 'other'] } }],
    excluded: [],
    nullGroup: { member: 'processInstanceId' },
  })
})

t.test('a plan of items that cannot lack a definition has no null group', async (t) => {
  const list = await planOf('getProcessInstances', ['grant mary PROCESS_DEFINITION:a READ_INSTANCE'])
  t.match(list, {
    strategy: 'rewrite',
    subqueries: [{ set: { processDefinitionKeyIn: ['a'] } }],
    nullGroup: null,
  })
  const none = await planOf('getProcessInstances', [])
  t.same(none, { strategy: 'denied', isValid: true })
})

t.test('a list has no plan if a visible key cannot be a part of a list in a query', (t) => {
  const other = contextOf('getProcessInstances', { lines: ['grant mary PROCESS_DEFINITION:a READ_INSTANCE'] })
  t.ok(other)
  const listed = contextOf('getProcessInstances', {
    lines: ['grant mary PROCESS_DEFINITION:a,b READ_INSTANCE'],
  })
  t.equal(listed, null)
  t.end()
})

t.test('a list has no plan if one of its permissions is disabled', (t) => {
  const lines = ['grant mary PROCESS_DEFINITION:a READ_INSTANCE']
  const hasPlan = (disabledPermissions: readonly string[]) =>
    contextOf('getProcessInstances', { lines, disabledPermissions }) !== null
  t.ok(hasPlan([]))
  t.ok(hasPlan(['READ_TASK']), 'a permission of other lists')
  t.notOk(hasPlan(['READ_INSTANCE']))
  t.end()
})

t.test('a list has no plan if records or links of the caller name tasks', (t) => {
  const lines = ['grant mary PROCESS_DEFINITION:a READ_INSTANCE,READ_TASK']
  const task = 'grant mary TASK:t1 READ'
  const linked = { user: new Set(['t1']), groups: new Set<string>(), bits: 0 }
  t.ok(contextOf('getVariableInstances', { lines }))
  t.equal(contextOf('getVariableInstances', { lines: [...lines, task] }), null)
  t.equal(contextOf('getVariableInstances', { lines, implicitGrants: linked }), null)
  t.ok(contextOf('getProcessInstances', { lines: [...lines, task] }), 'tasks decide no instance')
  t.end()
})

t.test('many single instances are counted with one request each, and too many are filtered', async (t) => {
  const instances = Array.from({ length: 1001 }, (_, at) => `i${at}`)
  const options: PlanOptions = {
    ...OPTIONS,
    lookUpAll: async (_name, ids) =>
      new Map(ids.map((id) => [id, { processDefinitionKey: 'e', tenantId: null }] as const)),
  }
  const planFor = async (count: number, limited = options) => {
    const lines = instances.slice(0, count).map((id) => `grant mary PROCESS_INSTANCE:${id} READ`)
    const context = contextOf('getExecutionsCount', { lines, options: limited })
    return context === null ? FILTER : createPlan(context)
  }
  for (const count of [300, 1000]) {
    const plan = await planFor(count)
    t.equal('instances' in plan ? plan.instances.length : 0, count)
  }
  t.same(await planFor(1001), FILTER)
  const none = { ...options, limits: { ...options.limits, subqueries: 0 } }
  t.same(await planFor(1, none), FILTER, 'without parts every list is filtered')
})

t.test(
  'a count of variables subtracts the instances of the hidden key, and single revoked ones',
  async (t) => {
    const count = await planOf('getVariableInstancesCount', [
      ...ALL_BUT_E,
      'revoke mary PROCESS_INSTANCE:revoked READ',
      'grant mary PROCESS_INSTANCE:other READ',
    ])
    t.match(count, { strategy: 'union', subqueries: [{ set: {} }], instances: [], nullGroup: null })
    t.same('excluded' in count ? count.excluded.map(({ set }) => set) : [], [
      { processInstanceIdIn: ['hidden', 'revoked'] },
    ])
  },
)

/** Returns what a count of variables subtracts if these tenants have variables. */
async function excludedWith(found: readonly string[] | null, tenants: readonly string[], line = '') {
  const options = { ...OPTIONS, variableTenants: async () => found }
  const lines = [...ALL_BUT_E, ...(line === '' ? [] : [line])]
  const context = contextOf('getVariableInstancesCount', { lines, options, tenants })
  const plan = context === null ? FILTER : await createPlan(context)
  return 'excluded' in plan ? plan.excluded.map(({ set }) => set) : plan
}

t.test(
  'a count of variables also subtracts those of tenants that are not the tenants of the caller',
  async (t) => {
    const hidden = { processInstanceIdIn: ['hidden'] }
    t.same(await excludedWith(['acme', 'globex'], ['acme']), [{ tenantIdIn: ['globex'] }, hidden])
    t.same(await excludedWith(['acme', 'globex'], []), [{ tenantIdIn: ['acme', 'globex'] }, hidden])
    t.same(await excludedWith([], []), [hidden], 'no variable has a tenant')
    t.same(await excludedWith(['acme'], ['acme']), [hidden], 'no variable has another tenant')
    t.same(await excludedWith(null, ['acme']), FILTER, 'too many tenants')
    t.same(await excludedWith(['a,b'], ['acme']), FILTER, 'a name that a list cannot contain')
    const revoked = 'revoke mary PROCESS_INSTANCE:revoked READ'
    t.same(
      await excludedWith(['globex'], ['acme'], revoked),
      FILTER,
      'an instance may belong to another tenant',
    )
  },
)
