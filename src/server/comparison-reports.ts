import type { Dependencies } from '../pipeline/dependencies.ts'
import { isRecord } from '../request/value.ts'
import { addComparisons, type ComparisonReport } from '../proxy/compare/comparison-report.ts'

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

/** Adds the reports of all processes. */
export function addReports(reports: readonly ComparisonReports[]): ComparisonReports {
  const names = new Set(reports.flatMap((report) => Object.keys(report)))
  return Object.fromEntries(
    [...names].map((name) => [name, addComparisons(reports.flatMap((report) => report[name] ?? []))]),
  )
}
