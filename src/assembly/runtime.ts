import type { RequestListener } from 'node:http'
import type { Cache } from '../cache/cache.ts'
import type { Config, EngineConfig } from '../config/config.ts'
import type { AdminOptions, Readiness } from '../metrics/admin-listener.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Logger } from '../log.ts'
import type { Parts } from '../pipeline/parts.ts'
import type { ProcessStatus } from '../status/process-status.ts'
import type { KeptAuthentication } from '../policy/authn/authenticate.ts'
import type { RememberedTokens } from '../policy/authn/token-memory.ts'
import type { Pressure } from '../policy/limits/pressure.ts'
import type { GcraLimiter, TakeRate } from '../policy/limits/rate.ts'
import type { KeptIssuers } from './token-issuers.ts'

/** A configuration, and all that was built from it: one is in force, and those before it end what they have begun. */
export interface Runtime {
  readonly runtimeParts: RuntimeParts
  readonly handle: RequestListener
  /** Whether a user may do something; as JSON. */
  readonly explain: AdminOptions['explain']
  /** Once the last answer is out. */
  readonly close: () => Promise<void>
}

export interface BuildOptions {
  readonly config: Config
  readonly log: Logger
  readonly version: string
  /** The set that this one replaces: its counts go on, and what it has cached is taken over where it stays right. */
  readonly before?: RuntimeParts
}

/** Builds what a configuration says, ready to serve. @throws ConfigError that names every problem of every file */
export type OpenRuntime = (options: BuildOptions) => Promise<Runtime>

/** Builds the same without what answers requests. @throws ConfigError that names every problem of every file */
export type BuildRuntimeParts = (options: BuildOptions) => Promise<RuntimeParts>

/** Everything that is built from one configuration. */
export interface RuntimeParts {
  readonly config: Config
  readonly parts: Parts
  /** What is allowed and dangerous in it, and in the files that it names. */
  readonly warnings: readonly string[]
  readonly cache: Cache
  readonly admission: Admission
  /** By engine, for the set that comes after. */
  readonly kept: ReadonlyMap<string, KeptUsers>
  /** The keys of token issuers, for the set that comes after. */
  readonly keptIssuers: KeptIssuers
  /** Reads and watches users and records from now on; resolves after the first reading, or after `withinMs`. */
  readonly start: RunningSources['start']
  readonly readiness: RunningSources['readiness']
  readonly missing: RunningSources['missing']
  readonly status: () => ProcessStatus
  /** Who is known at an engine. @throws GatewayError if users or records are unavailable now */
  readonly subjectsOf: (engine: string) => KnownSubjects
  /** What is elsewhere, and how to find out whether it answers. */
  readonly connections: () => readonly ConnectionCheck[]
  /** Is in force from now on: what it holds is its own, and its state is what scrapes show. */
  readonly enter: () => void
  /**
   * What passes through here is told to the set that takes its place; null: none does. It is asked for each time: a set that
   * held the next one would hold all that come after it.
   */
  readonly tell: (successor: (() => RuntimeParts) | null) => void
  /** Reads and hears no more of users and records, and ends what waits for work. What else is under way goes on with what was read. */
  readonly stop: RunningSources['close']
  /** Opens the audit file anew if it was renamed or removed. */
  readonly reopenAudit: () => Promise<void>
  /** Answers all that wait for work, and those that are still to come. */
  readonly endPolls: () => void
  /** Lets go of connections to engines and Redis, after what is under way. */
  readonly close: () => Promise<void>
}

/** The users and groups of an engine that can be named, in alphabetical order. */
export interface KnownSubjects {
  /** Whether `users` is all of them; false: those that records name. */
  readonly areListed: boolean
  readonly users: readonly string[]
  /** Those of these users, and those that records name. */
  readonly groups: readonly string[]
}

/** Something that answers elsewhere, or does not. */
export interface ConnectionCheck {
  /** `node of default`, `redis` */
  readonly what: string
  /** Without secrets. */
  readonly address: string
  /** Resolves with what it says of itself, one line. @throws Error that says why it is of no use */
  readonly run: (withinMs: number) => Promise<string>
}

/** The sources of all engines, as one thing that runs beside the requests. */
export interface RunningSources {
  /** Reads, watches and listens from now on; resolves when every engine has been asked once, or after `withinMs`. */
  readonly start: (withinMs?: number) => Promise<void>
  readonly close: () => void
  /** Ready from the first good reading of every engine's records on: later one engine that is away is no reason to leave the others. */
  readonly readiness: () => Readiness
  /** A line for each that decisions need and that was never read. */
  readonly missing: () => readonly string[]
  /** These are the sources whose state is read at scrapes from now on. */
  readonly show: (metrics: Metrics) => void
}

/** What is known of the users of one engine: nothing in it belongs to the configuration that has learnt it. */
export interface KeptUsers extends KeptAuthentication {
  readonly epoch: { current: object }
  readonly tokens: RememberedTokens
}

/** What decides whether there is room for a request. */
export interface Admission {
  /** One for the process. */
  readonly pressure: Pressure
  readonly takeRate: (name: string, engine: EngineConfig) => TakeRate | null
  /** Is in force from now on: its limits count, and it is its own to close. */
  readonly own: () => void
  readonly close: (hasSuccessor: boolean) => void
  /** For the set that comes after. */
  readonly inherited: InheritedAdmission
}

/** What goes on from one configuration to the next. */
export type InheritedAdmission = Pick<Admission, 'pressure'> & { readonly limiter: GcraLimiter }
