import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base'
import {
  createOtlpHttpExportDelegate,
  httpAgentFactoryFromOptions,
} from '@opentelemetry/otlp-exporter-base/node-http'
import { JsonTraceSerializer, TraceExporterMetricsHelper } from '@opentelemetry/otlp-transformer'
import type { SpanExporter } from '@opentelemetry/sdk-trace'

export interface ExporterOptions {
  /** Of the collector; `/v1/traces` follows. */
  readonly endpoint: string
  /** Of each export. */
  readonly headers: Readonly<Record<string, string>>
  /** One export, its repetitions included. */
  readonly timeoutMs: number
}

/** Of all at once: one of the queue, and what a shutdown exports beside it. */
const MAX_EXPORTS = 30

/** OTLP over HTTP, as JSON. What the package `exporter-trace-otlp-http` builds, without the environment that it reads. */
export function createExporter({ endpoint, headers, timeoutMs }: ExporterOptions): SpanExporter {
  const options = {
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    headers: async () => ({ ...headers, 'Content-Type': 'application/json' }),
    timeoutMillis: timeoutMs,
    concurrencyLimit: MAX_EXPORTS,
    compression: 'none',
    agentFactory: httpAgentFactoryFromOptions({ keepAlive: true }),
  } as const
  return new OTLPExporterBase(
    createOtlpHttpExportDelegate(
      options,
      JsonTraceSerializer,
      'otlp_http_span_exporter',
      TraceExporterMetricsHelper,
      undefined,
    ),
  )
}
