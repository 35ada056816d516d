const TRACE_PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:$|-)/

/** The trace id of a `traceparent`; null if there is none, or one that W3C Trace Context section 3.2.2 does not allow. */
export function traceIdOf(traceparent: string | string[] | undefined): string | null {
  return typeof traceparent === 'string' ? (TRACE_PARENT.exec(traceparent)?.[1] ?? null) : null
}
