/** The start of an attempt at a node. */
export interface AttemptStart {
  readonly engine: string
  /** Scheme, host, port and base path as configured. */
  readonly node: string
  readonly method: string
  /** Number of earlier attempts at the same request. */
  readonly resends: number
}

/** The span of one attempt. */
export interface AttemptSpan {
  /** `traceparent` and `tracestate` of this attempt. They replace the caller's. */
  readonly headers: Readonly<Record<string, string>>
  /** Ends the span. `status` is 0 without a response. `result` is as in `gateway_upstream_attempts_total`. */
  readonly end: (outcome: { readonly status: number; readonly result: string }) => void
}

/** Begins the span of one attempt. Several attempts at one request have separate spans. */
export type StartAttempt = (start: AttemptStart) => AttemptSpan
