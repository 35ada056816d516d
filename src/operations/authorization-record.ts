import { isResource, RESOURCES, type ResourceName } from './permissions.ts'

/** The engine's numbers for the types of authorization records. */
export const GLOBAL = 0
export const GRANT = 1
export const REVOKE = 2

/** An authorization as the engine's REST API shows it. */
export interface StoredRecord {
  readonly id?: string | null | undefined
  readonly type: typeof GLOBAL | typeof GRANT | typeof REVOKE
  /** Permission names of the resource type. A REVOKE record lists the permissions that are revoked. */
  readonly permissions: readonly string[]
  readonly userId?: string | null | undefined
  readonly groupId?: string | null | undefined
  readonly resourceType: number
  /** Null if the record was created without a resource id, which the engine allows. Such a record applies to no id, not even to `*`. */
  readonly resourceId: string | null
}

/** An authorization record with a resource id. */
export interface AuthorizationRecord extends StoredRecord {
  readonly resourceId: string
}

const NAMES = new Map(
  Object.keys(RESOURCES)
    .filter(isResource)
    .map((resource): [number, ResourceName] => [RESOURCES[resource].id, resource]),
)

/** Returns the resource with the number of a record's `resourceType`, or null if the engine has no such resource. */
export function resourceOfType(resourceType: number): ResourceName | null {
  return NAMES.get(resourceType) ?? null
}

