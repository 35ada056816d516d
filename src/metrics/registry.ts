import { Gauge, Registry, collectDefaultMetrics } from 'prom-client'
import { aggregatorOf, type Snapshot } from './aggregate.ts'
import { type Counters, createCounters } from './counters.ts'
import { createCounts, createDurations, createReadableDurations } from './series.ts'
import { type Traffic, trafficOf } from './traffic.ts'

/** The metrics of one process. */
export interface Metrics extends Counters {
  /** Counts requests in flight: 1 for a request that arrived, -1 for one that is complete, with or without a response. */
  readonly inFlight: (change: 1 | -1) => void
  readonly requestDone: (request: RequestLabels, seconds: number) => void
  /** Counts one attempt at one node. */
  readonly attempt: (attempt: AttemptLabels, seconds: number) => void
  /** Counts a request that no longer waits for a free node. */
  readonly queued: (wait: { readonly engine: string; readonly result: string }, seconds: number) => void
  readonly slowQueued: Metrics['queued']
  /** Adds a gauge that is read at each scrape. */
  readonly gauge: (name: `gateway_${string}`, help: string, read: () => number) => void
  /**
   * Adds gauges that are read at each scrape. A null value is left out. If a name is added again, the last `read` is used: a
   * reload replaces the components, and the names stay.
   */
  readonly gauges: AddGauges
  /** Returns the function that counts events. If a name is added again, it continues: a counter lives as long as the process. */
  readonly counter: AddCounter
  /** Returns the traffic without the cost of a scrape. */
  readonly traffic: () => Traffic
  readonly contentType: string
  readonly text: () => Promise<string>
  /** Returns all metrics by name, including those without values. */
  readonly describe: () => readonly MetricDescription[]
  /** Returns the metrics in a form that can be combined with those of other processes. */
  readonly snapshot: () => Promise<Snapshot>
}

export interface MetricDescription {
  readonly name: string
  readonly help: string
  /** `counter`, `gauge` or `histogram`. */
  readonly type: string
  readonly labels: readonly string[]
}

export type AddGauges = <L extends string>(
  naming: {
    readonly name: `gateway_${string}` | `camunda_${string}`
    readonly help: string
    readonly labels: readonly L[]
  },
  read: () => readonly { readonly labels: Readonly<Record<L, string>>; readonly value: number | null }[],
) => void

export type AddCounter = <L extends string>(naming: {
  readonly name: `gateway_${string}`
  readonly help: string
  readonly labels: readonly L[]
}) => (labels: Readonly<Record<L, string>>, events?: number) => void

export interface RequestLabels {
  /** The operationId, or `''` for a request that matched no operation. */
  readonly operation: string
  readonly engine: string
  readonly method: string
  readonly status: number
}

export interface AttemptLabels {
  readonly engine: string
  readonly node: string
  /** The status of the response; 0 if no response was received. */
  readonly status: number
  readonly result: string
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])

/** Metrics of the library whose names `promtool check metrics` rejects. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_eventloop_utilization_histogram',
  'nodejs_eventloop_utilization_summary',
]

/**
 * Creates the metrics. Their names follow OpenTelemetry's HTTP conventions in Prometheus form, in addition to the gateway's own
 * names.
 */
export function createMetrics({ version }: { readonly version: string }): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  const gauge: Metrics['gauge'] = (name, help, read) => addGauge(registry, { name, help }, read)
  addInfo(registry, version)
  const { counters, read } = createCounters(registry)
  const { readRequests, ...requests } = createRequests(registry)
  return {
    ...counters,
    ...requests,
    attempt: createAttempts(registry),
    queued: createDurations({
      name: 'gateway_upstream_queue_wait_seconds',
      help: 'Time that requests waited for a free node, by the result of the wait.',
      labels: ['engine', 'result'],
      registry,
    }),
    slowQueued: createDurations({
      name: 'gateway_slow_queue_wait_seconds',
      help: 'Time that requests of slow operations waited for a place at a node, by the result of the wait.',
      labels: ['engine', 'result'],
      registry,
    }),
    gauge,
    gauges: createAddGauges(registry),
    counter: createAddCounter(registry),
    traffic: () => trafficOf({ ...readRequests(), refusals: read.refusals(), cache: read.cache() }),
    contentType: registry.contentType,
    text: () => registry.metrics(),
    describe: () => descriptionsOf(registry),
    snapshot: () => registry.getMetricsAsJSON(),
  }
}

function descriptionsOf(registry: Registry): readonly MetricDescription[] {
  return registry
    .getMetricsAsArray()
    .map((metric) => {
      // The library's metrics have this member, but its types do not declare it.
      const names = 'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames : []
      return { name: metric.name, help: metric.help, type: metric.type, labels: names.map(String) }
    })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

function createRequests(registry: Registry) {
  const durations = createReadableDurations({
    name: 'http_server_request_duration_seconds',
    help: 'Time from the first byte of a request to the last byte of its response.',
    labels: ['operation', 'engine', 'http_request_method', 'http_response_status_code'],
    registry,
  })
  let inFlight = 0
  addGauge(
    registry,
    { name: 'gateway_requests_in_flight', help: 'Number of requests in flight.' },
    () => inFlight,
  )
  return {
    inFlight: (change: 1 | -1): void => {
      inFlight += change
    },
    requestDone: ({ operation, engine, method, status }: RequestLabels, seconds: number): void => {
      const labels = {
        operation,
        engine,
        http_request_method: METHODS.has(method) ? method : '_OTHER',
        http_response_status_code: codeOf(status),
      }
      durations.observe(labels, seconds)
    },
    readRequests: () => ({ inFlight, requests: durations.read() }),
  }
}

function createAttempts(registry: Registry): Metrics['attempt'] {
  const durations = createDurations({
    name: 'http_client_request_duration_seconds',
    help: 'Time of one attempt at one node, until the end of the response. The status is empty if there was no response.',
    labels: ['engine', 'node', 'http_response_status_code'],
    registry,
  })
  const counts = createCounts({
    name: 'gateway_upstream_attempts_total',
    help: 'Number of attempts at nodes, by result.',
    labels: ['engine', 'node', 'result'],
    registry,
  })
  return ({ engine, node, status, result }, seconds) => {
    durations({ engine, node, http_response_status_code: status === 0 ? '' : codeOf(status) }, seconds)
    counts({ engine, node, result })
  }
}

function addInfo(registry: Registry, version: string): void {
  const naming = {
    name: 'gateway_info',
    help: 'The running version. The value is always 1.',
    labelNames: ['version'],
  }
  const aggregator = aggregatorOf(naming.name)
  new Gauge({ ...naming, aggregator, registers: [registry] }).set({ version }, 1)
}

function addGauge(
  registry: Registry,
  naming: { readonly name: string; readonly help: string },
  read: () => number,
): void {
  const aggregator = aggregatorOf(naming.name)
  const gauge: Gauge = new Gauge({ ...naming, aggregator, registers: [], collect: () => gauge.set(read()) })
  registry.registerMetric(gauge)
}

function createAddGauges(registry: Registry): AddGauges {
  return function addGauges({ name, help, labels }, read) {
    const collect = () => {
      gauge.reset()
      // Reset gives a gauge without labels the value 0.
      if (labels.length === 0) gauge.remove()
      for (const { labels: of, value } of read())
        if (value !== null) gauge.labels(...labels.map((label) => of[label])).set(value)
    }
    registry.removeSingleMetric(name)
    const aggregator = aggregatorOf(name)
    const gauge: Gauge = new Gauge({ name, help, labelNames: labels, aggregator, registers: [], collect })
    registry.registerMetric(gauge)
  }
}

function createAddCounter(registry: Registry): AddCounter {
  const counters = new Map<string, ReturnType<AddCounter>>()
  return function addCounter(naming) {
    const counter = counters.get(naming.name) ?? createCounts({ ...naming, registry })
    counters.set(naming.name, counter)
    return counter
  }
}

// A number outside this range is not a status. An engine that returned 1000 different numbers would create 1000 series.
function codeOf(status: number): string {
  return Number.isInteger(status) && status >= 100 && status <= 599 ? String(status) : '_OTHER'
}
