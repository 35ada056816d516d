import type { CountReading, DurationReading } from './series.ts'

/** The traffic of one process since it started, for all engines together. */
export interface Traffic {
  readonly inFlight: number
  readonly operations: readonly OperationTraffic[]
  readonly refusals: readonly RefusalCount[]
  readonly cache: readonly CacheCount[]
}

export interface OperationTraffic {
  /** The operationId, or `''` for requests that matched no operation. */
  readonly operation: string
  /** Number of responses with a status of 500 or above. */
  readonly failed: number
  /** Requests by duration, in the buckets of the metric. The last count is for durations above all bounds. */
  readonly durations: readonly number[]
}

export interface RefusalCount {
  readonly operation: string
  readonly stage: string
  readonly reason: string
  readonly count: number
}

export interface CacheCount {
  readonly tier: string
  readonly result: string
  readonly count: number
}

interface TrafficReadings {
  readonly inFlight: number
  /** By operation, engine, method and status. */
  readonly requests: Iterable<DurationReading>
  /** By engine, operation, stage and reason. */
  readonly refusals: readonly CountReading[]
  /** By tier and result. */
  readonly cache: readonly CountReading[]
}

export function trafficOf({ inFlight, requests, refusals, cache }: TrafficReadings): Traffic {
  return {
    inFlight,
    operations: addOperations(
      [...requests].map(({ labels, counts }) => ({
        operation: labels['operation'] ?? '',
        failed: labels['http_response_status_code']?.startsWith('5') === true ? sumOf(counts) : 0,
        durations: counts,
      })),
    ),
    refusals: addRefusals(
      refusals.map(({ values: [, operation = '', stage = '', reason = ''], count }) => ({
        operation,
        stage,
        reason,
        count,
      })),
    ),
    cache: addCache(cache.map(({ values: [tier = '', result = ''], count }) => ({ tier, result, count }))),
  }
}

/** Adds the traffic of several processes. */
export function addTraffic(all: readonly Traffic[]): Traffic {
  return {
    inFlight: sumOf(all.map(({ inFlight }) => inFlight)),
    operations: addOperations(all.flatMap(({ operations }) => operations)),
    refusals: addRefusals(all.flatMap(({ refusals }) => refusals)),
    cache: addCache(all.flatMap(({ cache }) => cache)),
  }
}

function addOperations(all: readonly OperationTraffic[]): readonly OperationTraffic[] {
  const sums = new Map<string, { operation: string; failed: number; durations: number[] }>()
  for (const { operation, failed, durations } of all) {
    const sum = sums.get(operation) ?? { operation, failed: 0, durations: durations.map(() => 0) }
    sum.failed += failed
    for (const [at, count] of durations.entries()) sum.durations[at] = (sum.durations[at] ?? 0) + count
    sums.set(operation, sum)
  }
  return [...sums.values()]
}

function addRefusals(all: readonly RefusalCount[]): readonly RefusalCount[] {
  return addCounts(all, ({ operation, stage, reason }) => `${operation} ${stage} ${reason}`)
}

function addCache(all: readonly CacheCount[]): readonly CacheCount[] {
  return addCounts(all, ({ tier, result }) => `${tier} ${result}`)
}

function addCounts<C extends { readonly count: number }>(
  all: readonly C[],
  keyOf: (count: C) => string,
): readonly C[] {
  const sums = new Map<string, C>()
  for (const one of all) {
    const key = keyOf(one)
    sums.set(key, { ...one, count: one.count + (sums.get(key)?.count ?? 0) })
  }
  return [...sums.values()]
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}
