import { RESOURCES, type ResourceName } from './permissions.ts'

/** The engine's numbers for the kinds of records. */
export const GLOBAL = 0
export const GRANT = 1
export const REVOKE = 2

/** An authorization as the engine's REST API shows it. */
export interface StoredRecord {
  readonly id?: string | null
  readonly type: typeof GLOBAL | typeof GRANT | typeof REVOKE
  /** Names within the resource type; on a REVOKE record the names that are taken away. */
  readonly permissions: readonly string[]
  readonly userId?: string | null
  readonly groupId?: string | null
  readonly resourceType: number
  /** Null: the engine stores a record that was made without one; it is about no id, `*` included. */
  readonly resourceId: string | null
}

/** One that is about something. */
export interface AuthorizationRecord extends StoredRecord {
  readonly resourceId: string
}

const NAMES = new Map(
  Object.keys(RESOURCES)
    .filter(isResource)
    .map((resource): [number, ResourceName] => [RESOURCES[resource].id, resource]),
)

/** The resource of a record's `resourceType`; null for one the engine does not have. */
export function resourceOfType(resourceType: number): ResourceName | null {
  return NAMES.get(resourceType) ?? null
}

function isResource(name: string): name is ResourceName {
  return Object.hasOwn(RESOURCES, name)
}
