import { closeSync, openSync } from 'node:fs'
import type { MissingPermission } from '../errors.ts'
import { createLineWriter, destinationOf, openDestination } from '../log.ts'
import type { Logger } from '../log.ts'
import { bounded } from './access-log.ts'

/** One decision about one request: a refusal, a write, or in report mode a request that would have been refused. */
export interface Audit {
  readonly requestId: string
  /** The address of the sender. */
  readonly client: string | null
  readonly user: string | null
  readonly engine: string | null
  readonly operation: string | null
  readonly method: string
  /** Of passthrough requests. */
  readonly prefix: string | null
  readonly path: string | null
  /** `reported`: allowed because the mode is `report`. */
  readonly decision: 'refused' | 'permitted' | 'reported'
  readonly stage: string | null
  /** A check of the row, a `GW_…` code, or the name of a rule. */
  readonly rule: string | null
  readonly missing: readonly MissingPermission[]
  /** Of the answer as sent. */
  readonly status: number
}

export type AuditRecord = Readonly<Record<keyof Audit | 'stream', unknown>>

/** A signal may lack a permission for each of thousands of waiting executions. */
const MAX_MISSING = 100

/** The members of an audit line, always in the same order. Nothing of a body but the ids for which permissions were checked. */
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
  /** Writes pending lines, and closes the file. */
  readonly close: () => void
}

interface AuditOptions {
  /** `stdout`: among the log lines, whatever the log level; `off`: nowhere; else a file. */
  readonly to: string
  readonly log: Logger
  /** Called with the number of lines that the file did not take. Default: none. */
  readonly onLoss?: (lines: number) => void
}

/** @throws Error if the file cannot be written */
export function openAudit({ to, log, onLoss = () => {} }: AuditOptions): AuditStream {
  if (to === 'off') return { write: () => undefined, close: () => undefined }
  const file = to === 'stdout' ? null : openFile(to, log, onLoss)
  const writeLine = createLineWriter(file ?? destinationOf(log))
  return { write: (audit) => writeLine(auditRecordOf(audit)), close: () => file?.end() }
}

/** Names and ids are not for everyone. */
const FILE_MODE = 0o640

function openFile(path: string, log: Logger, onLoss: (lines: number) => void) {
  // The stream itself would report a failure only later.
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
