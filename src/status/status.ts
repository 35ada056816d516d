import type { Readiness } from '../metrics/admin-listener.ts'
import { BUCKETS } from '../metrics/series.ts'
import type { RefusalCount, Traffic } from '../metrics/traffic.ts'
import { addStatuses, type ProcessStatus } from './process-status.ts'

/** The response of `GET /status.json`. */
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
    /** Upper bounds of the duration buckets, in seconds; the last bucket has none. */
    readonly boundSeconds: readonly number[]
  }
  /** Whether the page may request decisions about users. This requires an admin token. */
  readonly mayAsk: boolean
}

export interface ConfigurationStatus {
  readonly isApplied: boolean
  readonly appliedAtMs: number
  /** The last reload after the start. Null if there was none. */
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
  /** The statuses of the processes that have responded. */
  readonly processes: readonly ProcessStatus[]
  readonly workers: number
  readonly readiness: Readiness
}

/** Maximum number of entries in a list. The page shows fewer refusals. */
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
