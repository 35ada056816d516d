import { Gauge, Registry, collectDefaultMetrics } from 'prom-client'
import { aggregatorOf, type Snapshot } from './aggregate.ts'
import { type CountIdempotent, createIdempotent } from './idempotent.ts'
import { createCounts, createDurations } from './series.ts'

/** Label values are names of the table, the configuration and the code: never ids, users, paths or messages. */
export interface Metrics {
  /** A request came, or is over, answered or not. */
  readonly inFlight: (change: 1 | -1) => void
  readonly requestDone: (request: RequestLabels, seconds: number) => void
  /** One try at one node. */
  readonly attempt: (attempt: AttemptLabels, seconds: number) => void
  readonly cache: (tier: string, result: string) => void
  readonly authentication: (engine: string, result: string) => void
  readonly idempotent: CountIdempotent
  readonly refusal: (refusal: RefusalLabels) => void
  readonly ejection: (ejection: EjectionLabels) => void
  /** A long poll is over for its client. */
  readonly pollEnded: (engine: string, reason: string) => void
  /** A task that an engine had locked for nobody. */
  readonly pollUnlocked: (engine: string, result: string) => void
  /** The configuration was read anew. */
  readonly reload: (result: 'applied' | 'refused') => void
  /** A worker has ended, and is started again. */
  readonly workerRestart: (reason: string) => void
  /** A value that is read at each scrape. */
  readonly gauge: (name: `gateway_${string}`, help: string, read: () => number) => void
  /** Values that are read at each scrape; null: there is none now. Of one name the last `read` counts: parts are replaced, their names stay. */
  readonly gauges: AddGauges
  readonly contentType: string
  readonly text: () => Promise<string>
  /** To be added up with those of other processes. */
  readonly snapshot: () => Promise<Snapshot>
}

export type AddGauges = <L extends string>(
  naming: { readonly name: `gateway_${string}`; readonly help: string; readonly labels: readonly L[] },
  read: () => readonly { readonly labels: Readonly<Record<L, string>>; readonly value: number | null }[],
) => void

export interface RequestLabels {
  /** operationId, or `''` for a request that matched none. */
  readonly operation: string
  readonly engine: string
  readonly method: string
  readonly status: number
}

export interface AttemptLabels {
  readonly engine: string
  readonly node: string
  /** Of the answer; 0 when none came. */
  readonly status: number
  readonly result: string
}

export interface EjectionLabels {
  readonly engine: string
  readonly node: string
  readonly reason: string
}

export interface RefusalLabels {
  readonly engine: string
  readonly operation: string
  readonly stage: string
  /** A `GW_…` code or the name of a rule. */
  readonly reason: string
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])

/** The names of OpenTelemetry's HTTP conventions in Prometheus form, beside the gateway's own. */
export function createMetrics({ version }: { readonly version: string }): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = createRequests(registry)
  const events = createEvents(registry)
  const gauge: Metrics['gauge'] = (name, help, read) => addGauge(registry, { name, help }, read)
  addInfo(registry, version)
  return {
    ...requests,
    ...events,
    ...createNodeEvents(registry),
    ...createPollEvents(registry),
    ...createIdempotent(registry),
    gauge,
    gauges: createAddGauges(registry),
    contentType: registry.contentType,
    text: () => registry.metrics(),
    snapshot: () => registry.getMetricsAsJSON(),
  }
}

function createRequests(registry: Registry): Pick<Metrics, 'inFlight' | 'requestDone'> {
  const durations = createDurations({
    name: 'http_server_request_duration_seconds',
    help: 'From the first byte of a request to the last byte of its answer.',
    labels: ['operation', 'engine', 'http_request_method', 'http_response_status_code'],
    registry,
  })
  let inFlight = 0
  addGauge(
    registry,
    { name: 'gateway_requests_in_flight', help: 'Requests that are under way.' },
    () => inFlight,
  )
  return {
    inFlight: (change) => {
      inFlight += change
    },
    requestDone: ({ operation, engine, method, status }, seconds) => {
      const labels = {
        operation,
        engine,
        http_request_method: METHODS.has(method) ? method : '_OTHER',
        http_response_status_code: codeOf(status),
      }
      durations(labels, seconds)
    },
  }
}

function createNodeEvents(registry: Registry): Pick<Metrics, 'attempt' | 'ejection'> {
  const durations = createDurations({
    name: 'http_client_request_duration_seconds',
    help: 'One try at one node, to the end of its answer; no status: no answer came.',
    labels: ['engine', 'node', 'http_response_status_code'],
    registry,
  })
  const counts = createCounts({
    name: 'gateway_upstream_attempts_total',
    help: 'Tries at nodes by how they ended.',
    labels: ['engine', 'node', 'result'],
    registry,
  })
  const ejection = createCounts({
    name: 'gateway_node_ejections_total',
    help: 'How often a node was taken to be ill, by what was seen of it.',
    labels: ['engine', 'node', 'reason'],
    registry,
  })
  return {
    ejection,
    attempt: ({ engine, node, status, result }, seconds) => {
      durations({ engine, node, http_response_status_code: status === 0 ? '' : codeOf(status) }, seconds)
      counts({ engine, node, result })
    },
  }
}

function createPollEvents(registry: Registry): Pick<Metrics, 'pollEnded' | 'pollUnlocked'> {
  const ended = createCounts({
    name: 'gateway_long_polls_ended_total',
    help: 'Long polls by how they ended for their clients.',
    labels: ['engine', 'reason'],
    registry,
  })
  const unlocked = createCounts({
    name: 'gateway_long_polls_unlocked_total',
    help: 'Tasks that were locked for a client that had gone, by whether they were given back.',
    labels: ['engine', 'result'],
    registry,
  })
  return {
    pollEnded: (engine, reason) => ended({ engine, reason }),
    pollUnlocked: (engine, result) => unlocked({ engine, result }),
  }
}

type EventName = 'cache' | 'authentication' | 'refusal' | 'reload' | 'workerRestart'

function createEvents(registry: Registry): Pick<Metrics, EventName> {
  const caches = createCounts({
    name: 'gateway_cache_requests_total',
    help: 'What the cache was asked and did, by tier.',
    labels: ['tier', 'result'],
    registry,
  })
  const authentications = createCounts({
    name: 'gateway_auth_total',
    help: 'Credentials by verdict.',
    labels: ['engine', 'result'],
    registry,
  })
  const refusal = createCounts({
    name: 'gateway_refusals_total',
    help: 'Requests that the gateway itself turned away, by stage.',
    labels: ['engine', 'operation', 'stage', 'reason'],
    registry,
  })
  const reloads = createCounts({
    name: 'gateway_config_reload_total',
    help: 'Readings of the configuration after the first, by whether it was put in force.',
    labels: ['result'],
    registry,
  })
  const restarts = createCounts({
    name: 'gateway_worker_restarts_total',
    help: 'Workers that have ended and were started again, by how they ended.',
    labels: ['reason'],
    registry,
  })
  return {
    workerRestart: (reason) => restarts({ reason }),
    reload: (result) => reloads({ result }),
    cache: (tier, result) => caches({ tier, result }),
    authentication: (engine, result) => authentications({ engine, result }),
    refusal,
  }
}

function addInfo(registry: Registry, version: string): void {
  const naming = { name: 'gateway_info', help: 'The version that runs; always 1.', labelNames: ['version'] }
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
      for (const { labels: of, value } of read())
        if (value !== null) gauge.labels(...labels.map((label) => of[label])).set(value)
    }
    registry.removeSingleMetric(name)
    const aggregator = aggregatorOf(name)
    const gauge: Gauge = new Gauge({ name, help, labelNames: labels, aggregator, registers: [], collect })
    registry.registerMetric(gauge)
  }
}

// Not every number is a status; a reply of 1000 kinds of them would be 1000 series.
function codeOf(status: number): string {
  return Number.isInteger(status) && status >= 100 && status <= 599 ? String(status) : '_OTHER'
}
