import type { LookupName } from '../../../operations/lookup-name.ts'
import type { Attributes } from '../../../request/attributes.ts'
import { stringIn } from '../../../request/value.ts'
import type { ListItem, LookUp, LookUps } from './look-ups.ts'
import { inLists } from './lookup-lists.ts'

/** The list whose items belong to tenants without naming them. */
export const OPERATION_LOG = '/history/user-operation'

/** The tenant of an entry whose tenant cannot be determined. No tenant has such an id, so no member of any tenant sees the entry. */
export const UNKNOWN_TENANT = '\0'

/** The number of entities that are looked up at the same time. */
const PARALLEL_LOOKUPS = 4

/** The members that name an entity, and the lookups that return its tenant, in order of preference. */
const NAMED: readonly (readonly [member: string, lookup: LookupName])[] = [
  ['taskId', 'historicTask'],
  ['deploymentId', 'deployment'],
  ['batchId', 'historicBatch'],
  ['jobId', 'job'],
  ['jobDefinitionId', 'jobDefinition'],
]

/** The properties of annotations, whose value names the annotated entity, and the lookups that return its tenant. */
const ANNOTATED: Readonly<Record<string, { readonly property: string; readonly lookup: LookupName }>> = {
  OperationLog: { property: 'operationId', lookup: 'operationLogEntry' },
  Incident: { property: 'incidentId', lookup: 'historicIncident' },
}

/**
 * Entries about these types belong to no tenant (Camunda 7.22 to 7.24, Operaton 1.0). The same is true for entries of the
 * second set without an id, which concern many entities at once. An engine does not write a tenant into them, even if all
 * entities belong to one, or if a key in the request was restricted to a tenant.
 */
const FREE: ReadonlySet<unknown> = new Set([
  'Authorization',
  'Filter',
  'Group',
  'Group membership',
  'Metrics',
  'Property',
  'TaskMetrics',
  'User',
])
const FREE_WITHOUT_ID: ReadonlySet<unknown> = new Set([
  'Batch',
  'CaseInstance',
  'ExternalTask',
  'Job',
  'JobDefinition',
  'ProcessDefinition',
  'ProcessInstance',
])

/** Properties whose value determines the tenant of all entries of one operation. */
const TENANT = 'tenantId'
const DECISION = 'decisionDefinitionId'

/**
 * Returns the tenant of each entry, or null if it belongs to no tenant. `definitions` contains the process definitions of
 * the items by id, as far as they exist.
 */
export async function tenantsOfEntries(
  items: readonly ListItem[],
  definitions: ReadonlyMap<string, Attributes>,
  { lookUp, lookUpAll }: LookUps,
): Promise<ReadonlyMap<ListItem, string | null>> {
  const definitionOf = (item: ListItem) => definitions.get(stringIn(item, 'processDefinitionId') ?? '')
  const hasTenant = (item: ListItem) => (definitionOf(item)?.['tenantId'] ?? null) !== null
  const instanceIds = items.flatMap((item) =>
    hasTenant(item) ? [] : (stringIn(item, 'processInstanceId') ?? []),
  )
  // An engine may be configured to choose a tenant for the instances of a definition without one.
  const instances = await lookUpAll('historicProcessInstance', [...new Set(instanceIds)])
  const entityOf = (item: ListItem) =>
    hasTenant(item)
      ? definitionOf(item)
      : (instances.get(stringIn(item, 'processInstanceId') ?? '') ?? definitionOf(item))
  // A definition that was deleted had the tenant of its deployment, which may still exist.
  const named = await namedTenants(
    items.filter((item) => entityOf(item) === undefined),
    lookUp,
  )
  const ofOperations = await tenantsOfOperations(items, lookUp)
  const tenants = new Map<ListItem, string | null>()
  for (const item of items) {
    const entity = entityOf(item)
    const loaded = entity === undefined ? named.get(item) : tenantIn(entity)
    const byOperation = ofOperations.get(operationOf(item))
    tenants.set(
      item,
      loaded !== undefined ? loaded : byOperation !== undefined ? byOperation : freeTenant(item),
    )
  }
  return tenants
}

/** Returns the tenants of the items that name one of these entities. Each entity is looked up once, however many items name it. */
async function namedTenants(
  items: readonly ListItem[],
  lookUp: LookUp,
): Promise<ReadonlyMap<ListItem, string | null>> {
  const byEntity = new Map<string, { readonly name: EntityName; readonly items: ListItem[] }>()
  for (const item of items) {
    const name = entityNamedBy(item)
    if (name === null) continue
    const entity = byEntity.get(name.join(' ')) ?? { name, items: [] }
    byEntity.set(name.join(' '), entity)
    entity.items.push(item)
  }
  const tenants = new Map<ListItem, string | null>()
  for (const some of inLists([...byEntity.values()], PARALLEL_LOOKUPS))
    await Promise.all(
      some.map(async ({ name, items: naming }) => {
        const tenant = tenantIn(await lookUp(...name))
        for (const item of naming) tenants.set(item, tenant)
      }),
    )
  return tenants
}

type EntityName = readonly [lookup: LookupName, id: string]

function entityNamedBy(item: ListItem): EntityName | null {
  for (const [member, lookup] of NAMED) {
    const id = stringIn(item, member)
    if (id !== null) return [lookup, id]
  }
  const annotated = ANNOTATED[stringIn(item, 'entityType') ?? '']
  const id = stringIn(item, 'newValue')
  return annotated === undefined || item['property'] !== annotated.property || id === null
    ? null
    : [annotated.lookup, id]
}

/** Returns the tenants that the properties of operations determine, by operation. */
async function tenantsOfOperations(
  items: readonly ListItem[],
  lookUp: LookUp,
): Promise<ReadonlyMap<string, string | null>> {
  const ofOperations = new Map<string, string | null>()
  for (const item of items) {
    if (isAboutManyDecisions(item)) ofOperations.set(operationOf(item), null)
    const value = stringIn(item, 'newValue')
    if (value === null) continue
    if (item['property'] === TENANT) ofOperations.set(operationOf(item), value)
    if (item['property'] === DECISION)
      ofOperations.set(operationOf(item), tenantIn(await lookUp('decisionDefinition', value)))
  }
  return ofOperations
}

/** Returns a key of the entries that an operation has written about one type. */
function operationOf(item: ListItem): string {
  return JSON.stringify([item['entityType'], item['operationId']])
}

/**
 * Returns whether an entry shows that its operation concerned many decision instances, and therefore no tenant. An engine
 * deletes a single instance only for Java code, and then writes its tenant.
 */
function isAboutManyDecisions({ entityType, operationType, property, newValue }: ListItem): boolean {
  if (entityType !== 'DecisionInstance') return false
  return operationType === 'DeleteHistory'
    ? property === 'async' && newValue === 'true'
    : operationType === 'SetRemovalTime'
}

/** An entity that no longer exists may have belonged to any tenant. */
function tenantIn(attributes: Attributes | null | undefined): string | null {
  return attributes === null || attributes === undefined ? UNKNOWN_TENANT : (attributes['tenantId'] ?? null)
}

function freeTenant(item: ListItem): string | null {
  const { entityType } = item
  const ignoresTenants = FREE.has(entityType) || (FREE_WITHOUT_ID.has(entityType) && !mayHaveId(item))
  return ignoresTenants ? null : UNKNOWN_TENANT
}

/** Returns whether an entry names an entity. It also may if it lacks one of these members. */
function mayHaveId(item: ListItem): boolean {
  return IDS.some((member) => item[member] !== null)
}

const IDS = [
  'batchId',
  'caseDefinitionId',
  'caseExecutionId',
  'caseInstanceId',
  'deploymentId',
  'executionId',
  'externalTaskId',
  'jobDefinitionId',
  'jobId',
  'processDefinitionId',
  'processInstanceId',
  'taskId',
]
