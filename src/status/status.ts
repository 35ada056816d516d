import type { Readiness } from '../metrics/admin-listener.ts'
import { BUCKETS } from '../metrics/series.ts'
import type { RefusalCount, Traffic } from '../metrics/traffic.ts'
import type { DatedProblem } from './problem-times.ts'
import { type Problem, problemsOf } from './problems.ts'
import { addStatuses, type ProcessStatus } from './process-status.ts'

/** The response of `GET /status.json`. */
export interface Status extends Omit<ProcessStatus, 'traffic'> {
  /** The name of the machine or pod. */
  readonly replica: string
  readonly version: string
  readonly nowMs: number
  readonly startedAtMs: number
  readonly workers: { readonly answering: number; readonly configured: number }
  readonly ready: boolean
  /** Outages first. */
  readonly problems: readonly DatedProblem[]
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

interface StatusOptions extends Pick<Status, 'replica' | 'version' | 'configuration' | 'mayAsk'> {
  /** The statuses of the processes that have responded. */
  readonly processes: readonly ProcessStatus[]
  readonly workers: number
  readonly readiness: Readiness
  /** Adds to each problem since when it exists. */
  readonly dateProblems: (problems: readonly Problem[]) => readonly DatedProblem[]
}

/** Maximum number of entries in a list. The page shows fewer refusals. */
const MAX_LINES = 100

export function statusOf(options: StatusOptions): Status {
  const { processes, readiness, configuration, replica, version, mayAsk, dateProblems } = options
  const { traffic, ...sum } = addStatuses(processes)
  const nowMs = Date.now()
  const workers = { answering: processes.length, configured: options.workers }
  return {
    replica,
    version,
    nowMs,
    startedAtMs: Math.round(nowMs - process.uptime() * 1000),
    workers,
    ready: readiness.ready,
    problems: dateProblems(problemsOf({ sum, workers, readiness, configuration })),
    configuration: { ...configuration, warnings: configuration.warnings.slice(0, MAX_LINES) },
    traffic: { ...traffic, refusals: mostOf(traffic.refusals), boundSeconds: BUCKETS },
    mayAsk,
    ...sum,
  }
}

/** Returns the most frequent entries of each kind, so that one kind does not displace the others. */
function mostOf(refusals: readonly RefusalCount[]): readonly RefusalCount[] {
  const sorted = refusals.toSorted((one, other) => other.count - one.count)
  return (['outage', 'refusal', 'report'] as const).flatMap((kind) =>
    sorted.filter((one) => one.kind === kind).slice(0, MAX_LINES),
  )
}
