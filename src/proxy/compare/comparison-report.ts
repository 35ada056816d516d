import type { ResponseDifference } from './compare-responses.ts'

/** The differences at one member of the responses to one operation. The descriptions are those of the last one. */
export interface ReportedDifference extends ResponseDifference {
  readonly operation: string
  /** How often responses differed there. */
  readonly times: number
  /** False: it was found once, and the same responses were equal a moment later. */
  readonly isConfirmed: boolean
  /** When it was last found, in milliseconds since 1970. */
  readonly atMs: number
}

export interface ComparisonReport {
  /** The number of compared responses, by result. A known difference is counted as `known: KIND`. */
  readonly results: Readonly<Record<string, number>>
  /** The number of requests that are compared or wait for it. */
  readonly waiting: number
  /** The members that differed since the comparison began, the last one last. */
  readonly differences: readonly ReportedDifference[]
}

/** Maximum number of differing members that are remembered. */
export const MAX_DIFFERENCES = 100

/** Adds the reports of several processes about the same engine. */
export function addComparisons(reports: readonly ComparisonReport[]): ComparisonReport {
  const results: Record<string, number> = {}
  for (const { results: counts } of reports)
    for (const [result, count] of Object.entries(counts)) results[result] = (results[result] ?? 0) + count
  const waiting = reports.reduce((sum, one) => sum + one.waiting, 0)
  return { results, waiting, differences: addDifferences(reports.flatMap((one) => one.differences)) }
}

function addDifferences(found: readonly ReportedDifference[]): readonly ReportedDifference[] {
  const sums = new Map<string, ReportedDifference>()
  for (const one of found.toSorted((a, b) => a.atMs - b.atMs)) {
    const key = `${one.operation} ${memberOf(one.place)}`
    const before = sums.get(key)
    const times = one.times + (before?.times ?? 0)
    const isConfirmed = one.isConfirmed || times > 1
    sums.delete(key)
    sums.set(key, { ...one, times, isConfirmed })
  }
  return [...sums.values()].slice(-MAX_DIFFERENCES)
}

/**
 * Returns the name of the member at a place of a JSON body: `name` for `/0/name`, whatever the item of the list. All other places, such
 * as `status`, remain.
 */
export function memberOf(place: string): string {
  return place.startsWith('/') ? (place.split('/').findLast((name) => !/^\d*$/.test(name)) ?? '') : place
}
