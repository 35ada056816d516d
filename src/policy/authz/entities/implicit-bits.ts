import type { Principal } from '../../../request/principal.ts'

/** Bits that a link gives to its user, and to its group: on the task it belongs to. */
export interface ImplicitBits {
  readonly user: number
  readonly groups: number
}

/** Ids of tasks that links of the caller, and of the caller's groups, belong to. */
export interface ImplicitTasks {
  readonly user: ReadonlySet<string>
  readonly groups: ReadonlySet<string>
  /** Bits that each of these links gives. */
  readonly bits: number
}

/** The grants on tasks that a secured engine writes by itself, for as long as the task lives. */
export interface ImplicitGrants {
  /** On one task. */
  readonly on: (taskId: string, principal: Principal) => Promise<ImplicitBits>
  /** All tasks the caller was ever linked to, live or not. @throws GatewayError when there are more than can be asked for */
  readonly tasks: (principal: Principal) => Promise<ImplicitTasks>
}
