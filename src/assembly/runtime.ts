import type { Shift } from '../proxy/nodes/shift.ts'
import type { RequestListener } from 'node:http'
import type { Config, EngineConfig } from '../config/config.ts'
import type { JsonResponse, Readiness } from '../metrics/admin-listener.ts'
import type { Logger } from '../log.ts'
import type { AskEngine } from '../request/engine-request.ts'
import type { Upgrades } from '../request/upgrades.ts'
import type { Dependencies } from '../pipeline/dependencies.ts'
import type { ProcessStatus } from '../status/process-status.ts'
import type { AuthenticationHandoverState } from '../policy/authn/authenticate.ts'
import type { TokenMemoryState } from '../policy/authn/token-memory.ts'
import type { Pressure } from '../policy/limits/pressure.ts'
import type { GcraLimiter, TakeRate } from '../policy/limits/rate.ts'
import type { ChainedLine } from '../metrics/audit-chain.ts'
import type { AuditEvent } from '../metrics/audit-events.ts'
import type { MoveFinding } from '../move/move-finding.ts'
import type { EntityFacts } from '../policy/authz/entities/entity-facts.ts'
import type { Feature } from '../feature.ts'
import type { Component } from '../component.ts'
import type { PolicyLedger } from './policy-ledger.ts'
import type { DrainedNode } from './running-nodes.ts'
import type { IssuerKeyStates } from './token-issuers.ts'

/** A configuration and everything that was built from it. One runtime is in force; replaced runtimes finish their requests. */
export interface Runtime {
  readonly dependencies: RuntimeDependencies
  readonly handle: RequestListener
  readonly upgrades: Upgrades
  /** Answers a question of `explain` in JSON: whether a user may send a request, and why. */
  readonly explain: (question: unknown) => Promise<JsonResponse>
  /** Closes the runtime after the last response has ended. */
  readonly close: () => Promise<void>
}

export interface BuildOptions {
  readonly config: Config
  readonly log: Logger
  readonly version: string
  /** The state of the runtime that this one replaces. Its metrics continue, and cached entries that are still valid are reused. */
  readonly before?: HandoverState | undefined
  /**
   * Returns the runtime that replaces this one. Returns null before a replacement. It is informed of changes made by requests of this runtime.
   * This is a function because a runtime that held a reference to its successor would keep all later ones alive.
   */
  readonly successor?: () => RuntimeDependencies | null
  /** Default: all features. */
  readonly features?: readonly Feature[]
  /** Entities that decisions use instead of those of an engine. Only for commands that test policies. */
  readonly facts?: EntityFacts | null
}

/** The state that a runtime receives from the previous one, and the state that the next one has received. */
export interface Handover<Member extends keyof HandoverState> {
  /** Null for the first runtime. */
  readonly before: Pick<HandoverState, Member> | null
  /** Returns null if there is no next runtime. */
  readonly successor: () => Pick<HandoverState, Member> | null
}

/** Builds a runtime from a configuration, ready to serve. @throws ConfigError that names every problem of every file */
export type OpenRuntime = (options: BuildOptions) => Promise<Runtime>

/** Builds the same without the request handlers. @throws ConfigError that names every problem of every file */
export type BuildRuntimeDependencies = (options: BuildOptions) => Promise<RuntimeDependencies>

/**
 * Everything that is built from one configuration. A runtime is started, then activated. When it has been replaced, or when the
 * process ends, its polls end, it stops, and it closes.
 */
export interface RuntimeDependencies {
  /** The dependencies of requests. */
  readonly gateway: Dependencies
  /** The state that the next runtime may take over. */
  readonly handover: HandoverState
  readonly questions: RuntimeQuestions
  /** Starts to read and watch users and records. Resolves after the first read, or after `withinMs`. */
  readonly start: (withinMs?: number) => Promise<void>
  /** Puts this runtime in force: from now on, it closes its own resources, and metrics show its state. */
  readonly activate: () => void
  /**
   * Responds to all long polls that wait for work, and to those that arrive later. Closes all WebSockets in the first half of the
   * drain timeout, and refuses new ones. Sources are still read.
   */
  readonly endPolls: () => void
  /** Drains these nodes of engines, and uses all others that the configuration does not drain. */
  readonly drainNodes: (drained: readonly DrainedNode[]) => void
  /**
   * Stops reading and listening for changes of users and records, and ends waiting long polls. Requests in flight continue with
   * the last state that was read.
   */
  readonly stop: () => void
  /** Stops, and closes the connections to engines and Redis after the requests in flight, except those that the successor uses. */
  readonly close: () => Promise<void>
}

/** The state that continues from one configuration to the next where it remains valid. */
export interface HandoverState
  extends Pick<Dependencies, 'config' | 'metrics' | 'cache' | 'idempotencyStore' | 'traces'> {
  readonly admission: AdmissionHandoverState
  /** State about the users of each engine, by engine name. */
  readonly users: ReadonlyMap<string, UserHandoverState>
  /** The shift of each engine whose nodes have groups. */
  readonly shifts: ReadonlyMap<string, Shift | null>
  readonly issuerKeys: IssuerKeyStates
  readonly ledger: PolicyLedger
  /** Returns the last line of the audit stream. Null if there is none. */
  readonly lastAuditLine: () => ChainedLine | null
}

/** The questions that the admin listener and the commands send to a runtime. */
export interface RuntimeQuestions {
  /** Warnings about dangerous but allowed settings, in the configuration and in the files that it names. */
  readonly warnings: readonly string[]
  readonly readiness: () => Readiness
  readonly missing: RunningSources['missing']
  readonly status: () => ProcessStatus
  /** Returns the users and groups that are known at an engine. @throws GatewayError if users or records are unavailable now */
  readonly subjectsOf: (engine: string) => KnownSubjects
  /** Returns a function that sends requests of a command to an engine, with the gateway's own credentials. Null if the engine does not exist. */
  readonly askerOf: (engine: string) => AskEngine | null
  /** Returns the checks for remote systems. */
  readonly connections: () => readonly ConnectionCheck[]
  /** Returns a check for each engine whose nodes have groups: what must be changed before requests move to the other group. */
  readonly moveChecks: () => readonly MoveCheck[]
  /** Reopens the audit file if it was renamed or removed. */
  readonly reopenAudit: () => Promise<void>
  readonly audit: (event: AuditEvent) => void
}

/** The users and groups of an engine that can be named, in alphabetical order. */
export interface KnownSubjects {
  /** Whether `users` is the complete list. If false, it has only the users that records name. */
  readonly areListed: boolean
  readonly users: readonly string[]
  /** The groups of these users and the groups that records name. */
  readonly groups: readonly string[]
}

export interface ConnectionCheck {
  /** `node of default`, `redis` */
  readonly what: string
  /** The address without secrets. */
  readonly address: string
  /** Resolves with one line that describes the remote system. @throws Error that says why it cannot be used */
  readonly run: (withinMs: number) => Promise<string>
}

/** A check of an engine before requests move from one group of its nodes to another. */
export interface MoveCheck {
  readonly engine: string
  /** Never rejects. Findings about the engine itself are in the result. */
  readonly run: (options: {
    readonly withinMs: number
    readonly onProgress: (what: string, count: number) => void
  }) => Promise<readonly MoveFinding[]>
}

/**
 * The sources of all engines, with a common lifecycle. They are ready once the records of every engine have been read. If one engine
 * becomes unavailable later, the gateway stays ready for the others.
 */
export interface RunningSources extends Component {
  /** Returns a line for each source that decisions need and that has never been read. */
  readonly missing: () => readonly string[]
}

/** State about the users of one engine. It holds no reference to the configuration under which it was collected. */
export interface UserHandoverState extends AuthenticationHandoverState {
  readonly version: { current: object }
  readonly tokens: TokenMemoryState
}

/** Decides whether there is capacity for a request. */
export interface Admission extends Component {
  /** One instance for the whole process. */
  readonly pressure: Pressure
  readonly takeRate: (name: string, engine: EngineConfig) => TakeRate | null
  /** The state that the next runtime takes over. */
  readonly handoverState: AdmissionHandoverState
}

/** The state that continues from one configuration to the next. */
export type AdmissionHandoverState = Pick<Admission, 'pressure'> & { readonly limiter: GcraLimiter }
