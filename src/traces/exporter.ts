import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base'
import {
  createOtlpHttpExportDelegate,
  httpAgentFactoryFromOptions,
} from '@opentelemetry/otlp-exporter-base/node-http'
import { JsonTraceSerializer, TraceExporterMetricsHelper } from '@opentelemetry/otlp-transformer'
import type { SpanExporter } from '@opentelemetry/sdk-trace'

export interface ExporterOptions {
  /** The base URL of the collector; `/v1/traces` is appended. */
  readonly endpoint: string
  /** The headers of each export. */
  readonly headers: Readonly<Record<string, string>>
  /** Timeout of one export, including its retries. */
  readonly timeoutMs: number
}

/** Maximum number of exports at once: one from the queue, and those that a shutdown sends in parallel. */
const MAX_EXPORTS = 30

/**
 * Creates an exporter for OTLP over HTTP with JSON. The package `exporter-trace-otlp-http` builds the same, but also reads
 * environment variables.
 */
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
