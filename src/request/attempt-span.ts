/** One attempt at a node, as it begins. */
export interface AttemptStart {
  readonly engine: string
  /** Scheme, host, port and base path as configured. */
  readonly node: string
  readonly method: string
  /** Attempts at the same request before this one. */
  readonly resends: number
}

/** The span of one attempt. */
export interface AttemptSpan {
  /** `traceparent` and `tracestate` of this attempt; they replace the caller's. */
  readonly headers: Readonly<Record<string, string>>
  /** `status` 0: there was no answer. `result` as in `gateway_upstream_attempts_total`. */
  readonly end: (outcome: { readonly status: number; readonly result: string }) => void
}

/** Begins the span of one attempt; of several attempts at one request, each has its own. */
export type StartAttempt = (start: AttemptStart) => AttemptSpan
