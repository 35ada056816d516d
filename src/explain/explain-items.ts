import { RESOURCES } from '../operations/permissions.ts'
import type { AccessRequest } from '../request/access-request.ts'
import type { ItemsExplanation, ItemsPermission } from './explanation.ts'
import { decidingRecord } from './deciding-record.ts'
import { grantedIds } from '../policy/authz/decision/granted-ids.ts'
import type { AuthorizeOptions } from '../policy/authz/checks/authorize-options.ts'
import type { ListDecision } from '../lists/answer/list-decision.ts'
import { usesRevokes } from '../policy/authz/records/records.ts'
import { tenantsFor } from '../policy/authz/decision/admin.ts'
import { createPlan } from '../lists/prefilter/plan-list.ts'
import type { CompiledRestriction } from '../policy/authz/visibility/compiled-restriction.ts'
import { restrictionFor } from '../policy/authz/visibility/compile-restriction.ts'

const SHOWN_IDS = 20

/**
 * Explains the decision about the items of a response.
 * @returns null if the operation returns no items of its own
 */
export async function explainItems(
  compiled: CompiledRestriction | null,
  decision: ListDecision,
  { accessRequest, options }: { readonly accessRequest: AccessRequest; readonly options: AuthorizeOptions },
): Promise<ItemsExplanation | null> {
  if (compiled === null) return null
  const restriction = restrictionFor(compiled, accessRequest)
  const linked = restriction.concernsTasks
    ? await options.implicitGrants?.tasks(accessRequest.principal)
    : undefined
  return {
    sees: WORDS[decision.visibility],
    plan: await planOfItems(decision),
    conditions: restriction.conditions
      .flatMap(({ permissions, together }) =>
        together === true ? permissions.map((one) => [one]) : [permissions],
      )
      .map((permissions) => ({
        anyOf: permissions.map((permission) => permissionCheckOf(permission, accessRequest, options)),
      })),
    oneRecord:
      restriction.conditions.some(({ together }) => together === true) &&
      !usesRevokes(options.records(), accessRequest.principal),
    exempt: restriction.exempt,
    tenants: restriction.tenanted ? tenantsFor(accessRequest, options) : null,
    linkedTasks: linked === undefined ? null : new Set([...linked.user, ...linked.groups]).size,
    owner:
      restriction.concernsFilters && options.impliesFilters === true ? accessRequest.principal.userId : null,
  }
}

async function planOfItems(decision: ListDecision): Promise<ItemsExplanation['plan']> {
  if (decision.visibility === 'none') return 'denied'
  if (decision.strategy === 'rewrite') return 'rewrite'
  if (decision.strategy !== 'scan') return null
  const { planContext } = decision
  return planContext === undefined ? 'scan' : (await createPlan(planContext)).strategy
}

const WORDS = {
  all: 'all items',
  none: 'no items',
  conditional: 'some items',
  undecidable: 'cannot be told exactly',
} as const satisfies Record<ListDecision['visibility'], ItemsExplanation['sees']>

function permissionCheckOf(
  { resource, permission }: Parameters<typeof grantedIds>[2],
  { principal }: AccessRequest,
  options: AuthorizeOptions,
): ItemsPermission {
  const records = options.records()
  const { ids } = grantedIds(records, principal, { resource, permission })
  return {
    permission,
    resource: RESOURCES[resource].name,
    record: decidingRecord(records, principal, { resource, permission, id: null }),
    ids: ids.slice(0, SHOWN_IDS),
    idCount: ids.length,
  }
}
