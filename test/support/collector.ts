import http from 'node:http'
import type { Test } from 'tap'
import { until } from './cache-harness.ts'
import { listenUntilEnd } from './listen-until-end.ts'

/** A span in the JSON encoding of OTLP. */
export interface ExportedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | null
  readonly traceState: string
  readonly name: string
  /** 1: internal, 2: server, 3: client. */
  readonly kind: number
  readonly attributes: Readonly<Record<string, unknown>>
  /** 0: unset, 2: error. */
  readonly status: number
  /** Attributes of the process. */
  readonly resource: Readonly<Record<string, unknown>>
}

export interface Collector {
  readonly url: string
  /** Spans in the order in which they ended. */
  readonly spans: readonly ExportedSpan[]
  /** Request lines and headers of the exports. */
  readonly exports: readonly { readonly path: string; readonly headers: http.IncomingHttpHeaders }[]
  /** Resolves to the spans of a trace when at least `count` of them have arrived. */
  readonly trace: (traceId: string, count: number) => Promise<readonly ExportedSpan[]>
  /** Resolves to the span with that name when it has arrived. */
  readonly span: (name: string) => Promise<ExportedSpan>
}

/** Starts a collector that receives OTLP over HTTP, as JSON. `answer` may send another response than success, or none. */
export async function startCollector(
  t: Test,
  answer: (response: http.ServerResponse) => void = (response) => void response.end('{}'),
): Promise<Collector> {
  const spans: ExportedSpan[] = []
  const exports: { path: string; headers: http.IncomingHttpHeaders }[] = []
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      exports.push({ path: `${request.method} ${request.url}`, headers: request.headers })
      answer(response)
      if (response.statusCode === 200) spans.push(...spansIn(JSON.parse(Buffer.concat(chunks).toString())))
    })
  })
  const url = await listenUntilEnd(t, server)
  const trace: Collector['trace'] = async (traceId, count) => {
    const found = () => spans.filter((span) => span.traceId === traceId)
    await until(() => found().length >= count)
    return found()
  }
  return {
    url,
    spans,
    exports,
    trace,
    span: async (name) => {
      const found = () => spans.find((span) => span.name === name)
      await until(() => found() !== undefined)
      return found() ?? Promise.reject(new Error(`no span ${name}`))
    },
  }
}

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string }
}

/** The members of the protocol that the tests read. */
interface Exported {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly traceId: string
        readonly spanId: string
        readonly parentSpanId?: string
        readonly traceState?: string
        readonly name: string
        readonly kind: number
        readonly attributes: readonly Attribute[]
        readonly status: { readonly code: number }
      }[]
    }[]
  }[]
}

function spansIn({ resourceSpans }: Exported): readonly ExportedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map(({ traceId, spanId, parentSpanId, traceState, name, kind, attributes, status }) => ({
        traceId,
        spanId,
        parentSpanId: parentSpanId ?? null,
        traceState: traceState ?? '',
        name,
        kind,
        attributes: valuesOf(attributes),
        status: status.code,
        resource: valuesOf(resource.attributes),
      })),
    ),
  )
}

function valuesOf(attributes: readonly Attribute[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? (value.intValue === undefined ? value : Number(value.intValue)),
    ]),
  )
}
