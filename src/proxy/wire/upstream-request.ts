/** One request to an engine, written anew: nothing of the client's target is copied into it unread. */
export interface UpstreamRequest {
  readonly method: string
  /** Below the node's base, query included: `/task/x?a=b`. Goes onto the wire byte for byte. */
  readonly path: string
  /** Lower-case names, as `upstreamHeaders` makes them. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | null
  /** `always`: a pure read, which may be repeated. `unsent`: repeated only if no byte of it has left. */
  readonly retry: 'always' | 'unsent'
  /** `repeat`: sent again when the engine says that another transaction was quicker, and that this one was rolled back. */
  readonly conflict?: 'repeat'
  /** Of the definition that it starts: only nodes where this deployment is registered will do, if there are any. */
  readonly deployment?: string
  /** Replaces the upstream's `headersMs` for this hop: a long poll waits longer than a look-up. */
  readonly headersMs?: number
}

/** How one try ended. `cancelled`: the client of a read left, which says nothing about the node. */
export type AttemptResult = 'ok' | 'refused' | 'timeout' | 'reset' | 'invalid' | 'cancelled'

export interface AttemptEvent {
  /** Scheme, host, port and base path as configured: a bounded label. */
  readonly node: string
  readonly result: AttemptResult
  /** Status of the answer's head, 0 if none came. */
  readonly status: number
  readonly seconds: number
}
