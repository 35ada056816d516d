import type { ResourceName } from '../../../operations/permissions.ts'

/** The question whether the caller has `permission` on a resource. A null id is the engine's null, which checks `*`. */
export interface PermissionCheck {
  readonly resource: ResourceName
  readonly permission: string
  readonly id: string | null
  /**
   * GRANT bits on exactly this id that a secured engine would have written in a record. On a task, the engine adds them to a record of
   * the same user or group. On everything else, such a record is the one that the engine has written, as it was changed later, so the
   * bits do not count.
   */
  readonly implicitBits?: { readonly user: number; readonly groups: number } | undefined
}
