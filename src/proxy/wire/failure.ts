import { errors } from 'undici'
import { GatewayError, messageOf } from '../../errors.ts'
import type { AttemptResult, EndedBy } from './upstream-request.ts'

export type AttemptFault = Exclude<AttemptResult, 'ok' | 'moved' | 'cancelled'>

const TIMEOUTS: ReadonlySet<string> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
])

// The last four codes mean that undici parsed the head, but Node refuses to write it to the client.
const INVALID: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'ERR_ASSERTION', // undici's parser asserts against values that llhttp accepts, for example a status below 100
  'ERR_INVALID_CHAR',
  'ERR_HTTP_INVALID_STATUS_CODE',
  'ERR_HTTP_INVALID_HEADER_VALUE',
  'ERR_INVALID_HTTP_TOKEN',
])

const UNSENT: ReadonlySet<string> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

/** The progress of a request when it failed. */
export interface Progress {
  /** True if a byte of the request may have reached the node. */
  readonly sent: boolean
  /** The status of the response, or 0 if no response head arrived. */
  readonly status: number
  /** True if the request ran on a reused connection. Default: false. */
  readonly isReused?: boolean
}

/** Returns the fault of the node that a transport error indicates. */
export function faultOf(cause: unknown, { sent, status, isReused = false }: Progress): AttemptFault {
  const code = codeOf(cause)
  if (cause instanceof GatewayError) return sent ? 'invalid' : 'timeout' // a response that is too large, or a wait that is too long
  if (!sent && isReused) return 'reset'
  if (TIMEOUTS.has(code)) return 'timeout'
  if (!sent) return 'refused'
  if (INVALID.has(code) || cause instanceof errors.HTTPParserError) return 'invalid'
  // Undici uses this code for any fault in a response with a length. Before the head the framing is wrong, after it the body is incomplete.
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' && status === 0) return 'invalid'
  return 'reset'
}

/** Maps a transport error to an error response. No other function does so. `repeatable`: the request only reads, so it had no effect. */
export function failureOf(
  cause: unknown,
  request: Progress & { readonly repeatable: boolean },
): GatewayError {
  if (cause instanceof GatewayError) return cause
  const code = codeOf(cause)
  if (code === 'UND_ERR_INVALID_ARG') return new GatewayError('GW_INTERNAL', { cause })
  if (code === 'UND_ERR_CLOSED' || code === 'UND_ERR_DESTROYED')
    return new GatewayError('GW_DRAINING', { cause })
  if (!request.sent) return new GatewayError('GW_NO_NODE', { cause, retryAfterSeconds: 1 })
  const fault = faultOf(cause, request)
  if (fault === 'timeout') return new GatewayError('GW_UPSTREAM_TIMEOUT', { cause })
  if (fault === 'invalid') return new GatewayError('GW_UPSTREAM_INVALID', { cause })
  return new GatewayError(request.repeatable ? 'GW_UPSTREAM_FAILED' : 'GW_OUTCOME_UNKNOWN', { cause })
}

/** Returns what ended an attempt that failed. `isCancelled`: its client disconnected. */
export function endedByOf(
  cause: Error,
  attempt: Progress & { readonly isCancelled: boolean },
): Exclude<EndedBy, 'response'> {
  if (attempt.isCancelled) return 'client'
  if (!isOfTheNode(cause)) return 'gateway'
  return isStaleConnection(cause, attempt) ? 'stale' : 'node'
}

/**
 * Returns true if a reused connection broke without a response. A server that closes an idle connection cannot know that a request
 * is in transit, so this is no sign of a fault of the node.
 */
export function isStaleConnection(cause: Error, progress: Progress): boolean {
  const { isReused = false, status } = progress
  return isReused && status === 0 && isOfTheNode(cause) && faultOf(cause, progress) === 'reset'
}

/** Returns true if the code of an error proves that no connection was opened. It is for callers without access to the attempt. */
export function isUnsent(cause: unknown): boolean {
  return UNSENT.has(codeOf(cause))
}

/** Returns true if the node neither accepted nor refused the connection in time. */
export function isConnectTimeout(cause: unknown): boolean {
  return codeOf(cause) === 'UND_ERR_CONNECT_TIMEOUT'
}

/** Returns the reason of a failed connection to a node, and what to change if the protocol of its URL is probably wrong. */
export function connectionProblemOf(cause: unknown): string {
  const code = codeOf(cause)
  // Messages of OpenSSL have a line end, and names of its source files.
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_'))
    return /wrong version number|packet length too long/i.test(messageOf(cause))
      ? 'the node does not respond in TLS: if it has no TLS, write http:// in its URL'
      : `the TLS connection failed: ${messageOf(cause).trim().split(':').at(-2) ?? code}`
  if (UNKNOWN_AUTHORITY.has(code))
    return 'the certificate of the node is not signed by a known authority: name its authority in tls.ca'
  return HANGS_UP.has(code)
    ? `${messageOf(cause)}: if the node expects TLS, write https:// in its URL`
    : messageOf(cause)
}

/** Codes of a connection that the other side ends at the first bytes of a request. */
const HANGS_UP: ReadonlySet<string> = new Set(['ECONNRESET', 'UND_ERR_SOCKET'])

const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

const OURS: ReadonlySet<string> = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_CLOSED', 'UND_ERR_DESTROYED'])

/** Returns false if another node would not help: for a deadline of the gateway, or a request that undici refuses to write. */
export function isOfTheNode(cause: Error): boolean {
  return !(cause instanceof GatewayError) && !OURS.has(codeOf(cause))
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
}
