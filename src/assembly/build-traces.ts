import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../config/config.ts'
import type { Logger } from '../log.ts'
import { bounded } from '../metrics/access-log.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Traces } from '../traces/traces.ts'
import type { Component } from '../component.ts'
import type { Handover } from './runtime.ts'

interface TracesSettings {
  readonly config: Config
  readonly metrics: Metrics
  readonly log: Logger
  readonly version: string
}

interface TracesComponent extends Component {
  /** Null if no traces are configured. */
  readonly traces: Traces | null
}

/**
 * Takes over the waiting spans and the connection to the collector if the configuration of traces is unchanged. They are not closed
 * if a successor has taken them over.
 */
export async function openTraces(
  options: TracesSettings,
  { before, successor }: Handover<'config' | 'traces'>,
): Promise<TracesComponent> {
  const isShared = before !== null && isDeepStrictEqual(before.config.traces, options.config.traces)
  const traces = isShared ? before.traces : await loadTraces(options)
  let isOwn = !isShared
  return {
    traces,
    activate: () => {
      isOwn = true
    },
    close: async () => {
      if (isOwn) await traces?.flush()
    },
    release: async () => {
      if (isOwn && successor()?.traces !== traces) await traces?.close()
    },
  }
}

/** Loads the SDK only here, so that it costs neither memory nor time if no endpoint is configured. */
async function loadTraces({ config, metrics, log, version }: TracesSettings): Promise<Traces | null> {
  if (config.traces === null) return null
  const { timeout: timeoutMs, queue: maxSpans, ...settings } = config.traces
  const { openOtlpTraces } = await import('../traces/otlp-traces.ts')
  // Start the counter at 0. Otherwise the first loss creates the series and is not visible as an increase.
  for (const reason of ['queue', 'export']) metrics.spansDropped({ reason }, 0)
  const { endpoint } = settings
  return openOtlpTraces({
    ...settings,
    timeoutMs,
    maxSpans,
    version,
    onExport: (spans) => metrics.spansExported({}, spans),
    onDrop: (reason, spans) => metrics.spansDropped({ reason }, spans),
    onLoss: (reason, why) => log.warn({ endpoint, reason, why: bounded(why) }, 'trace spans are lost'),
    onRecovery: (lost) => log.info({ endpoint, lost }, 'trace spans are exported again'),
  })
}
