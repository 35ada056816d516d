import type { Metrics } from '../metrics/registry.ts'
import type { EngineParts } from '../pipeline/parts.ts'
import type { RunningSources } from './runtime.ts'

/** Adds the modes in force to the readiness checks and to the metrics. */
export function withModes(
  sources: RunningSources,
  engines: readonly Pick<EngineParts, 'name' | 'authorization' | 'validation'>[],
): RunningSources {
  const modes = engines.flatMap(({ name: engine, authorization, validation }) => [
    { engine, section: 'authorization', mode: authorization },
    { engine, section: 'validation', mode: validation },
  ])
  return {
    ...sources,
    // A gateway that refuses nothing is still ready.
    readiness: () => {
      const { ready, checks } = sources.readiness()
      const words = modes.map(({ engine, section, mode }) => [`${section} of ${engine}:`, wordOf(mode)])
      return { ready, checks: { ...checks, ...Object.fromEntries(words) } }
    },
    show: (metrics) => {
      sources.show(metrics)
      addGauge(metrics, modes)
    },
  }
}

function wordOf(mode: EngineParts['authorization']): string {
  return mode === 'report' || mode === 'off' ? `mode is ${mode}: nothing is refused` : 'ok'
}

function addGauge(
  metrics: Metrics,
  modes: readonly { readonly engine: string; readonly section: string; readonly mode: string }[],
): void {
  metrics.gauges(
    {
      name: 'gateway_mode',
      help: 'The current mode. The value is always 1.',
      labels: ['engine', 'section', 'mode'],
    },
    () => modes.map((labels) => ({ labels, value: 1 })),
  )
}
