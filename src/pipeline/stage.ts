import type { DenialReason, EngineRefusal, GatewayError, MissingPermission } from '../errors.ts'

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

/** Rows that are left out, or would be: some of them, or all. */
export function rowsReport(stage: Stage, rule: 'rows: none' | 'rows: some'): Report {
  return { stage, refusal: null, denialReason: { rule, missing: [] } }
}

/** The same with what was missing for the rows that are left out. */
export function withMissingRows(report: Report, missing: readonly MissingPermission[]): Report {
  const { refusal, denialReason } = report
  return refusal !== null || denialReason === null
    ? report
    : { ...report, denialReason: { ...denialReason, missing } }
}
