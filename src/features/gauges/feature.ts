import type { Component } from '../../component.ts'
import type { EngineConfig } from '../../config/config.ts'
import type { Core, CoreEngine, Feature } from '../../feature.ts'
import type { Metrics } from '../../metrics/registry.ts'
import { createLeases, type Leases, OWN_LEASES } from '../../redis/lease.ts'
import { createPoller, type Poller } from './poller.ts'
import { GAUGES, type GaugeSample } from './queries.ts'

/** Numbers that an engine reports about itself, as metrics: incidents, jobs, external tasks, running instances. */
export const gaugesFeature: Feature = { name: 'gauges', provision: createEngineGauges }

/** An engine for which gauges are configured. */
interface GaugedEngine extends Pick<CoreEngine, 'name' | 'ask' | 'dateFormat'> {
  readonly settings: NonNullable<EngineConfig['gauges']>
}

/** Polls the gauges of engines. If replicas share a Redis, only one replica polls each engine. */
function createEngineGauges(core: Core): Component {
  const engines = core.engines.flatMap(({ name, ask, dateFormat, config: { gauges: settings } }) =>
    settings === null ? [] : [{ name, ask, dateFormat, settings }],
  )
  const leases = createEngineLeases(engines, core)
  const countFailure = core.metrics.counter({
    name: 'gateway_engine_gauges_failures_total',
    labels: ['engine', 'query'],
    help: 'Number of queries for the gauges of an engine that failed.',
  })
  const pollers = new Map(
    engines.map((engine) => [engine.name, createEnginePoller(engine, { core, leases, countFailure })]),
  )
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

function createEngineLeases(engines: readonly GaugedEngine[], { config, namespace, now }: Core): Leases {
  const { redis } = config.cache
  if (redis === null || engines.length === 0) return OWN_LEASES
  return createLeases({ redis, namespace, names: engines.map(({ name }) => name), now })
}

interface PollerDependencies {
  readonly core: Pick<Core, 'log' | 'now'>
  readonly leases: Leases
  readonly countFailure: (labels: { readonly engine: string; readonly query: string }) => void
}

function createEnginePoller(
  { name: engine, ask, settings: { every, topics, definitions }, dateFormat }: GaugedEngine,
  { core: { log, now }, leases, countFailure }: PollerDependencies,
): Poller {
  const failed = new Set<string>()
  return createPoller({
    ask,
    reading: { topics, definitions, dateFormat, wallNow: Date.now },
    everyMs: every,
    isElected: () => leases.holds(engine),
    now,
    onResponse: (query) => failed.delete(query),
    onFailure: (query, error) => {
      countFailure({ engine, query })
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
