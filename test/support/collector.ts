import { once } from 'node:events'
import http from 'node:http'
import type { Socket } from 'node:net'
import type { Test } from 'tap'
import { until } from './cache-harness.ts'

/** A span as OTLP has it in JSON. */
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
  /** Of the process. */
  readonly resource: Readonly<Record<string, unknown>>
}

export interface Collector {
  readonly url: string
  /** In the order of their end. */
  readonly spans: readonly ExportedSpan[]
  /** Heads of the exports. */
  readonly exports: readonly { readonly path: string; readonly headers: http.IncomingHttpHeaders }[]
  /** The spans of a trace, once there are so many. */
  readonly trace: (traceId: string, count: number) => Promise<readonly ExportedSpan[]>
  /** The one of that name, once it is there. */
  readonly span: (name: string) => Promise<ExportedSpan>
}

/** Receives OTLP over HTTP, as JSON. `answer` may say something else than that all is well, or nothing. */
export async function startCollector(
  t: Test,
  answer: (response: http.ServerResponse) => void = (response) => void response.end('{}'),
): Promise<Collector> {
  const spans: ExportedSpan[] = []
  const exports: { path: string; headers: http.IncomingHttpHeaders }[] = []
  const sockets = new Set<Socket>()
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      exports.push({ path: `${request.method} ${request.url}`, headers: request.headers })
      answer(response)
      if (response.statusCode === 200) spans.push(...spansIn(JSON.parse(Buffer.concat(chunks).toString())))
    })
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const trace: Collector['trace'] = async (traceId, count) => {
    const found = () => spans.filter((span) => span.traceId === traceId)
    await until(() => found().length >= count)
    return found()
  }
  return {
    url: `http://127.0.0.1:${address.port}`,
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

/** The members of the protocol that are looked at. */
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
