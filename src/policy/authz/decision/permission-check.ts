import type { ResourceName } from '../../../operations/permissions.ts'

/** One question: may the caller do `permission` on this resource? Id null is the engine's null: it asks about `*`. */
export interface PermissionCheck {
  readonly resource: ResourceName
  readonly permission: string
  readonly id: string | null
  /** GRANT bits on exactly this id that no record holds: what a secured engine would have written for an assignee or candidate. */
  readonly implicitBits?: { readonly user: number; readonly groups: number } | undefined
}
