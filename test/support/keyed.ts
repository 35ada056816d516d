import type { ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { type Answer, type Ask, type GatewayOptions, type OpenGateway, openGateway } from './open-gateway.ts'

export const START = 'POST /process-definition/key/review/start'
export const JSON_TYPE = { 'content-type': 'application/json' }

/** A request with a key of the client's own. */
export function keyed(key: string, body: unknown = {}, headers = {}): Ask {
  return { body, headers: { 'idempotency-key': key, ...headers } }
}

/** `502 GW_OUTCOME_UNKNOWN` */
export function codeOf({ status, headers }: Answer): string {
  return `${status} ${headers['x-gateway-error']}`
}

/** A gateway whose keys are the test's own, and whose caller asks again where Redis was late: nothing is sent then. */
export async function openKeyed(t: Test, redis: string, options?: GatewayOptions): Promise<OpenGateway> {
  const gateway = await openKeyedOnce(t, redis, options)
  return { ...gateway, ask: (...question) => askUntilClaimed(gateway.ask, ...question) }
}

/** A Redis that has no processor time for a moment is away. */
export async function askUntilClaimed(
  ask: OpenGateway['ask'],
  ...question: Parameters<OpenGateway['ask']>
): Promise<Answer> {
  for (;;) {
    const said = await ask(...question)
    if (codeOf(said) !== '503 GW_IDEMPOTENCY_UNAVAILABLE') return said
  }
}

/** The same, whose caller asks once. */
export function openKeyedOnce(t: Test, redis: string, options: GatewayOptions = {}): Promise<OpenGateway> {
  const idempotency = { namespace: t.name.replace(/[^\w.-]+/g, '-').slice(-64) }
  return openGateway(t, { ...options, settings: { cache: { redis }, idempotency, ...options.settings } })
}

/** The same before an engine that answers as the test says. */
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
