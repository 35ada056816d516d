import { AggregatorRegistry, type Aggregator } from 'prom-client'

/** The metrics of one process, in a form that can be sent to another process. */
export type Snapshot = readonly SnapshotMetric[]

interface SnapshotMetric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly aggregator?: Aggregator
  readonly values: readonly unknown[]
}

/** How the gauges of several processes are combined. */
const AGGREGATORS: Readonly<Record<string, Aggregator>> = {
  gateway_info: 'first',
  gateway_mode: 'max',
  gateway_requests_in_flight: 'sum',
  gateway_long_polls: 'sum',
  gateway_websockets: 'sum',
  gateway_mcp_streams: 'sum',
  gateway_upstream_queue: 'sum',
  gateway_slow_requests: 'sum',
  gateway_node_concurrency_limit: 'sum',
  gateway_log_waiting_bytes: 'sum',
  // The worst process decides.
  gateway_log_waiting_seconds: 'max',
  // Each writer belongs to one process.
  gateway_audit_last_sequence: 'max',
  gateway_audit_last_digest: 'max',
  gateway_upstream_queue_standing: 'max',
  gateway_pressure: 'max',
  gateway_pressure_ratio: 'max',
  gateway_redis_up: 'min',
  gateway_redis_removes_keys: 'max',
  gateway_node_deployments_missing: 'max',
  gateway_node_healthy: 'min',
  gateway_group_refused: 'max',
  gateway_shift_returned: 'max',
  // Each process gets a part of the requests. The shares of the processes differ only until a change has reached all of them.
  gateway_shift_share: 'average',
  // A node is out of use if no process sends requests to it.
  gateway_node_drained: 'min',
  gateway_source_up: 'min',
  gateway_source_age_seconds: 'max',
  gateway_config_last_reload_successful: 'min',
  gateway_config_applied_timestamp_seconds: 'max',
  gateway_certificate_expiry_timestamp_seconds: 'min',
  gateway_tls_files_valid: 'min',
  gateway_workers: 'first',
  gateway_engine_gauges_elected: 'max',
  gateway_engine_gauges_timestamp_seconds: 'max',
}

/** @throws Error for a gauge of the gateway that is not listed, because a wrong value would hide an alert */
export function aggregatorOf(gauge: string): Aggregator {
  const aggregator = AGGREGATORS[gauge]
  if (aggregator !== undefined) return aggregator
  if (gauge.startsWith('gateway_'))
    throw new Error(`The gauge ${gauge} has no entry for combining the values of several processes`)
  // Numbers about an engine come from one process, or from two while another process takes over.
  return gauge.startsWith('camunda_') ? 'max' : 'sum'
}

/** The counts of all workers, including ended ones. A sum that decreased would look like a restart of all workers. */
export interface MetricTotals {
  readonly update: (worker: number, snapshot: Snapshot) => void
  /** Keeps the last counts of an ended worker, and drops its gauges. */
  readonly ended: (worker: number) => void
  /** Returns the metrics in Prometheus' text format, together with the calling process's own counts. */
  readonly text: (own: Snapshot) => Promise<string>
}

export function createTotals(): MetricTotals {
  const last = new Map<number, Snapshot>()
  let endedCounts: Snapshot = []
  return {
    update: (worker, snapshot) => last.set(worker, snapshot),
    ended: (worker) => {
      const snapshot = last.get(worker)
      last.delete(worker)
      if (snapshot !== undefined) endedCounts = aggregated([endedCounts, snapshot.filter(isCount)])
    },
    text: async (own) => {
      const all = [...last.values()].map((snapshot) => snapshot.filter(isPerProcess))
      return registryOf([own.flatMap(primaryMetrics), endedCounts, ...all]).metrics()
    },
  }
}

/** Returns whether a value has the form of a snapshot. The value comes from another process. */
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

/** Excludes summaries, because quantiles cannot be added. */
function isPerProcess({ type, aggregator }: SnapshotMetric): boolean {
  return type !== 'summary' && aggregator !== 'omit'
}

/**
 * Returns the metrics of the primary that are shown. It serves no requests, so its event loop is left out. Its start time is the
 * start time of the gateway.
 */
function primaryMetrics(metric: SnapshotMetric): readonly SnapshotMetric[] {
  if (metric.type === 'summary' || metric.name.startsWith('nodejs_eventloop')) return []
  return [metric.aggregator === 'omit' ? { ...metric, aggregator: 'first' } : metric]
}

function registryOf(snapshots: readonly Snapshot[]) {
  return AggregatorRegistry.aggregate(snapshots.map((snapshot) => [...snapshot]))
}

function aggregated(snapshots: readonly Snapshot[]): Snapshot {
  // An aggregated metric is its own snapshot, but the library's types do not say so.
  const metrics: readonly unknown[] = registryOf(snapshots).getMetricsAsArray()
  return metrics.filter(isMetric)
}
