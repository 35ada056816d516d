import t from 'tap'
import { tenantsOfEntries, UNKNOWN_TENANT } from '../../../src/lists/facts/log-tenants.ts'
import type { LookUp } from '../../../src/policy/authz/entities/look-ups.ts'
import type { Attributes } from '../../../src/request/attributes.ts'

const ENTITIES: Readonly<Record<string, Attributes>> = {
  'historicTask t1': { tenantId: 'acme' },
  'historicTask t2': { tenantId: null },
  'deployment d1': { tenantId: 'acme' },
  'historicBatch b1': { tenantId: null },
  'decisionDefinition dish:1': { tenantId: 'acme' },
}
const lookUp: LookUp = async (name, id) => ENTITIES[`${name} ${id}`] ?? null
const definitions = new Map([
  ['office:1', { key: 'office', tenantId: 'acme' }],
  ['mail:1', { key: 'mail', tenantId: null }],
])

async function tenantOf(...items: readonly Readonly<Record<string, unknown>>[]) {
  const tenants = await tenantsOfEntries(items, definitions, lookUp)
  return items.map((item) => tenants.get(item))
}

t.test('an entry of the operation log belongs to the tenant of the entity that it names', async (t) => {
  for (const [item, tenant] of [
    [{ processDefinitionId: 'office:1', taskId: 't2' }, 'acme'],
    [{ processDefinitionId: 'mail:1', deploymentId: 'd1' }, null],
    [{ taskId: 't1', entityType: 'Task' }, 'acme'],
    [{ taskId: 't2', entityType: 'Task' }, null],
    [{ deploymentId: 'd1', entityType: 'Deployment' }, 'acme'],
    [{ batchId: 'b1', entityType: 'Batch' }, null],
    [{ entityType: 'Tenant', operationId: 'o', property: 'tenantId', newValue: 'globex' }, 'globex'],
  ] as const)
    t.same(await tenantOf(item), [tenant], JSON.stringify(item))
})

t.test('of several entries about tasks, each belongs to the tenant of its own task', async (t) => {
  const [task, other] = [
    { taskId: 't1', entityType: 'Task' },
    { taskId: 't2', entityType: 'Task' },
  ]
  t.same(await tenantOf({ ...task }, { ...other }, { ...task }), ['acme', null, 'acme'])
})

t.test('one property gives the tenant for all entries of its operation', async (t) => {
  const operationId = 'o1'
  const items = [
    { entityType: 'DecisionDefinition', operationId, property: 'historyTimeToLive', newValue: '5' },
    { entityType: 'DecisionDefinition', operationId, property: 'decisionDefinitionId', newValue: 'dish:1' },
    { entityType: 'TenantMembership', operationId: 'o2', property: 'userId', newValue: 'anna' },
    { entityType: 'TenantMembership', operationId: 'o2', property: 'tenantId', newValue: 'globex' },
  ]
  t.same(await tenantOf(...items), ['acme', 'acme', 'globex', 'globex'])
})

t.test('entries about identities, records, filters and many entities have no tenant', async (t) => {
  for (const entityType of ['User', 'Group', 'Group membership', 'Authorization', 'Filter', 'Property'])
    t.same(await tenantOf({ entityType }), [null], entityType)
  for (const entityType of ['ProcessInstance', 'Job', 'DecisionInstance'])
    t.same(await tenantOf({ entityType, property: 'nrOfInstances', newValue: '1' }), [null], entityType)
})

t.test('an entry about a deleted or unnamed entity may belong to any tenant', async (t) => {
  for (const item of [
    { processDefinitionId: 'gone:1', processDefinitionKey: 'gone' },
    { taskId: 'gone', entityType: 'Task' },
    { deploymentId: 'gone', entityType: 'Deployment' },
    { batchId: 'gone', entityType: 'Batch' },
    { processDefinitionKey: 'office', entityType: 'ProcessInstance' },
    { entityType: 'DecisionDefinition', property: 'historyTimeToLive', newValue: '5' },
    { entityType: 'DecisionDefinition', property: 'decisionDefinitionId', newValue: 'gone:1' },
    { entityType: 'OperationLog', property: 'operationId', newValue: 'o' },
    { entityType: 'TenantMembership', property: 'userId', newValue: 'anna' },
    { entityType: 'Unheard' },
    {},
  ])
    t.same(await tenantOf(item), [UNKNOWN_TENANT], JSON.stringify(item))
})
