import type { Principal } from '../../../request/principal.ts'

/** The bits that a link grants to its user, and to its group, on the task of the link. */
export interface ImplicitBits {
  readonly user: number
  readonly groups: number
}

/** The ids of tasks that have, or had, links to the caller, and to the caller's groups. */
export interface ImplicitTasks {
  readonly user: ReadonlySet<string>
  readonly groups: ReadonlySet<string>
  /** The keys of the process definitions of these tasks, as far as they are known. */
  readonly keys?: ReadonlyMap<string, string>
  /** The bits that each of these links grants. */
  readonly bits: number
}

/** The grants on tasks that a secured engine writes itself, while the task exists. */
export interface ImplicitGrants {
  /** Returns the grants on one task. */
  readonly on: (taskId: string, principal: Principal) => Promise<ImplicitBits>
  /** Returns the open tasks to which the caller was ever linked. @throws GatewayError if they are too many */
  readonly tasks: (principal: Principal) => Promise<ImplicitTasks>
}
