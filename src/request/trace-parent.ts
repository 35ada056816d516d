const TRACE_PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:$|-)/

/** Returns the trace id of a `traceparent`. Null if there is no valid one (W3C Trace Context section 3.2.2). */
export function traceIdOf(traceparent: string | string[] | undefined): string | null {
  return typeof traceparent === 'string' ? (TRACE_PARENT.exec(traceparent)?.[1] ?? null) : null
}
