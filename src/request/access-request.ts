import type { Principal } from './principal.ts'

/** The facts for a decision: the caller and the parsed copy of the request. */
export interface AccessRequest {
  readonly principal: Principal
  readonly params: Readonly<Record<string, string>>
  /** Decoded. The first value of a repeated parameter counts, as for the engine. */
  readonly query: ReadonlyMap<string, string>
  readonly body: unknown
  /**
   * Throws if the decision is no longer needed. A decision that takes many requests to the engine calls it. Absent if the decision
   * is always needed.
   */
  readonly checkDeadline?: (() => void) | undefined
}
