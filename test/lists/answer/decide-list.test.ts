import t from 'tap'
import { limits } from '../../../src/config/limit-settings.ts'
import { createDateFormat } from '../../../src/request/date-format.ts'
import { operationsOf } from '../../../src/operations/compile-table.ts'
import type { ItemRestriction } from '../../../src/operations/notation.ts'
import type { OperationEntry } from '../../../src/operations/table.ts'
import { compilePolicies } from '../../../src/policy/authz/compile-policies.ts'
import { createListPermit, type ListPermitOptions } from '../../../src/lists/answer/decide-list.ts'
import { EMPTY_ENGINE } from '../../support/empty-engine.ts'
import { recordsOf } from '../../support/record-lines.ts'

const COUNTS: ItemRestriction = {
  form: 'instance counts',
  anyOf: [
    'PROCESS_INSTANCE.READ item:processInstanceId',
    'PROCESS_DEFINITION.READ_INSTANCE item:processDefinitionKey',
  ],
}

interface World extends Partial<Omit<ListPermitOptions, 'records'>> {
  readonly lines?: readonly string[]
  readonly params?: Readonly<Record<string, string>>
}

/** Returns the decision about the list that anna, of the tenant acme, requests. */
async function decisionOf(
  restriction: ItemRestriction,
  world: World = {},
  row: Partial<OperationEntry> = {},
): Promise<unknown> {
  const { lines = [], params = { id: 'd1' }, ...options } = world
  const table = operationsOf({
    tag: {
      row: { route: 'GET /novelties/of/:id', checks: [], items: restriction, crossTenant: 'ignored', ...row },
    },
  })
  const [policy] = compilePolicies(table).values()
  if (policy === undefined) throw new Error('no row')
  const records = recordsOf(lines)
  const permit = createListPermit(policy, {
    ...EMPTY_ENGINE,
    records: () => records,
    lookUp: (name, id) =>
      `${name} ${id}` === 'processDefinition d1' ? { key: 'review', tenantId: null } : null,
    definitions: async () => [],
    deleted: async () => [],
    hasOwnTenants: async () => false,
    nullsFirst: async () => null,
    instanceIds: async () => [],
    countInstances: async () => 0,
    variableTenants: async () => [],
    recentVariableTenants: () => null,
    limits: { ...limits.parse({}), scannedItems: 0, subqueries: 0 },
    dateFormat: createDateFormat(),
    readItemAttributes: async (_template, list) => list.map(() => () => null),
    caseKeys: async () => [],
    groupsOf: async () => [],
    principalOf: async () => null,
    ...options,
  })
  const principal = { userId: 'anna', groups: [], tenants: ['acme'] }
  return permit.decideList?.({ principal, params, query: new Map(), body: undefined }, false)
}

const OF_REVIEW = 'grant anna PROCESS_DEFINITION:review READ_INSTANCE'
const ONE = 'grant anna PROCESS_INSTANCE:i1 READ'

t.test('the engine counts for a caller who sees all instances of the definition', async (t) => {
  t.same(await decisionOf(COUNTS, { lines: [OF_REVIEW] }), { visibility: 'all' })
  t.same(await decisionOf(COUNTS, { lines: [OF_REVIEW], params: { key: 'review' } }), { visibility: 'all' })
  t.match(await decisionOf(COUNTS, { lines: [OF_REVIEW], params: { key: 'other' } }), { strategy: 'scan' })
  t.match(await decisionOf(COUNTS, { lines: [ONE] }), { strategy: 'scan' })
  t.match(await decisionOf(COUNTS, { lines: [OF_REVIEW], params: { id: 'gone' } }), { strategy: 'scan' })
  const lines = ['grant anna PROCESS_DEFINITION:* READ_INSTANCE']
  t.same(await decisionOf(COUNTS, { lines, params: { id: 'gone' } }), { visibility: 'all' })
})

t.test('if a revocation names the caller, a grant on the definition does not decide alone', async (t) => {
  const revoking = ['revoke anna PROCESS_INSTANCE:i1 READ', 'revoke anna USER:x READ']
  for (const line of revoking)
    t.match(await decisionOf(COUNTS, { lines: [OF_REVIEW, line] }), { strategy: 'scan' }, line)
})

t.test('a count that includes other tenants is counted again', async (t) => {
  const checksTenants = true
  const decision = await decisionOf(COUNTS, { lines: [OF_REVIEW], checksTenants })
  t.same(decision, { visibility: 'conditional', strategy: 'recount', tenants: new Set(['acme']) })
  t.same(await decisionOf({ form: 'report', anyOf: [] }, { checksTenants }), decision)
  t.same(await decisionOf({ form: 'group counts', anyOf: [] }, { checksTenants }), decision)
  t.same(await decisionOf({ form: 'report', anyOf: [] }), { visibility: 'all' })
})

const TASKS: ItemRestriction = {
  anyOf: ['TASK.READ item:taskId', 'PROCESS_DEFINITION.READ_TASK item:processDefinitionKey'],
  exempt: 'case',
}

t.test('a caller without a record sees only items that everyone sees', async (t) => {
  t.same(await decisionOf(TASKS), { visibility: 'none', valid: false })
  t.same(await decisionOf(TASKS, {}, { query: 'TopicNamesQuery' }), { visibility: 'none', valid: true })
  t.match(await decisionOf(TASKS, { caseKeys: async () => ['care'] }), { strategy: 'scan' })
  t.match(await decisionOf({ ...TASKS, exempt: 'no definition' }), { strategy: 'scan' })
  t.same(await decisionOf(TASKS, { lines: ['grant anna TASK:* READ'] }), { visibility: 'all' })
  t.match(await decisionOf(TASKS, { lines: ['grant anna TASK:t1 READ'] }), { strategy: 'scan' })
})

t.test('a grant on all items does not include items of other tenants', async (t) => {
  const world = { lines: ['grant anna TASK:* READ'], checksTenants: true }
  t.match(await decisionOf(TASKS, world), { strategy: 'scan' })
  t.same(await decisionOf({ ...TASKS, crossTenant: 'ignored' }, world), { visibility: 'all' })
  t.same(await decisionOf(TASKS, { ...world, adminUsers: ['anna'] }), { visibility: 'all' })
})

t.test('a task query selects the tasks of one case key, but not of several', async (t) => {
  const query: ItemRestriction = { ...TASKS, prefilter: 'task query' }
  for (const lines of [[], ['grant anna TASK:t1 READ']])
    for (const [keys, strategy] of [
      [['care'], 'rewrite'],
      [['care', 'claim'], 'scan'],
      [null, 'scan'],
    ] as const)
      t.match(
        await decisionOf(query, { lines, caseKeys: async () => keys }),
        { strategy },
        JSON.stringify(keys),
      )
})
