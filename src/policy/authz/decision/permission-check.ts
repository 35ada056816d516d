import type { ResourceName } from '../../../operations/permissions.ts'

/** The question whether the caller has `permission` on a resource. A null id is the engine's null, which checks `*`. */
export interface PermissionCheck {
  readonly resource: ResourceName
  readonly permission: string
  readonly id: string | null
  /** GRANT bits on exactly this id that are in no record. A secured engine would have written them for an assignee or candidate. */
  readonly implicitBits?: { readonly user: number; readonly groups: number } | undefined
}
