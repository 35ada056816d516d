import type { MissingPermission } from '../../../errors.ts'
import { RESOURCES, type ResourceName } from '../../../operations/permissions.ts'
import type { PermissionCheck } from '../decision/permission-check.ts'
import type { ListItem, ItemAttribute } from '../entities/look-ups.ts'
import type { CompiledRestriction, ListSubject } from './compiled-restriction.ts'
import { missingForItem } from './visibility.ts'

interface MissingPermissionsInput {
  readonly restriction: CompiledRestriction
  readonly list: readonly ListItem[]
  readonly attributes: readonly ItemAttribute[]
  readonly subject: ListSubject
}

/** Returns the permissions that would open the items that the caller does not see. Each requirement occurs once, however many items have it. */
export function missingForItems({
  restriction,
  list,
  attributes,
  subject,
}: MissingPermissionsInput): readonly MissingPermission[] {
  const needs = new Map<string, readonly MissingPermission[]>()
  for (const [index, item] of list.entries()) {
    const attribute = attributes[index]
    if (attribute === undefined) continue
    for (const checks of missingForItem(restriction, item, attribute, subject)) {
      const alternatives = widest(checks)
      const key = JSON.stringify(
        alternatives.map(({ resource, permission, id }) => [resource, permission, id]),
      )
      if (!needs.has(key))
        needs.set(
          key,
          alternatives.map((check) => missingOf(check, needs.size)),
        )
    }
  }
  return [...needs.values()].flat()
}

/**
 * Returns the alternatives that open the most items. If the item has a definition, these are the permissions on it: a grant
 * on a single instance does not open the items of the next one, and a fetch of external tasks returns no task because of it.
 * Otherwise they are the permissions on ids of the item, or the permissions on all ids if the item has none.
 */
function widest(checks: readonly PermissionCheck[]): readonly PermissionCheck[] {
  const named = checks.filter(({ id }) => id !== null)
  const ofDefinitions = named.filter(({ resource }) => DEFINITIONS.has(resource))
  if (ofDefinitions.length > 0) return ofDefinitions
  return named.length > 0 ? named : checks
}

const DEFINITIONS: ReadonlySet<ResourceName> = new Set([
  'DECISION_DEFINITION',
  'DECISION_REQUIREMENTS_DEFINITION',
  'PROCESS_DEFINITION',
])

function missingOf({ resource, permission, id }: PermissionCheck, need: number): MissingPermission {
  return { permission, resource: RESOURCES[resource].name, resourceId: id ?? '*', need }
}
