import type { ParsedHeaders } from './headers.ts'

/** One request to an engine, built anew: no part of the client's target is copied without being checked. */
export interface UpstreamRequest {
  readonly method: string
  /** Below the node's base, query included: `/task/x?a=b`. Sent byte for byte. */
  readonly path: string
  /** Lower-case names, as `upstreamHeaders` returns them. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | null
  /** `always`: a pure read, which may be repeated. `unsent`: repeated only if no byte of it was sent. */
  readonly retry: 'always' | 'unsent'
  /** `repeat`: sent again when the engine reports that another transaction was faster and this one was rolled back. */
  readonly conflict?: 'repeat' | undefined
  /** Checked before each attempt. False: the decision that permitted the request no longer holds, and no attempt starts. Default: it holds. */
  readonly isStillPermitted?: (() => boolean) | undefined
  /** Deployment of the definition that it starts. If some nodes have it registered, only those qualify. */
  readonly deployment?: string
  /** The only node that qualifies while it is believed healthy, by its name, unless an attempt there has failed. */
  readonly preferredNode?: string | null
  /** Whether `relay` also gives the body of a successful answer to its caller, where it is short. Default: no. */
  readonly keepsAnswer?: boolean
  /** Makes of the headers of an answer that `relay` streams those that the client is shown. `node`: its name. Default: they stay. */
  readonly shownHeaders?: (headers: ParsedHeaders, node: string) => ParsedHeaders
  /** `none`: a success creates and unlocks no external task. Default: it may, unless `retry` is `always`. */
  readonly newTasks?: 'none' | undefined
  /** Replaces the upstream's `headersMs` for this request: a long poll waits longer than a lookup. */
  readonly headersMs?: number
}

/** How one attempt ended. `cancelled`: the client of a read disconnected, which says nothing about the node. */
export type AttemptResult = 'ok' | 'refused' | 'timeout' | 'reset' | 'invalid' | 'cancelled'

export interface AttemptEvent {
  /** Scheme, host, port and base path as configured: a bounded label. */
  readonly node: string
  readonly result: AttemptResult
  /** Status of the answer's head; 0 if there was none. */
  readonly status: number
  readonly seconds: number
}

/** The result of an answer that was streamed to its client. */
export interface Relayed {
  /** Of the engine's answer; 499 if the client disconnected before it. */
  readonly status: number
  readonly node: string
  /** Of the body, as written to the client's connection. */
  readonly bytes: number
  /** Where the request has asked for it: of an answer with a status of 2xx, not encoded, and of `KEPT_ANSWER_BYTES` at most. */
  readonly body?: Buffer
  /** `broken`: the engine ended the answer early, and the client's connection was closed. */
  readonly ended: 'whole' | 'client-gone' | 'broken'
}
