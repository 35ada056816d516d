import { type RefusalText, type OperatorText, operatorText, GatewayError } from '../errors.ts'
import { isRecord } from './value.ts'

/** A request of the gateway itself. The path is below the engine's base path. */
export interface EngineRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** Whether the request only reads, and may be repeated. Default: true for GET only. */
  readonly isRead?: boolean
  /** A longer response is an error. */
  readonly limitBytes: number
  /** Timeout for the head of the response, in milliseconds. Default: as for every request. */
  readonly headersMs?: number
}

export interface EngineResponse {
  readonly status: number
  readonly body: Buffer
}

/**
 * Sends a request of the gateway itself to the engine.
 * @throws GatewayError if the engine does not respond
 */
export type AskEngine = (request: EngineRequest) => Promise<EngineResponse>

/**
 * Returns the JSON of a response with status 200.
 * @throws GatewayError GW_UPSTREAM_INVALID for any other response
 */
export function jsonOf(response: EngineResponse, what: OperatorText): unknown {
  return jsonIn(okBodyOf(response, what), what)
}

/**
 * Returns the body of a response with status 200.
 * @throws GatewayError GW_UPSTREAM_INVALID for any other response
 */
export function okBodyOf({ status, body }: EngineResponse, what: OperatorText): Buffer {
  if (status !== 200)
    throw invalidResponse(operatorText`The engine responded to ${what} with status ${status}`)
  return body
}

const THE_REQUEST = operatorText`the request`

/**
 * Parses the body of an engine's response.
 * @throws GatewayError GW_UPSTREAM_INVALID if it is not JSON
 */
export function jsonIn(body: Buffer, what = THE_REQUEST): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw invalidResponse(operatorText`The engine's response to ${what} is not JSON`, cause)
  }
}

/**
 * Returns the number of an engine's response to a count.
 * @throws GatewayError GW_UPSTREAM_INVALID if the response is not a count
 */
export function countIn(response: unknown): number {
  const count = isRecord(response) ? response['count'] : null
  if (typeof count !== 'number') throw new GatewayError('GW_UPSTREAM_INVALID')
  return count
}

export function invalidResponse(message: RefusalText, cause?: unknown): GatewayError {
  return new GatewayError('GW_UPSTREAM_INVALID', { message, cause })
}
