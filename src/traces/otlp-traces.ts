import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingHttpHeaders } from 'node:http'
import { hostname } from 'node:os'
import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import type { AttemptStart, StartAttempt } from '../request/attempt-span.ts'
import { createExporter, type ExporterOptions } from './exporter.ts'
import { createSampler, type SamplingOptions } from './sampler.ts'
import { createSpanQueue, type SpanQueueOptions } from './span-queue.ts'
import type { RequestSpan, SpanAttributes, Traces } from './traces.ts'

export interface OtlpTracesOptions
  extends SamplingOptions,
    ExporterOptions,
    Omit<SpanQueueOptions, 'exporter'> {
  readonly serviceName: string
  /** The version of the gateway. */
  readonly version: string
}

/**
 * Maximum length of an attribute. Nearly all values are names from the configuration and the table, but `server.address` is the
 * caller's `Host`.
 */
const MAX_VALUE_CHARS = 256

/**
 * The parent of new spans. Null after the span has ended: timers and sockets that were opened during the span live longer, and
 * must not create children.
 */
interface SpanScope {
  span: Span | null
}

/**
 * Creates traces with the OpenTelemetry SDK. It registers nothing globally and reads no environment variables. Import this file
 * only if traces are configured, because it loads the SDK.
 */
export function openOtlpTraces(options: OtlpTracesOptions): Traces {
  const queue = createSpanQueue({ ...options, exporter: createExporter(options) })
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(resourceOf(options))),
    sampler: createSampler(options),
    spanLimits: { attributeValueLengthLimit: MAX_VALUE_CHARS },
    spanProcessors: [queue],
  })
  const tracer = provider.getTracer('engine-gateway', options.version)
  const scopes = new AsyncLocalStorage<SpanScope>()
  return {
    begin: (headers) => createRequestSpan(beginSpan(tracer, headers), scopes),
    startAttempt: () => {
      const parent = scopes.getStore()?.span ?? null
      return parent === null ? null : createStartAttempt(tracer, parent)
    },
    lookUp: (subject, ask) => {
      const parent = scopes.getStore()?.span ?? null
      if (parent === null) return ask()
      const span = tracer.startSpan(`look-up ${subject}`, {}, contextOf(parent))
      return runLookUp(span, (scope) => scopes.run(scope, ask))
    },
    flush: () => settled(queue.forceFlush()),
    close: () => settled(queue.shutdown()),
  }
}

function resourceOf({ serviceName, version }: OtlpTracesOptions): Record<string, string | number> {
  return {
    'service.name': serviceName,
    'service.version': version,
    'service.instance.id': `${hostname()}:${process.pid}`,
    'host.name': hostname(),
    'process.pid': process.pid,
  }
}

function beginSpan(tracer: Tracer, headers: IncomingHttpHeaders): Span {
  const caller = PROPAGATOR.extract(ROOT_CONTEXT, headers, defaultTextMapGetter)
  return tracer.startSpan('request', { kind: SpanKind.SERVER }, caller)
}

const PROPAGATOR = new W3CTraceContextPropagator()

function headersOf(span: Span): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  PROPAGATOR.inject(contextOf(span), headers, defaultTextMapSetter)
  return headers
}

function contextOf(span: Span): Context {
  return trace.setSpan(ROOT_CONTEXT, span)
}

function createRequestSpan(span: Span, scopes: AsyncLocalStorage<SpanScope>): RequestSpan {
  const scope: SpanScope = { span }
  return {
    traceId: span.spanContext().traceId,
    headers: () => headersOf(span),
    within: (step) => scopes.run(scope, step),
    end: (summaryOf) => {
      scope.span = null
      if (!span.isRecording()) return
      const { name, attributes, isError } = summaryOf()
      span.updateName(name)
      endSpan(span, attributes, isError)
    },
  }
}

function createStartAttempt(tracer: Tracer, parent: Span): StartAttempt {
  return (start) => {
    const attributes = attemptAttributesOf(start)
    const span = tracer.startSpan('attempt', { kind: SpanKind.CLIENT, attributes }, contextOf(parent))
    return {
      headers: headersOf(span),
      end: ({ status, result }) => {
        const error = errorTypeOf(status, result)
        const outcome = {
          'http.response.status_code': status === 0 ? undefined : status,
          'gateway.result': result,
          'error.type': error ?? undefined,
        }
        endSpan(span, outcome, error !== null)
      },
    }
  }
}

function attemptAttributesOf({ engine, node, method, resends }: AttemptStart) {
  const { hostname: address, port, protocol } = new URL(node)
  return {
    'http.request.method': method,
    'server.address': address,
    'server.port': Number(port === '' ? (protocol === 'https:' ? 443 : 80) : port),
    'gateway.engine': engine,
    'gateway.node': node,
    ...(resends === 0 ? {} : { 'http.request.resend_count': resends }),
  }
}

/** Returns the error type by the HTTP conventions for client spans. An attempt whose caller has disconnected is not an error. */
function errorTypeOf(status: number, result: string): string | null {
  if (result !== 'ok' && result !== 'cancelled') return result
  return status >= 400 ? String(status) : null
}

function endSpan(span: Span, attributes: SpanAttributes, isError: boolean): void {
  for (const name in attributes) {
    const value = attributes[name]
    if (value !== undefined) span.setAttribute(name, value)
  }
  if (isError) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}

async function runLookUp<T>(span: Span, run: (scope: SpanScope) => Promise<T>): Promise<T> {
  const scope: SpanScope = { span }
  try {
    const found = await run(scope)
    endSpan(span, {}, false)
    return found
  } catch (error) {
    endSpan(span, { 'error.type': codeOf(error) }, true)
    throw error
  } finally {
    scope.span = null
  }
}

/** Returns the error code of the gateway or of the system. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '_OTHER'
}

async function settled(ending: Promise<void>): Promise<void> {
  // The queue has already counted and reported the lost spans.
  await ending.catch(() => undefined)
}
