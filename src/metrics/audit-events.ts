import { isRecord } from '../request/value.ts'
import { bounded } from './access-log.ts'

/** Events of the audit stream that are not about one request of a client. */
export type AuditEvent = PolicyEvent | GatewayStartEvent | WriterEndEvent | ReloadEvent | AdminEvent

/** A policy is in force, from now on, in the process that writes the line. */
export interface PolicyEvent {
  readonly event: 'policy'
  readonly engine: string
  /** Identifies settings, users and records together. The lines of requests have it, too. */
  readonly policy: string
  /** Null for the first policy of the process. */
  readonly previous: string | null
  readonly cause: 'start' | 'reload' | 'users' | 'records'
  /** The digest of the sections `identity`, `authorization` and `validation` of the engine, without secrets. */
  readonly settings: string
  readonly users: PolicySourceState
  /** The groups and tenants of the users, if they are in a file of their own. */
  readonly memberships?: PolicySourceState
  readonly records: PolicySourceState
}

/** A source of users or records. The members after `digest` are set if this line reports a change of the source. */
export interface PolicySourceState {
  /** The file, or `engine`. */
  readonly source: string
  /** The SHA-256 of the content. Absent if the content is at the engine, or has not been read. */
  readonly digest?: string
  readonly before?: string
  readonly added?: number
  readonly removed?: number
  readonly changed?: number
  readonly examples?: readonly unknown[]
}

/** The gateway has started. */
export interface GatewayStartEvent {
  readonly event: 'start'
  readonly version: string
  /** The SHA-256 of the configuration file. Null without a file. */
  readonly configuration: string | null
}

/** The last line of a writer: its process stops, or has applied another configuration. */
export interface WriterEndEvent {
  readonly event: 'end'
}

/** The configuration was read again. */
export interface ReloadEvent {
  readonly event: 'reload'
  readonly cause: 'signal' | 'file' | 'request'
  readonly result: 'applied' | 'refused'
  /** The SHA-256 of the configuration file in force before the reload, and of the file that was read. */
  readonly before: string | null
  readonly after: string | null
  /** Paths of the settings that differ. */
  readonly changedKeys: readonly string[]
  /** The reasons why the file was refused. */
  readonly problems: readonly string[]
}

/** A request to the admin listener that changes something, or that was not permitted to. */
export interface AdminEvent {
  readonly event: 'admin'
  readonly client: string
  /** The name of the token, `admin.token` for the one without a name. Null without a right token. */
  readonly token: string | null
  /** The user name of Basic authentication. It is a claim: any name may be sent with a token. Null without Basic. */
  readonly administrator: string | null
  readonly method: string
  readonly path: string
  /** The JSON of a permitted request, for example the shares of a move. Null without a body. */
  readonly request: string | null
  readonly decision: 'permitted' | 'refused'
  readonly status: number
}

const MAX_LISTED = 100

/** Returns the members of an event's line. Lists are cut. */
export function eventRecordOf(event: AuditEvent): Readonly<Record<string, unknown>> {
  return { stream: 'audit', ...boundedMembersIn(event) }
}

/** Members without a value are left out of a line. */
function boundedMembersIn(event: AuditEvent): Readonly<Record<string, unknown>> {
  if (event.event === 'reload')
    return {
      ...event,
      before: event.before ?? undefined,
      after: event.after ?? undefined,
      changedKeys: listed(event.changedKeys),
      problems: listed(event.problems),
    }
  if (event.event === 'admin') {
    const { token, administrator, request, ...members } = event
    return {
      ...members,
      // The log replaces the value of a member with the name `token`.
      tokenName: token ?? undefined,
      administrator: bounded(administrator),
      request: bounded(request),
    }
  }
  if (event.event === 'end') return { ...event }
  if (event.event === 'start') return { ...event, configuration: event.configuration ?? undefined }
  return { ...event, previous: event.previous ?? undefined }
}

function listed(texts: readonly string[]): readonly (string | undefined)[] | undefined {
  return texts.length === 0 ? undefined : texts.slice(0, MAX_LISTED).map(bounded)
}

const EVENTS: ReadonlySet<unknown> = new Set<AuditEvent['event']>(['policy', 'start', 'reload', 'admin'])

/** Returns whether a value from another process of this gateway is an event. */
export function isAuditEvent(value: unknown): value is AuditEvent {
  return isRecord(value) && EVENTS.has(value['event'])
}
