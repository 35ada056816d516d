import type { Metrics } from '../metrics/registry.ts'
import type { EngineDependencies } from '../pipeline/dependencies.ts'
import type { Component } from '../component.ts'

/** Creates the readiness checks and the gauge for the modes in force. */
export function createModeChecks(
  engines: readonly Pick<EngineDependencies, 'name' | 'authorization' | 'validation'>[],
): Component {
  const modes = engines.flatMap(({ name: engine, authorization, validation }) => [
    { engine, section: 'authorization', mode: authorization },
    { engine, section: 'validation', mode: validation },
  ])
  return {
    // A gateway that refuses nothing is still ready.
    readiness: () => ({
      ready: true,
      checks: Object.fromEntries(
        modes.map(({ engine, section, mode }) => [`${section} of ${engine}:`, wordOf(mode)]),
      ),
    }),
    activate: (metrics) => addGauge(metrics, modes),
  }
}

function wordOf(mode: EngineDependencies['authorization']): string {
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
