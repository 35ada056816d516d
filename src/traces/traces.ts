import type { IncomingHttpHeaders } from 'node:http'
import type { StartAttempt } from '../request/attempt-span.ts'

/** Records requests as spans, and exports them. */
export interface Traces {
  /** Begins the span of a request with these headers. */
  readonly begin: (headers: IncomingHttpHeaders) => RequestSpan
  /** Returns a function that starts attempts of the current request. Returns null outside a request. */
  readonly startAttempt: () => StartAttempt | null
  /**
   * Runs a lookup as a span of its own. `subject` is the kind of entity, a name from the code. Outside a request, no span is
   * created.
   */
  readonly lookUp: <T>(subject: string, ask: () => Promise<T>) => Promise<T>
  /** Exports the waiting spans. Never rejects; takes little longer than the timeout of an export. */
  readonly flush: () => Promise<void>
  /** Exports the waiting spans and stops exporting. */
  readonly close: () => Promise<void>
}

/** The span of one request. */
export interface RequestSpan {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /**
   * The headers `traceparent` and `tracestate` of the request itself, for requests that are forwarded without a span of an
   * attempt.
   */
  readonly headers: () => Readonly<Record<string, string>>
  /**
   * Runs a step of the request. Lookups and attempts that start in the step or in its asynchronous work are children of the span.
   */
  readonly within: (step: () => void) => void
  /** Ends the span. `summaryOf` is called only if the span is recorded. */
  readonly end: (summaryOf: () => SpanSummary) => void
}

export interface SpanSummary {
  /** A name from a bounded set. */
  readonly name: string
  readonly attributes: SpanAttributes
  readonly isError: boolean
}

/** The attributes of a span. Undefined values are left out. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>
