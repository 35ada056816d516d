import {
  ownText,
  type DenialReason,
  type EngineRefusal,
  type GatewayError,
  type MissingPermission,
} from '../errors.ts'
import type { FindMissingItemPermissions } from '../lists/item-decision.ts'

/** The stage of a request. A refusal names its stage in the log and in the metrics. */
export type Stage =
  | 'canonical'
  | 'authenticate'
  | 'operation'
  | 'admit'
  | 'body'
  | 'permit'
  | 'rules'
  | 'forward'

/** A refusal that the mode `report` has not applied. */
export interface Report {
  readonly stage: Stage
  /** Null if the request would be permitted with fewer items. */
  readonly refusal: GatewayError | EngineRefusal | null
  readonly denialReason: DenialReason | null
  /** Finds the missing permissions for the items that would be hidden. Absent if they are found, or if no item would be hidden. */
  readonly findMissing?: FindMissingItemPermissions | undefined
  /** True if the items of the response were read to find the permissions that are missing for them. */
  readonly areItemsRead?: true
}

/** Returns the report of a response in which some or all items are hidden, or would be. */
export function itemsReport(stage: Stage, rule: 'items: none' | 'items: some'): Report {
  return { stage, refusal: null, denialReason: { rule: ownText(rule), missing: [] } }
}

/** Returns the report with the missing permissions for the hidden items. */
export function withMissingPermissions(report: Report, missing: readonly MissingPermission[]): Report {
  const { stage, refusal, denialReason } = report
  return refusal !== null || denialReason === null
    ? report
    : { stage, refusal, denialReason: { ...denialReason, missing }, areItemsRead: true }
}
