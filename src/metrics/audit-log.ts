import { closeSync, openSync } from 'node:fs'
import type { MissingPermission } from '../errors.ts'
import { createLineWriter, destinationOf, openDestination } from '../log.ts'
import type { Logger } from '../log.ts'
import { bounded } from './access-log.ts'

/** One decision about one request: a refusal, a write, or in report mode what would have been refused. */
export interface Audit {
  readonly requestId: string
  /** The address of who sent the request. */
  readonly client: string | null
  readonly user: string | null
  readonly engine: string | null
  readonly operation: string | null
  readonly method: string
  /** Of what passes through. */
  readonly prefix: string | null
  readonly path: string | null
  /** `reported`: let through, for the mode is `report`. */
  readonly decision: 'refused' | 'permitted' | 'reported'
  readonly stage: string | null
  /** A check of the row, a `GW_…` code, or the name of a rule. */
  readonly rule: string | null
  readonly missing: readonly MissingPermission[]
  /** Of the answer as it went out. */
  readonly status: number
}

export type AuditRecord = Readonly<Record<keyof Audit | 'stream', unknown>>

/** A signal may lack a permission for each of thousands that wait for it. */
const MAX_MISSING = 100

/** The audit line's members, always in the same order: nothing of a body but the ids that permissions were asked for. */
export function auditRecordOf(audit: Audit): AuditRecord {
  const { missing } = audit
  return {
    stream: 'audit',
    requestId: bounded(audit.requestId),
    client: bounded(audit.client),
    user: bounded(audit.user),
    engine: bounded(audit.engine),
    operation: bounded(audit.operation),
    method: bounded(audit.method),
    prefix: bounded(audit.prefix),
    path: bounded(audit.path),
    decision: audit.decision,
    stage: bounded(audit.stage),
    rule: bounded(audit.rule),
    missing: missing.length === 0 ? undefined : missing.slice(0, MAX_MISSING).map(missingPermissionRecordOf),
    status: audit.status,
  }
}

function missingPermissionRecordOf({ permission, resource, resourceId, need }: MissingPermission) {
  return { permission, resource, resourceId: bounded(resourceId), need }
}

export interface AuditStream {
  readonly write: (audit: Audit) => void
  /** Writes what waits, and lets go of the file. */
  readonly close: () => void
}

interface AuditOptions {
  /** `stdout`: among the logger's lines, whatever its level; `off`: nowhere; else a file. */
  readonly to: string
  readonly log: Logger
  /** Lines that the file did not take. Default: nobody hears. */
  readonly onLoss?: (lines: number) => void
}

/** @throws Error when the file cannot be written */
export function openAudit({ to, log, onLoss = () => {} }: AuditOptions): AuditStream {
  if (to === 'off') return { write: () => undefined, close: () => undefined }
  const file = to === 'stdout' ? null : openFile(to, log, onLoss)
  const writeLine = createLineWriter(file ?? destinationOf(log))
  return { write: (audit) => writeLine(auditRecordOf(audit)), close: () => file?.end() }
}

/** Names and ids are nobody else's business. */
const FILE_MODE = 0o640

function openFile(path: string, log: Logger, onLoss: (lines: number) => void) {
  // The stream itself would say only later that it cannot.
  closeSync(openSync(path, 'a', FILE_MODE))
  let isLosing = false
  return openDestination({
    to: path,
    losses: {
      onLoss: (lines) => {
        if (!isLosing) log.error({ path }, 'audit lines are lost: the file takes none')
        isLosing = true
        onLoss(lines)
      },
      onRecovery: (lost) => {
        isLosing = false
        log.info({ path, lost }, 'audit lines are written again')
      },
    },
  })
}
