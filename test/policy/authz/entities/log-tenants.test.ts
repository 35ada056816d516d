import t from 'tap'
import { tenantsOfEntries, UNKNOWN_TENANT } from '../../../../src/policy/authz/entities/log-tenants.ts'
import type { LookUp, LookUpAll } from '../../../../src/policy/authz/entities/look-ups.ts'
import type { Attributes } from '../../../../src/request/attributes.ts'

const ENTITIES: Readonly<Record<string, Attributes>> = {
  'historicTask t1': { tenantId: 'acme' },
  'historicTask t2': { tenantId: null },
  'deployment d1': { tenantId: 'acme' },
  'historicBatch b1': { tenantId: null },
  'job j1': { tenantId: 'acme' },
  'jobDefinition jd1': { tenantId: null },
  'decisionDefinition dish:1': { tenantId: 'acme' },
  'operationLogEntry o1': { tenantId: 'acme' },
  'historicIncident i1': { tenantId: null },
  'historicProcessInstance p1': { tenantId: 'acme' },
  'historicProcessInstance p2': { tenantId: null },
}
const lookUp: LookUp = async (name, id) => ENTITIES[`${name} ${id}`] ?? null
const lookUpAll: LookUpAll = async (name, ids) => {
  const known = ids.flatMap((id) => {
    const attributes = ENTITIES[`${name} ${id}`]
    return attributes === undefined ? [] : [[id, attributes] as const]
  })
  return new Map(known)
}
const definitions = new Map([
  ['office:1', { key: 'office', tenantId: 'acme' }],
  ['mail:1', { key: 'mail', tenantId: null }],
])

type Entry = Readonly<Record<string, unknown>>

/** The members that an engine writes as null if an entry does not name such an entity. */
const UNNAMED = {
  batchId: null,
  caseDefinitionId: null,
  caseExecutionId: null,
  caseInstanceId: null,
  deploymentId: null,
  executionId: null,
  externalTaskId: null,
  jobDefinitionId: null,
  jobId: null,
  processDefinitionId: null,
  processDefinitionKey: null,
  processInstanceId: null,
  taskId: null,
}

async function tenantOf(...entries: readonly Entry[]) {
  const items = entries.map((entry) => ({ ...UNNAMED, ...entry }))
  const tenants = await tenantsOfEntries(items, definitions, { lookUp, lookUpAll })
  return items.map((item) => tenants.get(item))
}

t.test('an entry of the operation log belongs to the tenant of the entity that it names', async (t) => {
  for (const [item, tenant] of [
    [{ processDefinitionId: 'office:1', taskId: 't2' }, 'acme'],
    [{ processDefinitionId: 'mail:1', deploymentId: 'd1' }, null],
    [{ processDefinitionId: 'gone:1', deploymentId: 'd1', entityType: 'ProcessDefinition' }, 'acme'],
    [{ taskId: 't1', entityType: 'Task' }, 'acme'],
    [{ taskId: 't2', entityType: 'Task' }, null],
    [{ deploymentId: 'd1', entityType: 'Deployment' }, 'acme'],
    [{ batchId: 'b1', entityType: 'Batch' }, null],
    [{ jobId: 'j1', jobDefinitionId: 'jd1', entityType: 'Job' }, 'acme'],
    [{ jobDefinitionId: 'jd1', entityType: 'JobDefinition' }, null],
    [{ entityType: 'OperationLog', property: 'operationId', newValue: 'o1' }, 'acme'],
    [{ entityType: 'Incident', property: 'incidentId', newValue: 'i1' }, null],
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

t.test(
  'an entry about an instance has the tenant of the instance unless its definition has one',
  async (t) => {
    for (const [item, tenant] of [
      [{ processDefinitionId: 'mail:1', processInstanceId: 'p1' }, 'acme'],
      [{ processDefinitionId: 'mail:1', processInstanceId: 'p2' }, null],
      [{ processDefinitionId: 'mail:1', processInstanceId: 'gone' }, null],
      [{ processDefinitionId: 'office:1', processInstanceId: 'p2' }, 'acme'],
      [{ processDefinitionId: 'gone:1', processInstanceId: 'p1' }, 'acme'],
      [{ processDefinitionId: 'gone:1', processInstanceId: 'p2' }, null],
      [{ processInstanceId: 'p2', entityType: 'ProcessInstance' }, null],
    ] as const)
      t.same(await tenantOf(item), [tenant], JSON.stringify(item))
  },
)

t.test('one property gives the tenant for all entries of its operation', async (t) => {
  const operationId = 'o1'
  const items = [
    { entityType: 'DecisionDefinition', operationId, property: 'historyTimeToLive', newValue: '5' },
    { entityType: 'DecisionDefinition', operationId, property: 'decisionDefinitionId', newValue: 'dish:1' },
    { entityType: 'TenantMembership', operationId: 'o2', property: 'userId', newValue: 'anna' },
    { entityType: 'TenantMembership', operationId: 'o2', property: 'tenantId', newValue: 'globex' },
    { entityType: 'OtherType', operationId: 'o2', property: 'userId', newValue: 'anna' },
  ]
  t.same(await tenantOf(...items), ['acme', 'acme', 'globex', 'globex', UNKNOWN_TENANT])
})

t.test('entries about identities, records, filters and many entities have no tenant', async (t) => {
  for (const entityType of ['User', 'Group', 'Group membership', 'Authorization', 'Filter', 'Property'])
    t.same(await tenantOf({ entityType }), [null], entityType)
  for (const entityType of ['Batch', 'CaseInstance', 'ExternalTask', 'Job', 'ProcessInstance'])
    t.same(await tenantOf({ entityType, property: 'nrOfInstances', newValue: '1' }), [null], entityType)
  for (const entityType of ['Job', 'JobDefinition', 'ProcessDefinition', 'ProcessInstance'])
    t.same(await tenantOf({ entityType, processDefinitionKey: 'office' }), [null], entityType)
})

t.test('entries about decision instances have no tenant unless they may concern a single one', async (t) => {
  const entry = { entityType: 'DecisionInstance', operationId: 'o', operationType: 'DeleteHistory' }
  const count = { ...entry, property: 'nrOfInstances', newValue: '1' }
  const isAsync = { ...entry, property: 'async', newValue: 'true' }
  const isSync = { ...entry, property: 'async', newValue: 'false' }
  t.same(await tenantOf(count, isAsync), [null, null])
  t.same(await tenantOf(count, isSync), [UNKNOWN_TENANT, UNKNOWN_TENANT])
  t.same(await tenantOf({ ...isAsync, operationId: 'other' }, count), [null, UNKNOWN_TENANT])
  t.same(await tenantOf({ ...count, operationType: 'SetRemovalTime' }), [null])
})

t.test('an entry about a deleted or unnamed entity may belong to any tenant', async (t) => {
  for (const item of [
    { processDefinitionId: 'gone:1', processDefinitionKey: 'gone' },
    { processDefinitionId: 'gone:1', deploymentId: 'gone', entityType: 'ProcessDefinition' },
    { processInstanceId: 'gone', entityType: 'ProcessInstance' },
    { taskId: 'gone', entityType: 'Task' },
    { deploymentId: 'gone', entityType: 'Deployment' },
    { batchId: 'gone', entityType: 'Batch' },
    { jobId: 'gone', entityType: 'Job' },
    { jobDefinitionId: 'gone', entityType: 'JobDefinition', processDefinitionKey: 'office' },
    { externalTaskId: 'e1', entityType: 'ExternalTask' },
    { entityType: 'DecisionDefinition', property: 'historyTimeToLive', newValue: '5' },
    { entityType: 'DecisionDefinition', property: 'decisionDefinitionId', newValue: 'gone:1' },
    { entityType: 'OperationLog', property: 'operationId', newValue: 'gone' },
    { entityType: 'OperationLog', property: 'other', newValue: 'o1' },
    { entityType: 'Incident', property: 'incidentId', newValue: 'gone' },
    { entityType: 'TenantMembership', property: 'userId', newValue: 'anna' },
    { entityType: 'Unheard' },
    {},
  ])
    t.same(await tenantOf(item), [UNKNOWN_TENANT], JSON.stringify(item))
})

t.test('an entry without a member that may name an entity may belong to any tenant', async (t) => {
  const item = { entityType: 'ExternalTask', property: 'retries', newValue: '5' }
  t.same([...(await tenantsOfEntries([item], definitions, { lookUp, lookUpAll })).values()], [UNKNOWN_TENANT])
})
