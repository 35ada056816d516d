import { hash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { type Answer, type Ask, type GatewayOptions, type OpenGateway, openGateway } from './open-gateway.ts'

export const START = 'POST /process-definition/key/review/start'
export const JSON_TYPE = { 'content-type': 'application/json' }

/** Returns a request with an idempotency key. */
export function keyed(key: string, body: unknown = {}, headers = {}): Ask {
  return { body, headers: { 'idempotency-key': key, ...headers } }
}

/** Returns the status and the gateway's error code, for example `502 GW_OUTCOME_UNKNOWN`. */
export function codeOf({ status, headers }: Answer): string {
  return `${status} ${headers['x-gateway-error']}`
}

/**
 * Opens a gateway whose idempotency keys have the test's own namespace. Its client repeats a request if Redis was late:
 * nothing has been sent to the engine then.
 */
export async function openKeyed(t: Test, redis: string, options?: GatewayOptions): Promise<OpenGateway> {
  const gateway = await openKeyedOnce(t, redis, options)
  return { ...gateway, ask: (...question) => askUntilClaimed(gateway.ask, ...question) }
}

/** Repeats a request while the gateway reports Redis as unavailable. A Redis that gets no CPU time for a moment counts as unavailable. */
export async function askUntilClaimed(
  ask: OpenGateway['ask'],
  ...question: Parameters<OpenGateway['ask']>
): Promise<Answer> {
  for (;;) {
    const said = await ask(...question)
    if (codeOf(said) !== '503 GW_IDEMPOTENCY_UNAVAILABLE') return said
  }
}

/** Opens the same gateway with a client that sends each request once. */
export function openKeyedOnce(t: Test, redis: string, options: GatewayOptions = {}): Promise<OpenGateway> {
  const idempotency = { namespace: hash('sha256', t.name) }
  return openGateway(t, { ...options, settings: { cache: { redis }, idempotency, ...options.settings } })
}

/** Opens the same gateway in front of an engine whose responses the test defines. */
export function openBefore(
  t: Test,
  redis: string,
  answer: (response: ServerResponse) => void,
  options: GatewayOptions = {},
): Promise<OpenGateway> {
  return openKeyed(t, redis, {
    ...options,
    engine: (_request, response) => answer(response),
    settings: { health: { probe: false }, ...options.settings },
  })
}
