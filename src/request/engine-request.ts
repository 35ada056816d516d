import { GatewayError } from '../errors.ts'

/** A request of the gateway's own, below the engine's base path. */
export interface EngineRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** Whether it only reads and may be repeated. Default: a GET may, a POST may not. */
  readonly isRead?: boolean
  /** A longer answer is an error. */
  readonly limitBytes: number
  /** How long the answer's head may take; default: as for every request. */
  readonly headersMs?: number
}

export interface EngineAnswer {
  readonly status: number
  readonly body: Buffer
}

/** Asks the engine on the gateway's own behalf. @throws GatewayError when no answer comes */
export type AskEngine = (request: EngineRequest) => Promise<EngineAnswer>

/** The JSON of an answer that must be a 200. @throws GatewayError GW_UPSTREAM_INVALID on any other */
export function jsonOf({ status, body }: EngineAnswer, what: string): unknown {
  if (status !== 200) throw invalidAnswer(`The engine answered ${what} with ${status}`)
  return jsonIn(body, what)
}

/** What stands in an engine's answer. @throws GatewayError GW_UPSTREAM_INVALID where it is no JSON */
export function jsonIn(body: Buffer, what = 'the request'): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw invalidAnswer(`The engine answered ${what} with something that is no JSON`, cause)
  }
}

export function invalidAnswer(message: string, cause?: unknown): GatewayError {
  return new GatewayError('GW_UPSTREAM_INVALID', { message, cause })
}
