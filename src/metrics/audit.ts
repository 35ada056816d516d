import type { Lack } from '../errors.ts'
import { bounded } from './observe.ts'

/** One decision about one request: a refusal, a write, or in report mode what would have been refused. */
export interface Audit {
  readonly requestId: string
  readonly user: string | null
  readonly engine: string | null
  readonly operation: string | null
  readonly method: string
  /** `reported`: let through, for the mode is `report`. */
  readonly decision: 'refused' | 'permitted' | 'reported'
  readonly stage: string | null
  /** A check of the row, a `GW_…` code, or the name of a rule. */
  readonly rule: string | null
  readonly missing: readonly Lack[]
  /** Of the answer as it went out. */
  readonly status: number
}

export type AuditRecord = Readonly<Record<keyof Audit | 'stream', unknown>>

/** A signal may lack a permission for each of thousands that wait for it. */
const MAX_LACKS = 100

/** The audit line's members, always in the same order: nothing of a body but the ids that permissions were asked for. */
export function auditRecordOf(audit: Audit): AuditRecord {
  const { missing } = audit
  return {
    stream: 'audit',
    requestId: bounded(audit.requestId),
    user: bounded(audit.user),
    engine: bounded(audit.engine),
    operation: bounded(audit.operation),
    method: bounded(audit.method),
    decision: audit.decision,
    stage: bounded(audit.stage),
    rule: bounded(audit.rule),
    missing: missing.length === 0 ? undefined : missing.slice(0, MAX_LACKS).map(lackRecordOf),
    status: audit.status,
  }
}

function lackRecordOf({ permission, resource, resourceId, need }: Lack) {
  return { permission, resource, resourceId: bounded(resourceId), need }
}
