import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace'

export type DropReason = 'queue' | 'export'

export interface SpanQueueOptions {
  readonly exporter: SpanExporter
  /** Maximum number of spans that wait for an export. */
  readonly maxSpans: number
  /** Timeout of one export, including its retries. */
  readonly timeoutMs: number
  readonly onExport: (spans: number) => void
  readonly onDrop: (reason: DropReason, spans: number) => void
  /** Called when spans begin to get lost, once until `onRecovery`. */
  readonly onLoss: (reason: DropReason, why: string) => void
  /** Called when an export succeeds and no span was lost since the previous export. `lost` is the number of lost spans. */
  readonly onRecovery: (lost: number) => void
}

/** How long a span waits for a batch. */
const BATCH_DELAY_MS = 1000
const BATCH_SPANS = 512
/** Normally the exporter itself ends an export in time. An export that exceeds this margin is abandoned. */
const GIVE_UP_MARGIN_MS = 1000

/**
 * Creates a queue with an exact bound around the SDK's batch processor. The processor drops spans silently, so spans that it
 * would drop are counted and dropped here.
 */
export function createSpanQueue(options: SpanQueueOptions): SpanProcessor {
  const { exporter, maxSpans, timeoutMs, onExport } = options
  const losses = createLosses(options)
  let waiting = 0
  let isClosed = false
  const batches = new BatchSpanProcessor({
    maxQueueSize: maxSpans,
    maxExportBatchSize: Math.min(BATCH_SPANS, maxSpans),
    scheduledDelayMillis: BATCH_DELAY_MS,
    exportTimeoutMillis: timeoutMs + GIVE_UP_MARGIN_MS,
    exporter: {
      export: (spans, done) => {
        waiting -= spans.length
        exporter.export(spans, (result) => {
          if (result.code === ExportResultCode.SUCCESS) onExport(spans.length)
          if (result.code === ExportResultCode.SUCCESS) losses.recover()
          else losses.add('export', spans.length, reasonOf(result))
          done(result)
        })
      },
      shutdown: () => exporter.shutdown(),
    },
  })
  return {
    onStart: () => undefined,
    onEnd: (span: ReadableSpan) => {
      if (isClosed || waiting >= maxSpans)
        return losses.add('queue', 1, isClosed ? 'the queue is closed' : `${maxSpans} spans wait`)
      waiting += 1
      batches.onEnd(span)
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: async () => {
      isClosed = true
      await batches.shutdown()
    },
  }
}

function createLosses({ onDrop, onLoss, onRecovery }: SpanQueueOptions) {
  let lost = 0
  let lostSinceExport = 0
  return {
    add: (reason: DropReason, spans: number, why: string): void => {
      onDrop(reason, spans)
      if (lost === 0) onLoss(reason, why)
      lost += spans
      lostSinceExport += spans
    },
    recover: (): void => {
      if (lost > 0 && lostSinceExport === 0) {
        onRecovery(lost)
        lost = 0
      }
      lostSinceExport = 0
    },
  }
}

/** Returns `503: Service Unavailable` or `ECONNREFUSED: connect …`. */
function reasonOf({ error }: ExportResult): string {
  if (error === undefined) return 'unknown'
  const code = 'code' in error ? error.code : undefined
  const isCode = typeof code === 'string' || typeof code === 'number'
  return isCode ? `${code}: ${error.message}` : error.message
}
