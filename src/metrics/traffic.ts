import { CODES } from '../errors.ts'
import type { CountReading, DurationReading } from './series.ts'

/** The traffic of one process since it started. */
export interface Traffic {
  readonly inFlight: number
  /** For all engines together. */
  readonly operations: readonly OperationTraffic[]
  readonly engines: readonly EngineTraffic[]
  /** At most `MAX_REFUSALS`, the most frequent ones. */
  readonly refusals: readonly RefusalCount[]
  readonly cache: readonly CacheCount[]
}

interface TrafficCounts {
  /** Number of responses with a status of 500 or above. */
  readonly failed: number
  /** Number of requests that the gateway refused because of the request itself or of its caller. Outages do not count. */
  readonly refused: number
  /** Requests by duration, in the buckets of the metric. The last count is for durations above all bounds. */
  readonly durations: readonly number[]
}

export interface OperationTraffic extends TrafficCounts {
  /** The operationId, or `''` for requests that matched no operation. */
  readonly operation: string
}

export interface EngineTraffic extends TrafficCounts {
  /** The name of the engine, the prefix of an application, or `''` for requests that matched neither. */
  readonly engine: string
}

export interface RefusalCount {
  readonly engine: string
  readonly operation: string
  readonly stage: string
  readonly reason: string
  readonly count: number
  /** `outage`: the gateway or an engine could not process the request. `report`: the request was not refused. */
  readonly kind: 'refusal' | 'outage' | 'report'
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

/** Maximum number of refusals in a status. Each combination of engine, operation, stage and reason is one. */
const MAX_REFUSALS = 1000

export function trafficOf({ inFlight, requests, refusals, cache }: TrafficReadings): Traffic {
  const counted = refusals.map(
    ({ values: [engine = '', operation = '', stage = '', reason = ''], count }) => {
      const kind = kindOf(stage, reason)
      return { engine, operation, stage, reason, count, kind }
    },
  )
  const all = [...[...requests].map(requestCounts), ...counted.map(refusalCounts)]
  return {
    inFlight,
    operations: addTotals(all, 'operation'),
    engines: addTotals(all, 'engine'),
    refusals: addRefusals(counted),
    cache: addCache(cache.map(({ values: [tier = '', result = ''], count }) => ({ tier, result, count }))),
  }
}

/** A refusal with the status of the engine, also a 500, is no outage: the engine refuses some requests with it. */
function kindOf(stage: string, reason: string): RefusalCount['kind'] {
  if (stage.endsWith('-report')) return 'report'
  if (reason === 'too-many-connections') return 'outage'
  const [status] = Object.entries(CODES).find(([code]) => code === reason)?.[1] ?? [0]
  return status >= 500 && status !== NOT_IMPLEMENTED ? 'outage' : 'refusal'
}

const NOT_IMPLEMENTED = 501

type LabeledCounts = OperationTraffic & EngineTraffic

function requestCounts({ labels, counts }: DurationReading): LabeledCounts {
  const isFailure = labels['http_response_status_code']?.startsWith('5') === true
  return {
    engine: labels['engine'] ?? '',
    operation: labels['operation'] ?? '',
    failed: isFailure ? sumOf(counts) : 0,
    refused: 0,
    durations: counts,
  }
}

function refusalCounts({ engine, operation, count, kind }: RefusalCount): LabeledCounts {
  return { engine, operation, failed: 0, refused: kind === 'refusal' ? count : 0, durations: [] }
}

/** Adds the traffic of several processes. */
export function addTraffic(all: readonly Traffic[]): Traffic {
  return {
    inFlight: sumOf(all.map(({ inFlight }) => inFlight)),
    operations: addTotals(
      all.flatMap(({ operations }) => operations),
      'operation',
    ),
    engines: addTotals(
      all.flatMap(({ engines }) => engines),
      'engine',
    ),
    refusals: addRefusals(all.flatMap(({ refusals }) => refusals)),
    cache: addCache(all.flatMap(({ cache }) => cache)),
  }
}

/** Adds the counts with the same name of an operation or of an engine. */
function addTotals<Label extends 'operation' | 'engine'>(
  all: readonly (TrafficCounts & Readonly<Record<Label, string>>)[],
  label: Label,
): readonly (TrafficCounts & Readonly<Record<Label, string>>)[] {
  const sums = new Map<string, { failed: number; refused: number; durations: number[] }>()
  for (const one of all) {
    const sum = sums.get(one[label]) ?? { failed: 0, refused: 0, durations: [] }
    sum.failed += one.failed
    sum.refused += one.refused
    for (const [at, count] of one.durations.entries()) sum.durations[at] = (sum.durations[at] ?? 0) + count
    sums.set(one[label], sum)
  }
  return [...sums].map(([name, sum]) => ({ ...named(label, name), ...sum }))
}

function named<Label extends string>(label: Label, name: string): Readonly<Record<Label, string>>
function named(label: string, name: string): Readonly<Record<string, string>> {
  return { [label]: name }
}

function addRefusals(all: readonly RefusalCount[]): readonly RefusalCount[] {
  const sums = addCounts(
    all,
    ({ engine, operation, stage, reason }) => `${engine} ${operation} ${stage} ${reason}`,
  )
  return sums.toSorted((one, other) => other.count - one.count).slice(0, MAX_REFUSALS)
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
