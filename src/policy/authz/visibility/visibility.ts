import type { ExemptEntity } from '../../../operations/notation.ts'
import { RESOURCES } from '../../../operations/permissions.ts'
import type { Permission } from '../checks/compiled-permission.ts'
import type { Principal } from '../../../request/principal.ts'
import { identityBits, implicitBits, ownerBits } from '../entities/implicit-grants.ts'
import type { PermissionCheck } from '../decision/permission-check.ts'
import { decideAny, isAuthorized, isGrantedTogether } from '../decision/decide.ts'
import { grantedIds, someNamedId } from '../decision/granted-ids.ts'
import { usesRevokes, type Records } from '../records/records.ts'
import type { ItemAttribute, ListItem } from '../entities/look-ups.ts'
import type { CompiledRestriction, ItemCondition, ListSubject, Visibility } from './compiled-restriction.ts'

export function visibilityOf(
  restriction: CompiledRestriction,
  principal: Principal,
  records: Records,
): Visibility {
  return leastVisibility(
    restriction.conditions.map((condition) => conditionVisibility(condition, principal, records)),
  )
}

function leastVisibility(visibilities: readonly Visibility[]): Visibility {
  if (visibilities.includes('none')) return 'none'
  return visibilities.includes('conditional') ? 'conditional' : 'all'
}

function visibilityTogether(
  permissions: readonly Permission[],
  principal: Principal,
  records: Records,
): Visibility {
  const [first] = permissions
  if (first === undefined) return 'none'
  const isOpen = (id: string | null): boolean =>
    isGrantedTogether(
      records,
      principal,
      permissions.map((one) => ({ ...one, id })),
    )
  if (isOpen(null)) return 'all'
  return someNamedId(records, principal, RESOURCES[first.resource].id, isOpen) ? 'conditional' : 'none'
}

/**
 * Returns how many items one condition opens. Without revocations, any grant on `*` opens every item. With revocations, the
 * first permission with a decision decides an item. A grant on `*` then opens every item only if no earlier permission names
 * single ids, and no revocation up to this permission does.
 */
function conditionVisibility(condition: ItemCondition, principal: Principal, records: Records): Visibility {
  const { permissions } = condition
  const revokes = usesRevokes(records, principal)
  if (condition.together === true)
    return revokes
      ? leastVisibility(
          permissions.map((one) => conditionVisibility({ permissions: [one] }, principal, records)),
        )
      : visibilityTogether(permissions, principal, records)
  const isOpen = ({ resource, permission }: Permission, id: string | null): boolean =>
    isAuthorized(records, principal, { resource, permission, id }) === true
  // Listing the ids of a caller that has many takes milliseconds.
  if (!revokes) {
    if (permissions.some((one) => isOpen(one, null))) return 'all'
    const isAnyOpen = permissions.some((one) =>
      someNamedId(records, principal, RESOURCES[one.resource].id, (id) => isOpen(one, id)),
    )
    return isAnyOpen ? 'conditional' : 'none'
  }
  const all = permissions.map((permission) => grantedIds(records, principal, permission))
  const last = all.findIndex(({ any }) => any !== null)
  const relevant = last < 0 ? all : all.slice(0, last + 1)
  const speaksOfIds = relevant.some(
    ({ ids, revokedIds }, at) => revokedIds.length > 0 || (at < last && ids.length > 0),
  )
  if (all[last]?.any === true) return speaksOfIds ? 'conditional' : 'all'
  return relevant.some(({ ids }) => ids.length > 0) ? 'conditional' : 'none'
}

/** Returns the ids that a permission of the restriction grants, to narrow a query. Use it only without revocations, where a grant is final. */
export function idsGranted(
  restriction: CompiledRestriction,
  resource: Permission['resource'],
  about: { principal: Principal; records: Records },
): readonly string[] {
  const ofResource = restriction.conditions
    .flatMap(({ permissions }) => permissions)
    .filter((permission) => permission.resource === resource)
  return [
    ...new Set(
      ofResource.flatMap((permission) => grantedIds(about.records, about.principal, permission).ids),
    ),
  ]
}

/** Returns the restriction with the conditions on one kind of entity, for a response with several kinds. */
export function onlyOf(restriction: CompiledRestriction, kind: string): CompiledRestriction {
  const conditions = restriction.conditions.filter(({ permissions }) =>
    permissions.every(({ attribute }) => 'name' in attribute && attribute.name.startsWith(`${kind}.`)),
  )
  return { ...restriction, conditions }
}

/**
 * Returns whether the caller sees an item: the engine's decision, with the ids in the item. A permission on an item without
 * an id is checked as `*`.
 */
export function isVisible(
  { conditions, exempt, tenanted }: CompiledRestriction,
  item: ListItem,
  attribute: ItemAttribute,
  subject: ListSubject,
): boolean {
  if (tenanted && !isOfTenants(attribute('tenantId'), subject.tenants)) return false
  if (exempt !== null && isExempt(exempt, item, attribute)) return true
  return conditions.every((condition) => isMet(condition, attribute, subject))
}

/** Returns whether an item, with its ids, meets one condition. */
function isMet(condition: ItemCondition, attribute: ItemAttribute, subject: ListSubject): boolean {
  const { principal, records } = subject
  const permissionChecks = itemChecksOf(condition, attribute, subject)
  if (condition.together !== true) return decideAny(records, principal, permissionChecks)
  return usesRevokes(records, principal)
    ? permissionChecks.every((permissionCheck) => decideAny(records, principal, [permissionCheck]))
    : isGrantedTogether(records, principal, permissionChecks)
}

function itemChecksOf(
  { permissions }: ItemCondition,
  attribute: ItemAttribute,
  { principal, implicitGrants, impliesIdentity, impliesFilters = false }: ListSubject,
): readonly PermissionCheck[] {
  return permissions.map(({ resource, permission, attribute: source }) => {
    const id = 'name' in source ? attribute(source.name) : null
    const permissionCheck = { resource, permission, id }
    if (resource === 'TASK' && implicitGrants !== null)
      return { ...permissionCheck, implicitBits: implicitBits(implicitGrants, id) }
    if (resource === 'FILTER' && impliesFilters)
      return { ...permissionCheck, implicitBits: ownerBits(attribute('owner'), principal) }
    return impliesIdentity
      ? { ...permissionCheck, implicitBits: identityBits(resource, id, principal) }
      : permissionCheck
  })
}

/**
 * Returns the alternatives that would open an item, for each condition that it does not meet. Empty if the item is visible,
 * or no record opens it.
 */
export function missingForItem(
  restriction: CompiledRestriction,
  item: ListItem,
  attribute: ItemAttribute,
  subject: ListSubject,
): readonly (readonly PermissionCheck[])[] {
  const isAnothers = restriction.tenanted && !isOfTenants(attribute('tenantId'), subject.tenants)
  if (isAnothers || isVisible(restriction, item, attribute, subject)) return []
  return restriction.conditions
    .filter((condition) => !isMet(condition, attribute, subject))
    .flatMap((condition) => {
      const checks = itemChecksOf(condition, attribute, subject)
      return condition.together === true ? checks.map((one) => [one]) : [checks]
    })
}

/** Returns whether an item with this `tenantId` exists for members of these tenants. Null `tenants` restrict nothing. */
export function isOfTenants(tenantId: unknown, tenants: ReadonlySet<string> | null): boolean {
  return tenants === null || typeof tenantId !== 'string' || tenants.has(tenantId)
}

/** Returns whether an item belongs to nothing that a record could name. The engine shows such items to every caller. */
function isExempt(exempt: ExemptEntity, item: ListItem, attribute: ItemAttribute): boolean {
  if (exempt === 'case') return typeof item['caseExecutionId'] === 'string'
  if (exempt === 'no execution') return attribute('executionId') === null
  if (exempt === 'no category and no definition' && attribute('category') !== null) return false
  return attribute('processDefinitionKey') === null
}
