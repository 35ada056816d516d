import type { Duplex } from 'node:stream'
import type { ParsedHeaders } from './headers.ts'

/** A request to an engine. The gateway builds it from checked parts and copies no unchecked part of the client's target. */
export interface UpstreamRequest {
  readonly method: string
  /** The path below the node's base path, with the query: `/task/x?a=b`. It is sent byte for byte. */
  readonly path: string
  /**
   * The id of the operation, by which the duration is learned, and members of the response may be renamed. Default: the request has no
   * limit of slow operations, and the response keeps its names.
   */
  readonly operation?: string | undefined
  /** The id of the caller. While requests wait for a node, users take turns. Default: a request of the gateway itself. */
  readonly user?: string | undefined
  /** Lower-case names, as `upstreamHeaders` returns them. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | null
  /** `always`: the request only reads and may be retried. `unsent`: it is retried only if no byte of it was sent. */
  readonly retry: 'always' | 'unsent'
  /** `repeat`: the request is sent again if the engine reports that another transaction was faster and this one was rolled back. */
  readonly conflict?: 'repeat' | undefined
  /**
   * Called before each attempt. Returns false if the decision that permitted the request no longer holds. No attempt starts then.
   * Default: the decision holds.
   */
  readonly isStillPermitted?: (() => boolean) | undefined
  /** The deployment of the definition that the request starts. If some nodes have registered it, only those nodes qualify. */
  readonly deployment?: string
  /** The name of the only node that qualifies, as long as it counts as healthy and no attempt there has failed. */
  readonly preferredNode?: string | null
  /** The group whose nodes qualify, as long as one of them is used. Default: all nodes qualify. */
  readonly group?: string | undefined
  /** Whether `relay` also returns the body of a successful response if the body is short. Default: no. */
  readonly keepsResponse?: boolean
  /** Converts the headers of a response that `relay` streams for the client. `node` is the node's name. Default: they are not changed. */
  readonly shownHeaders?: (headers: ParsedHeaders, node: string) => ParsedHeaders
  /** `none`: a successful request creates and unlocks no external task. Default: it may do so, unless `retry` is `always`. */
  readonly newTasks?: 'none' | undefined
  /** True if an identical request may get the response to this one. Only counts are shared. Default: no response is shared. */
  readonly isShareable?: boolean | undefined
  /** Replaces the upstream's `headersMs` for this request: a long poll waits longer than a lookup. */
  readonly headersMs?: number | undefined
  /** The protocol to which the connection is to be upgraded. Its handshake is in `headers`. Default: no upgrade. */
  readonly upgrade?: 'websocket' | undefined
}

/** A connection to a node after the node has sent 101. The caller must check the headers, and close the socket. */
export interface UpgradedConnection {
  readonly headers: ParsedHeaders
  readonly socket: Duplex
}

/**
 * How an attempt ended. `cancelled`: the client of a read disconnected, which is no sign of a fault of the node. `moved`: the node was
 * ejected, or its group was given up, and the read was sent to another node.
 */
export type AttemptResult = 'ok' | 'refused' | 'timeout' | 'reset' | 'invalid' | 'moved' | 'cancelled'

/**
 * The cause of the end of an attempt. `response`: the complete response arrived. `client`: the client of a read disconnected. `gateway`: a limit of
 * the gateway was reached, the request cannot be written, or the read was moved to another node. `stale`: a reused connection broke, which is no sign of a fault of the
 * node. `node`: any other failure.
 */
export type EndedBy = 'response' | 'client' | 'gateway' | 'stale' | 'node'

export interface AttemptEvent {
  readonly operation: UpstreamRequest['operation']
  /** The id of the caller, or an empty text for a request of the gateway itself. */
  readonly caller: string
  /** Scheme, host, port and base path as configured. As a metric label it has a bounded number of values. */
  readonly node: string
  readonly result: AttemptResult
  readonly endedBy: EndedBy
  /** The status of the response, or 0 if no response head arrived. */
  readonly status: number
  readonly seconds: number
  /** The retry rule of the request: a read, or any other request. */
  readonly retry: UpstreamRequest['retry']
}

/** The result of a response that was streamed to its client. */
export interface RelayResult {
  /** The status of the engine's response, or 499 if the client disconnected before it. */
  readonly status: number
  readonly node: string
  /** The length of the body, as written to the client's connection. */
  readonly bytes: number
  /** The body, if the request has `keepsResponse` and the response has a 2xx status, no content encoding and at most `KEPT_RESPONSE_BYTES`. */
  readonly body?: Buffer
  /** `broken`: the engine ended the response early, and the gateway closed the client's connection. */
  readonly ended: 'whole' | 'client-gone' | 'broken'
  /** Only after 101. Nothing has been written to the client then. */
  readonly upgraded?: UpgradedConnection
}
