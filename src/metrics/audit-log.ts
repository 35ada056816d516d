import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { messageOf } from '../errors.ts'
import type { MissingPermission } from '../errors.ts'
import { createLineWriter, destinationOf, type Logger, logStateOf } from '../log.ts'
import {
  type Destination,
  type DestinationState,
  openDestination,
  type StreamLines,
} from '../log-destination.ts'
import { type ChainedLine, createChain, lastLinesIn } from './audit-chain.ts'
import { bounded, roundedMs } from './access-log.ts'
import { type AuditEvent, eventRecordOf } from './audit-events.ts'
import {
  changeRecordOf,
  type MemberChange,
  type PermitReasonMembers,
  permitReasonRecordOf,
} from './audit-changes.ts'

/**
 * A decision about one request: a refusal, a write, in report mode a request that would have been refused, or a request whose query
 * string a rule changed.
 */
export interface Audit {
  readonly requestId: string
  /** The trace id of the request's span, or else of the caller's `traceparent`. */
  readonly traceId: string | null
  /** The address of the sender. */
  readonly client: string | null
  readonly user: string | null
  /** The user that a refused login or a password check named. The caller has not proved to be that user. */
  readonly attemptedUser: string | null
  /** How the caller has proved its identity; `none` if it has not. */
  readonly authenticated: string
  readonly engine: string | null
  /** The node's URL as configured, without credentials. Null if no single node has responded. */
  readonly node: string | null
  readonly operation: string | null
  readonly method: string
  /** The interface that received the request. Null for the API. */
  readonly via: 'mcp' | null
  /** The tool of the MCP endpoint. Null for other requests. */
  readonly tool: string | null
  /** The most that the caller may do. Null if they may do everything. */
  readonly ceiling: string | null
  /** Prefix and path of passthrough requests. */
  readonly prefix: string | null
  readonly path: string | null
  /** The values of the parameters in the operation's path, without invisible characters. */
  readonly params: Readonly<Record<string, string>>
  /** The ids of the entities that a successful write has created, without invisible characters. */
  readonly created: readonly string[]
  /** The change of permissions, users or memberships that the request contains. Null if it contains no change of them. */
  readonly change: MemberChange | null
  /** `reported`: allowed because the mode is `report`. `changed`: allowed with another value in the query string. */
  readonly decision: 'refused' | 'permitted' | 'reported' | 'changed'
  readonly stage: string | null
  /** The policy in force when the line is written, as the lines of the event `policy` name it. Null without an engine. */
  readonly policy: string | null
  /** A check of the operation, a `GW_…` code, or the name of a rule. */
  readonly rule: string | null
  readonly missing: readonly MissingPermission[]
  /**
   * The refusal that remains if everything in `missing` is granted: a `GW_…` code or a reason. Null if no other refusal is known.
   */
  readonly otherRefusal: string | null
  /** Why a permitted request is permitted. Empty unless the configuration requires the reasons. */
  readonly permittedBy: readonly PermitReasonMembers[]
  /** How the decision differs from that of an engine that decides itself. Null if they are not compared. */
  readonly comparison: 'equal' | 'stricter' | 'wider' | 'unknown' | null
  /** The status of the response as sent. */
  readonly status: number
  /** From the head of the request to the end of its response. */
  readonly durationMs: number
}

export type AuditRecord = Readonly<Record<keyof Audit | 'stream', unknown>>

/**
 * Maximum number of missing permissions in a line. A signal may lack a permission for each of thousands of waiting executions.
 */
export const MAX_MISSING = 100

/**
 * Returns the members of an audit line, always in the same order. The only content of a body is the ids for which permissions
 * were checked, and the record or membership that the request changes.
 */
export function auditRecordOf(audit: Audit): AuditRecord {
  const { missing } = audit
  return {
    stream: 'audit',
    requestId: bounded(audit.requestId),
    traceId: audit.traceId ?? undefined,
    client: bounded(audit.client),
    user: bounded(audit.user),
    attemptedUser: bounded(audit.attemptedUser),
    authenticated: audit.authenticated,
    engine: bounded(audit.engine),
    node: bounded(audit.node),
    operation: bounded(audit.operation),
    method: bounded(audit.method),
    via: audit.via ?? undefined,
    tool: bounded(audit.tool),
    ceiling: audit.ceiling ?? undefined,
    prefix: bounded(audit.prefix),
    path: bounded(audit.path),
    params: paramsRecordOf(audit.params),
    created: audit.created.length === 0 ? undefined : audit.created.map(bounded),
    change: audit.change === null ? undefined : changeRecordOf(audit.change),
    decision: audit.decision,
    stage: bounded(audit.stage),
    rule: bounded(audit.rule),
    missing: missing.length === 0 ? undefined : missing.slice(0, MAX_MISSING).map(missingPermissionRecordOf),
    otherRefusal: audit.otherRefusal === null ? undefined : bounded(audit.otherRefusal),
    permittedBy: audit.permittedBy.length === 0 ? undefined : audit.permittedBy.map(permitReasonRecordOf),
    comparison: audit.comparison ?? undefined,
    policy: audit.policy ?? undefined,
    status: audit.status,
    durationMs: roundedMs(audit.durationMs),
  }
}

/** Returns the parameters for an audit line. Their names come from the table. */
function paramsRecordOf(params: Audit['params']): Readonly<Record<string, unknown>> | undefined {
  const entries = Object.entries(params)
  if (entries.length === 0) return undefined
  return Object.fromEntries(entries.map(([name, value]) => [name, bounded(value)]))
}

function missingPermissionRecordOf({ permission, resource, resourceId, need }: MissingPermission) {
  return { permission, resource, resourceId: bounded(resourceId), need }
}

export interface AuditStream {
  readonly write: (audit: Audit) => void
  readonly writeEvent: (event: AuditEvent) => void
  /** Reopens the file if it was renamed or removed. Resolves when further lines go to the new file. */
  readonly reopen: () => Promise<void>
  /** Returns the last line of this stream, or of the previous one if this stream has no line yet. Null if there is none. */
  readonly last: () => ChainedLine | null
  /** Returns the lines that wait for the file or the log. Null if there is no audit. */
  readonly state: () => DestinationState | null
  /** Writes the end line and the pending lines, and closes the file. */
  readonly close: () => void
}

interface AuditOptions {
  /** The target: `stdout` for the log stream at any log level, `off` for no audit, otherwise a file. */
  readonly to: string
  readonly log: Logger
  /** The key of the digests. Null without a key. */
  readonly key: string | null
  /** Returns the last line of the stream of this process that this one replaces. Null if there is none. */
  readonly former: () => ChainedLine | null
  /** Called with the numbers of lines that could not be written to the file. By default, losses are ignored. */
  readonly onLoss?: (lines: StreamLines) => void
}

const NO_AUDIT: AuditStream = {
  write: () => undefined,
  writeEvent: () => undefined,
  reopen: async () => undefined,
  last: () => null,
  state: () => null,
  close: () => undefined,
}

/** Opens the audit stream. @throws Error if the file cannot be written */
export function openAudit({ to, log, key, former, onLoss = () => {} }: AuditOptions): AuditStream {
  if (to === 'off') return NO_AUDIT
  const file = to === 'stdout' ? null : openRotatedFile(to, log, onLoss)
  let formerLine = former
  const predecessors = () => {
    const named = predecessorsOf(file === null ? [] : lastLinesIn(endOf(to)), formerLine())
    // Without this, each stream would keep all former ones alive.
    formerLine = () => null
    return named
  }
  const chain = createChain({ key, predecessors })
  const writeLine = createLineWriter(file ?? destinationOf(log), chain.seal)
  const writeEvent: AuditStream['writeEvent'] = (event) => writeLine(eventRecordOf(event))
  return {
    write: (audit) => writeLine(auditRecordOf(audit)),
    writeEvent,
    last: () => chain.last() ?? formerLine(),
    reopen: async () => file?.reopen(),
    state: () => file?.state() ?? logStateOf(log),
    close: () => {
      if (chain.last() !== null) writeEvent({ event: 'end' })
      file?.end()
    },
  }
}

/** Maximum number of writers that a first line names. A gateway has fewer processes. */
const MAX_PREDECESSORS = 32

/** The line in the memory of this process may be later than the last one in the file. */
function predecessorsOf(inFile: readonly ChainedLine[], former: ChainedLine | null): readonly ChainedLine[] {
  const others = inFile.filter(({ writer }) => writer !== former?.writer)
  return [...others, ...(former === null ? [] : [former])].slice(-MAX_PREDECESSORS)
}

/** The end of a file that is searched for earlier writers. It has more than a hundred lines. */
const END_BYTES = 64 * 1024

/** Returns the end of a file. Empty if it cannot be read, or is no file. */
function endOf(path: string): string {
  let descriptor: number | null = null
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const { size } = fstatSync(descriptor)
    const bytes = Buffer.alloc(Math.min(size, END_BYTES))
    return bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, size - bytes.length))
  } catch {
    return ''
  } finally {
    if (descriptor !== null) closeSync(descriptor)
  }
}

/** A file that is opened again by its name after a rename. */
type RotatedFile = Pick<Destination, 'write' | 'state' | 'end'> & Pick<AuditStream, 'reopen'>

/** How often to check for a renamed file, for rotation without a signal. */
const LOOK_MS = 1000

/** Opens a file, and checks every second whether its name still refers to the open file. Log rotation need not send a signal. */
function openRotatedFile(path: string, log: Logger, onLoss: (lines: StreamLines) => void): RotatedFile {
  let current = openFile(path, log, onLoss)
  let isFailing = false
  let hasEnded = false

  async function reopen(): Promise<void> {
    const before = current
    const named = await stat(path).then(identityOf, () => null)
    if (hasEnded || current !== before || named === before.identity) return
    try {
      const next = openFile(path, log, onLoss)
      before.destination.end()
      current = next
      isFailing = false
      log.info({ path }, 'audit file was moved; opened a new file')
    } catch (error) {
      if (!isFailing)
        log.error({ path, reason: messageOf(error) }, 'audit file was moved; cannot open a new file')
      isFailing = true
    }
  }

  const looking = setInterval(() => void reopen(), LOOK_MS).unref()
  return {
    write: (line) => current.destination.write(line),
    state: () => current.destination.state(),
    reopen,
    end: () => {
      hasEnded = true
      clearInterval(looking)
      current.destination.end()
    },
  }
}

function identityOf({ dev, ino }: { readonly dev: number; readonly ino: number }): string {
  return `${dev}:${ino}`
}

/** Permissions of the file. Names and ids must not be readable for all users. */
const FILE_MODE = 0o640

/** Opens the file at once, because the stream would report a failure only later. @throws Error */
function openFile(path: string, log: Logger, onLoss: (lines: StreamLines) => void) {
  const descriptor = openSync(path, 'a', FILE_MODE)
  let isLosing = false
  const destination = openDestination({
    to: descriptor,
    name: path,
    losses: {
      onFailure: (reason) =>
        log.error({ path, reason }, 'audit lines cannot be written to the file; they wait'),
      onLoss: (lines) => {
        if (!isLosing) log.error({ path }, 'audit lines are lost; cannot write to the file')
        isLosing = true
        onLoss(lines)
      },
      onRecovery: ({ audit: lost }) => {
        isLosing = false
        log.info({ path, lost }, 'audit lines are written again')
      },
    },
  })
  return { destination, identity: identityOf(fstatSync(descriptor)) }
}
