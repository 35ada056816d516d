import { stringIn } from '../../request/value.ts'
import type { LookupName } from '../../operations/lookup-name.ts'
import type { ListRow, LookUp } from '../../policy/authz/entities/look-ups.ts'
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
  rows: readonly ListRow[],
  definitions: ReadonlyMap<string, Attributes>,
  lookUp: LookUp,
): Promise<ReadonlyMap<ListRow, string | null>> {
  const ofOperations = await tenantsOfOperations(rows, lookUp)
  const named = await namedTenants(
    rows.filter((row) => stringIn(row, 'processDefinitionId') === null),
    lookUp,
  )
  const tenants = new Map<ListRow, string | null>()
  for (const row of rows) {
    const definitionId = stringIn(row, 'processDefinitionId')
    const loaded = definitionId === null ? named.get(row) : tenantIn(definitions.get(definitionId))
    const byOperation = ofOperations.get(row['operationId'])
    tenants.set(
      row,
      loaded !== undefined ? loaded : byOperation !== undefined ? byOperation : freeTenant(row),
    )
  }
  return tenants
}

/** Returns the tenants of the items that name one of these entities. Each entity is looked up once, however many items name it. */
async function namedTenants(
  rows: readonly ListRow[],
  lookUp: LookUp,
): Promise<ReadonlyMap<ListRow, string | null>> {
  const byEntity = new Map<
    string,
    { readonly lookup: LookupName; readonly id: string; readonly rows: ListRow[] }
  >()
  for (const row of rows) {
    const named = NAMED.find(([member]) => stringIn(row, member) !== null)
    if (named === undefined) continue
    const [member, lookup] = named
    const id = stringIn(row, member) ?? ''
    const entity = byEntity.get(`${lookup} ${id}`) ?? { lookup, id, rows: [] }
    byEntity.set(`${lookup} ${id}`, entity)
    entity.rows.push(row)
  }
  const tenants = new Map<ListRow, string | null>()
  await mapSideBySide([...byEntity.values()], async ({ lookup, id, rows: naming }) => {
    const tenant = tenantIn(await lookUp(lookup, id))
    for (const row of naming) tenants.set(row, tenant)
  })
  return tenants
}

/** Returns the tenants that the properties of operations determine, by operation id. */
async function tenantsOfOperations(
  rows: readonly ListRow[],
  lookUp: LookUp,
): Promise<ReadonlyMap<unknown, string | null>> {
  const ofOperations = new Map<unknown, string | null>()
  for (const row of rows) {
    const value = stringIn(row, 'newValue')
    if (value === null) continue
    if (row['property'] === TENANT) ofOperations.set(row['operationId'], value)
    if (row['property'] === DECISION)
      ofOperations.set(row['operationId'], tenantIn(await lookUp('decisionDefinition', value)))
  }
  return ofOperations
}

/** An entity that no longer exists may have belonged to any tenant. */
function tenantIn(attributes: Attributes | null | undefined): string | null {
  return attributes === null || attributes === undefined ? UNKNOWN_TENANT : (attributes['tenantId'] ?? null)
}

function freeTenant(row: ListRow): string | null {
  const { entityType } = row
  const ignoresTenants = FREE.has(entityType) || (FREE_WITHOUT_ID.has(entityType) && !hasId(row))
  return ignoresTenants ? null : UNKNOWN_TENANT
}

function hasId(row: ListRow): boolean {
  return IDS.some((member) => stringIn(row, member) !== null)
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
