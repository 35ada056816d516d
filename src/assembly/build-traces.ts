import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../config/config.ts'
import type { Logger } from '../log.ts'
import { bounded } from '../metrics/access-log.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Traces } from '../traces/traces.ts'

interface TracesNeeds {
  readonly config: Config
  readonly metrics: Metrics
  readonly log: Logger
  readonly version: string
}

export interface TakenTraces {
  /** Null: none are configured. */
  readonly traces: Traces | null
  /** Makes them this set's own to close. */
  readonly own: () => void
  /** Exports what waits, beside what else is closed. */
  readonly flush: () => Promise<void>
  /** Closes what no successor has taken over, after the last request. */
  readonly close: (successor: Traces | null | undefined) => Promise<void>
}

/** Takes over the spans that wait and the connection to the collector, where the configuration of traces is the same. */
export async function takeTraces(
  needs: TracesNeeds,
  before: { readonly config: Config; readonly traces: Traces | null } | null,
): Promise<TakenTraces> {
  const kept = before !== null && isDeepStrictEqual(before.config.traces, needs.config.traces)
  const traces = kept ? before.traces : await openTraces(needs)
  let isOwn = !kept
  return {
    traces,
    own: () => {
      isOwn = true
    },
    flush: async () => {
      if (isOwn) await traces?.flush()
    },
    close: async (successor) => {
      if (isOwn && successor !== traces) await traces?.close()
    },
  }
}

/** Only here the SDK is loaded: without an endpoint it costs neither memory nor time. */
async function openTraces({ config, metrics, log, version }: TracesNeeds): Promise<Traces | null> {
  if (config.traces === null) return null
  const { timeout: timeoutMs, queue: maxSpans, ...settings } = config.traces
  const { openOtlpTraces } = await import('../traces/otlp-traces.ts')
  // The first loss must be an increase: a counter that begins with it has none.
  for (const reason of ['queue', 'export']) metrics.spansDropped({ reason }, 0)
  const { endpoint } = settings
  return openOtlpTraces({
    ...settings,
    timeoutMs,
    maxSpans,
    version,
    onExport: (spans) => metrics.spansExported({}, spans),
    onDrop: (reason, spans) => metrics.spansDropped({ reason }, spans),
    onLoss: (reason, why) => log.warn({ endpoint, reason, why: bounded(why) }, 'spans of traces are lost'),
    onRecovery: (lost) => log.info({ endpoint, lost }, 'spans of traces are exported again'),
  })
}
