import type { Dependencies } from '../pipeline/dependencies.ts'
import { isRecord } from '../request/value.ts'
import type { ComparisonReport } from '../proxy/compare/comparer.ts'

/** The reports of one process or of all processes, by engine. */
export type ComparisonReports = Readonly<Record<string, ComparisonReport>>

/** Returns whether a value from another process has the form of reports. */
export function isComparisonReports(value: unknown): value is ComparisonReports {
  if (!isRecord(value)) return false
  return Object.values(value).every(
    (report) =>
      isRecord(report) &&
      isRecord(report['results']) &&
      typeof report['waiting'] === 'number' &&
      Array.isArray(report['differences']),
  )
}

/** Returns the reports of one process. */
export function comparisonReportsOf(engines: Dependencies['engines']): ComparisonReports {
  return Object.fromEntries(
    [...engines.values()].flatMap(({ name, compared }) =>
      compared === null ? [] : [[name, compared.report]],
    ),
  )
}

/** Maximum number of differences of an engine in a report. */
const MAX_DIFFERENCES = 100

/** Adds the reports of all processes. */
export function addReports(reports: readonly ComparisonReports[]): ComparisonReports {
  const names = new Set(reports.flatMap((report) => Object.keys(report)))
  return Object.fromEntries(
    [...names].map((name) => {
      const own = reports.flatMap((report) => report[name] ?? [])
      const results: Record<string, number> = {}
      for (const { results: counts } of own)
        for (const [result, count] of Object.entries(counts)) results[result] = (results[result] ?? 0) + count
      const waiting = own.reduce((sum, one) => sum + one.waiting, 0)
      const differences = own.flatMap((one) => one.differences).toSorted((a, b) => a.atMs - b.atMs)
      return [name, { results, waiting, differences: differences.slice(-MAX_DIFFERENCES) }]
    }),
  )
}
