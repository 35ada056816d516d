import type { Component } from './component.ts'
import type { Config, EngineConfig } from './config/config.ts'
import type { Logger } from './log.ts'
import type { Metrics } from './metrics/registry.ts'
import type { DateFormat } from './request/date-format.ts'
import type { AskEngine } from './request/engine-request.ts'

/**
 * An optional part of the gateway. All its code is in one folder of `src/features`. To delete a feature, delete its folder and its
 * lines in `features.ts` and `feature-settings.ts`.
 */
export interface Feature {
  /** The name of its folder. */
  readonly name: string
  /** Builds what the feature does under one configuration. If no engine uses the feature, the component does nothing. */
  readonly provision: (core: Core) => Component
}

/** The parts of a runtime that features use. */
export interface Core {
  readonly config: Config
  readonly engines: readonly CoreEngine[]
  readonly metrics: Metrics
  readonly log: Logger
  /** Differs for gateways in front of other engines, so that they can use the same Redis. */
  readonly namespace: string
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/** An engine, as features see it. */
export interface CoreEngine {
  readonly name: string
  readonly config: EngineConfig
  /** Sends requests with the gateway's own credentials. */
  readonly ask: AskEngine
  readonly dateFormat: DateFormat
}
