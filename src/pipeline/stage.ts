import type { DenialReason, EngineRefusal, GatewayError } from '../errors.ts'

/** Where a request is. A refusal names its stage in the log and in the metrics. */
export type Stage =
  | 'canonical'
  | 'authenticate'
  | 'operation'
  | 'admit'
  | 'body'
  | 'permit'
  | 'rules'
  | 'forward'

/** What would have been refused. */
export interface Report {
  readonly stage: Stage
  /** Null: answered, with fewer rows. */
  readonly refusal: GatewayError | EngineRefusal | null
  readonly denialReason: DenialReason | null
}
