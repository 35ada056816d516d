import type { FastifyRequest } from 'fastify'
import { GatewayError } from '../errors.ts'

/**
 * Tells a decision that takes many requests whether to go on. `withinMs` is counted from here.
 * @throws GatewayError from what is returned: GW_BAD_REQUEST when the client has left, GW_UPSTREAM_TIMEOUT when the time is over
 */
export function createStillAwaited({ raw }: FastifyRequest, withinMs: number): () => void {
  const endsAtMs = performance.now() + withinMs
  return function stillAwaited() {
    // Nobody hears this.
    if (raw.socket.destroyed) throw new GatewayError('GW_BAD_REQUEST', { message: 'The client has left' })
    if (performance.now() > endsAtMs)
      throw new GatewayError('GW_UPSTREAM_TIMEOUT', {
        message: 'The look-ups for this request took too long',
      })
  }
}
