import type { Principal } from './principal.ts'

/** What a decision may look at: the caller and the parsed copy of the request. */
export interface AccessRequest {
  readonly principal: Principal
  readonly params: Readonly<Record<string, string>>
  /** Decoded; of a repeated parameter the first, as the engine has it. */
  readonly query: ReadonlyMap<string, string>
  readonly body: unknown
  /** Throws once nobody waits for the decision any more: called where one takes many requests to the engine. Absent: somebody always does. */
  readonly stillAwaited?: (() => void) | undefined
}
