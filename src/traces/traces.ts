import type { IncomingHttpHeaders } from 'node:http'
import type { StartAttempt } from '../request/attempt-span.ts'

/** Records requests as spans, and exports them. */
export interface Traces {
  /** Begins the span of a request with these headers. */
  readonly begin: (headers: IncomingHttpHeaders) => RequestSpan
  /** For the request in whose course it is called; null: in the course of none. */
  readonly startAttempt: () => StartAttempt | null
  /** Runs a look-up as a span of its own. `subject`: what is looked up, a name of the code. Outside a request it only runs. */
  readonly lookUp: <T>(subject: string, ask: () => Promise<T>) => Promise<T>
  /** Exports what waits. Never rejects; takes little more than the export's timeout. */
  readonly flush: () => Promise<void>
  /** The same, for the last time. */
  readonly close: () => Promise<void>
}

/** The span of one request. */
export interface RequestSpan {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** `traceparent` and `tracestate` of the request itself, for what is forwarded without an attempt's span. */
  readonly headers: () => Readonly<Record<string, string>>
  /** Runs a step of the request: look-ups and attempts that begin in it, or in what it waits for, are children of the span. */
  readonly within: (step: () => void) => void
  /** `summaryOf` is called only if the span is recorded. */
  readonly end: (summaryOf: () => SpanSummary) => void
}

export interface SpanSummary {
  /** Of a bounded set. */
  readonly name: string
  readonly attributes: SpanAttributes
  readonly isError: boolean
}

/** Undefined: left out. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>
