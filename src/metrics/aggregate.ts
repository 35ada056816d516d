import { AggregatorRegistry, type Aggregator } from 'prom-client'

/** What one process has counted, in a form that can be sent. */
export type Snapshot = readonly SnapshotMetric[]

interface SnapshotMetric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly aggregator?: Aggregator
  readonly values: readonly unknown[]
}

/** What the gauges of several processes say together; one that is not named is a sum. */
const AGGREGATORS: Readonly<Record<string, Aggregator>> = {
  gateway_info: 'first',
  gateway_requests_in_flight: 'sum',
  gateway_long_polls: 'sum',
  gateway_upstream_queue: 'sum',
  gateway_node_concurrency_limit: 'sum',
  // One process that is badly off is not outvoted.
  gateway_upstream_queue_standing: 'max',
  gateway_pressure: 'max',
  gateway_node_healthy: 'min',
  gateway_source_up: 'min',
  gateway_source_age_seconds: 'max',
  gateway_config_last_reload_successful: 'min',
  gateway_config_applied_timestamp_seconds: 'max',
  gateway_workers: 'first',
}

export function aggregatorOf(gauge: string): Aggregator {
  return AGGREGATORS[gauge] ?? 'sum'
}

/** What the workers have counted, also those that have ended: a sum that fell would look like a restart of all. */
export interface Totals {
  readonly heard: (worker: number, snapshot: Snapshot) => void
  /** What it had counted when it was last heard of stays counted; its gauges go. */
  readonly ended: (worker: number) => void
  /** In Prometheus' form, together with what the asking process has counted itself. */
  readonly text: (own: Snapshot) => Promise<string>
}

export function createTotals(): Totals {
  const last = new Map<number, Snapshot>()
  let departed: Snapshot = []
  return {
    heard: (worker, snapshot) => last.set(worker, snapshot),
    ended: (worker) => {
      const snapshot = last.get(worker)
      last.delete(worker)
      if (snapshot !== undefined) departed = aggregated([departed, snapshot.filter(isCount)])
    },
    text: async (own) => {
      const all = [...last.values()].map((snapshot) => snapshot.filter(isOfEach))
      return registryOf([own.flatMap(asOwn), departed, ...all]).metrics()
    },
  }
}

/** Whether a value has the form of a snapshot: it comes from another process. */
export function isSnapshot(value: unknown): value is Snapshot {
  return Array.isArray(value) && value.every(isMetric)
}

function isMetric(value: unknown): value is SnapshotMetric {
  if (typeof value !== 'object' || value === null) return false
  return 'name' in value && typeof value.name === 'string' && 'values' in value && Array.isArray(value.values)
}

function isCount({ type }: SnapshotMetric): boolean {
  return type === 'counter' || type === 'histogram'
}

/** Quantiles do not add up. */
function isOfEach({ type, aggregator }: SnapshotMetric): boolean {
  return type !== 'summary' && aggregator !== 'omit'
}

/** The process that asks serves nobody: its event loop says nothing. When it was started is when all was. */
function asOwn(metric: SnapshotMetric): readonly SnapshotMetric[] {
  if (metric.type === 'summary' || metric.name.startsWith('nodejs_eventloop')) return []
  return [metric.aggregator === 'omit' ? { ...metric, aggregator: 'first' } : metric]
}

function registryOf(snapshots: readonly Snapshot[]) {
  return AggregatorRegistry.aggregate(snapshots.map((snapshot) => [...snapshot]))
}

function aggregated(snapshots: readonly Snapshot[]): Snapshot {
  // An aggregated metric is its own snapshot; the library's types do not say so.
  const metrics: readonly unknown[] = registryOf(snapshots).getMetricsAsArray()
  return metrics.filter(isMetric)
}
