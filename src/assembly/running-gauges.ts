import type { Config, EngineConfig } from '../config/config.ts'
import { GAUGES, type GaugeSample } from '../gauges/queries.ts'
import { createPoller, type Poller } from '../gauges/poller.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Upstream } from '../proxy/upstream.ts'
import { createLeases, type Leases, OWN_LEASES } from '../redis/lease.ts'
import { monotonicMs, namespaceOf } from './build-cache.ts'
import { askerOf } from './engine-client.ts'
import type { DateFormat } from '../request/date-format.ts'
import type { Component } from './component.ts'

/** An engine for which gauges are configured. */
export interface GaugedEngine {
  readonly engine: string
  /** The upstream with the gateway's own credentials. */
  readonly own: Upstream
  readonly gauges: NonNullable<EngineConfig['gauges']>
  readonly dateFormat: DateFormat
}

interface GaugeDependencies {
  readonly config: Config
  readonly metrics: Metrics
  readonly log: Logger
}

/** Creates the polling of engine gauges. If replicas share a Redis, only one replica polls each engine. */
export function createEngineGauges(engines: readonly GaugedEngine[], shared: GaugeDependencies): Component {
  const leases = createEngineLeases(engines, shared.config)
  const pollers = new Map(engines.map((one) => [one.engine, createEnginePoller(one, leases, shared)]))
  return {
    start: () => {
      leases.start()
      for (const poller of pollers.values()) poller.start()
    },
    stop: () => {
      for (const poller of pollers.values()) poller.stop()
      leases.close()
    },
    activate: (metrics) => addGauges(metrics, pollers),
  }
}

function createEngineLeases(engines: readonly GaugedEngine[], config: Config): Leases {
  const { redis } = config.cache
  if (redis === null || engines.length === 0) return OWN_LEASES
  const names = engines.map(({ engine }) => engine)
  return createLeases({ redis, namespace: namespaceOf(config), names, now: monotonicMs })
}

function createEnginePoller(
  { engine, own, gauges: { every, topics, definitions }, dateFormat }: GaugedEngine,
  leases: Leases,
  { metrics, log }: GaugeDependencies,
): Poller {
  const failed = new Set<string>()
  return createPoller({
    ask: askerOf(own),
    reading: { topics, definitions, dateFormat, wallNow: Date.now },
    everyMs: every,
    isElected: () => leases.holds(engine),
    now: monotonicMs,
    onResponse: (query) => failed.delete(query),
    onFailure: (query, error) => {
      metrics.gaugeFailure({ engine, query })
      if (!failed.has(query)) log.warn({ engine, query, err: error }, 'gauges: query failed')
      failed.add(query)
    },
  })
}

function addGauges(metrics: Metrics, pollers: ReadonlyMap<string, Poller>): void {
  const byEngine = [...pollers]
  for (const { name, help, label } of GAUGES) {
    const labels = label === null ? ['engine'] : ['engine', label]
    const valueOf = (engine: string, sample: GaugeSample) => ({
      labels: { engine, ...(label !== null && { [label]: sample.label }) },
      value: sample.value,
    })
    metrics.gauges({ name, help, labels }, () =>
      byEngine.flatMap(([engine, poller]) =>
        poller.samples().flatMap((sample) => (sample.gauge === name ? [valueOf(engine, sample)] : [])),
      ),
    )
  }
  metrics.gauges(
    {
      name: 'gateway_engine_gauges_elected',
      help: 'Whether this process queries the engine for its gauges. With Redis, the value is 1 for one of all replicas.',
      labels: ['engine'],
    },
    () => byEngine.map(([engine, poller]) => ({ labels: { engine }, value: Number(poller.isElected()) })),
  )
  metrics.gauges(
    {
      name: 'gateway_engine_gauges_timestamp_seconds',
      help: 'Time at which all queries of this process for the gauges of the engine last succeeded.',
      labels: ['engine'],
    },
    () => byEngine.map(([engine, poller]) => ({ labels: { engine }, value: poller.lastReadSeconds() })),
  )
}
