/** The caller, once proved: an engine's user with the groups and tenants that hold for this request. */
export interface Principal {
  readonly userId: string
  readonly groups: readonly string[]
  readonly tenants: readonly string[]
}
