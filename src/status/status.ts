import type { Readiness } from '../metrics/admin-listener.ts'
import { BUCKETS } from '../metrics/series.ts'
import type { RefusalCount, Traffic } from '../metrics/traffic.ts'
import { addStatuses, type ProcessStatus } from './process-status.ts'

/** What `GET /status.json` answers. */
export interface Status extends Omit<ProcessStatus, 'traffic'> {
  readonly version: string
  readonly nowMs: number
  readonly startedAtMs: number
  readonly workers: { readonly answering: number; readonly configured: number }
  readonly ready: boolean
  /** Checks of `/readyz?verbose` that are not ok. */
  readonly problems: readonly string[]
  readonly configuration: ConfigurationStatus
  readonly traffic: Traffic & {
    /** Upper bounds of the durations' buckets, in seconds; the last bucket has none. */
    readonly boundSeconds: readonly number[]
  }
  /** Whether a page may ask who may do what: with a token only. */
  readonly mayAsk: boolean
}

export interface ConfigurationStatus {
  readonly isApplied: boolean
  readonly appliedAtMs: number
  /** The last reading after the first; null: there was none. */
  readonly lastReload: LastReload | null
  readonly warnings: readonly string[]
}

export interface LastReload {
  readonly atMs: number
  readonly cause: string
  readonly result: 'applied' | 'refused'
  readonly changed: readonly string[]
  readonly problems: readonly string[]
}

interface StatusOptions extends Pick<Status, 'version' | 'configuration' | 'mayAsk'> {
  /** Those that have answered. */
  readonly processes: readonly ProcessStatus[]
  readonly workers: number
  readonly readiness: Readiness
}

/** A page shows fewer. */
const MAX_LINES = 100

export function statusOf(options: StatusOptions): Status {
  const { processes, workers, readiness, configuration, version, mayAsk } = options
  const { traffic, ...sum } = addStatuses(processes)
  const nowMs = Date.now()
  return {
    version,
    nowMs,
    startedAtMs: Math.round(nowMs - process.uptime() * 1000),
    workers: { answering: processes.length, configured: workers },
    ready: readiness.ready,
    problems: problemsOf(readiness),
    configuration: { ...configuration, warnings: configuration.warnings.slice(0, MAX_LINES) },
    traffic: { ...traffic, refusals: mostOf(traffic.refusals), boundSeconds: BUCKETS },
    mayAsk,
    ...sum,
  }
}

function problemsOf({ checks }: Readiness): readonly string[] {
  const problems = Object.entries(checks).flatMap(([name, word]) =>
    word === 'ok' ? [] : `${name.replace(/:$/, '')}: ${word}`,
  )
  return problems.slice(0, MAX_LINES)
}

function mostOf(refusals: readonly RefusalCount[]): readonly RefusalCount[] {
  return [...refusals].sort((one, other) => other.count - one.count).slice(0, MAX_LINES)
}
