import type { ResponseDifference } from './compare-responses.ts'

/** A difference that was confirmed. */
export interface ReportedDifference extends ResponseDifference {
  readonly operation: string
  /** Milliseconds since 1970. */
  readonly atMs: number
}

export interface ComparisonReport {
  /** The number of compared responses, by result. A known difference is counted as `known: KIND`. */
  readonly results: Readonly<Record<string, number>>
  /** The number of requests that are compared or wait for it. */
  readonly waiting: number
  /** The last confirmed differences, the newest last. */
  readonly differences: readonly ReportedDifference[]
}

/** Maximum number of differences in a report. */
export const MAX_DIFFERENCES = 100

/** Adds the reports of several processes about the same engine. */
export function addComparisons(reports: readonly ComparisonReport[]): ComparisonReport {
  const results: Record<string, number> = {}
  for (const { results: counts } of reports)
    for (const [result, count] of Object.entries(counts)) results[result] = (results[result] ?? 0) + count
  const waiting = reports.reduce((sum, one) => sum + one.waiting, 0)
  const differences = reports.flatMap((one) => one.differences).toSorted((a, b) => a.atMs - b.atMs)
  return { results, waiting, differences: differences.slice(-MAX_DIFFERENCES) }
}
