import { stringIn } from '../../request/value.ts'
import type { LookupName } from '../../operations/lookup-name.ts'
import type { ListItem, LookUp } from '../../policy/authz/entities/look-ups.ts'
import type { Attributes } from '../../request/attributes.ts'
import { mapSideBySide } from '../side-by-side.ts'

/** The list whose items belong to tenants without naming them. */
export const OPERATION_LOG = '/history/user-operation'

/** The tenant of an entry whose tenant cannot be determined. No tenant has such an id, so no member of any tenant sees the entry. */
export const UNKNOWN_TENANT = '\0'

/** The members that name an entity, and the lookups that return its tenant, in order of preference. */
const NAMED: readonly (readonly [member: string, lookup: LookupName])[] = [
  ['taskId', 'historicTask'],
  ['deploymentId', 'deployment'],
  ['batchId', 'historicBatch'],
]

/**
 * Entries about these types belong to no tenant (Camunda 7.22). The same is true for entries of the second set without an
 * id, which concern many entities at once.
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
const FREE_WITHOUT_ID: ReadonlySet<unknown> = new Set(['DecisionInstance', 'Job', 'ProcessInstance'])

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
  lookUp: LookUp,
): Promise<ReadonlyMap<ListItem, string | null>> {
  const ofOperations = await tenantsOfOperations(items, lookUp)
  const named = await namedTenants(
    items.filter((item) => stringIn(item, 'processDefinitionId') === null),
    lookUp,
  )
  const tenants = new Map<ListItem, string | null>()
  for (const item of items) {
    const definitionId = stringIn(item, 'processDefinitionId')
    const loaded = definitionId === null ? named.get(item) : tenantIn(definitions.get(definitionId))
    const byOperation = ofOperations.get(item['operationId'])
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
  const byEntity = new Map<
    string,
    { readonly lookup: LookupName; readonly id: string; readonly items: ListItem[] }
  >()
  for (const item of items) {
    const named = NAMED.find(([member]) => stringIn(item, member) !== null)
    if (named === undefined) continue
    const [member, lookup] = named
    const id = stringIn(item, member) ?? ''
    const entity = byEntity.get(`${lookup} ${id}`) ?? { lookup, id, items: [] }
    byEntity.set(`${lookup} ${id}`, entity)
    entity.items.push(item)
  }
  const tenants = new Map<ListItem, string | null>()
  await mapSideBySide([...byEntity.values()], async ({ lookup, id, items: naming }) => {
    const tenant = tenantIn(await lookUp(lookup, id))
    for (const item of naming) tenants.set(item, tenant)
  })
  return tenants
}

/** Returns the tenants that the properties of operations determine, by operation id. */
async function tenantsOfOperations(
  items: readonly ListItem[],
  lookUp: LookUp,
): Promise<ReadonlyMap<unknown, string | null>> {
  const ofOperations = new Map<unknown, string | null>()
  for (const item of items) {
    const value = stringIn(item, 'newValue')
    if (value === null) continue
    if (item['property'] === TENANT) ofOperations.set(item['operationId'], value)
    if (item['property'] === DECISION)
      ofOperations.set(item['operationId'], tenantIn(await lookUp('decisionDefinition', value)))
  }
  return ofOperations
}

/** An entity that no longer exists may have belonged to any tenant. */
function tenantIn(attributes: Attributes | null | undefined): string | null {
  return attributes === null || attributes === undefined ? UNKNOWN_TENANT : (attributes['tenantId'] ?? null)
}

function freeTenant(item: ListItem): string | null {
  const { entityType } = item
  const ignoresTenants = FREE.has(entityType) || (FREE_WITHOUT_ID.has(entityType) && !hasId(item))
  return ignoresTenants ? null : UNKNOWN_TENANT
}

function hasId(item: ListItem): boolean {
  return IDS.some((member) => stringIn(item, member) !== null)
}

const IDS = [
  'caseDefinitionId',
  'caseExecutionId',
  'caseInstanceId',
  'executionId',
  'externalTaskId',
  'jobDefinitionId',
  'jobId',
  'processDefinitionKey',
  'processInstanceId',
]
