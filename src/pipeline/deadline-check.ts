import type { ReceivedRequest } from './context.ts'
import { GatewayError, operatorText } from '../errors.ts'

/**
 * Returns a function that a decision with many requests calls to check whether it should continue. `withinMs` begins with this
 * call.
 * @throws GatewayError from the returned function: GW_BAD_REQUEST if the client has disconnected, GW_UPSTREAM_TIMEOUT if the time
 *   is over
 */
export function createDeadlineCheck({ raw }: ReceivedRequest, withinMs: number): () => void {
  const endsAtMs = performance.now() + withinMs
  return function checkDeadline() {
    // No client receives this error.
    if (raw.socket.destroyed)
      throw new GatewayError('GW_BAD_REQUEST', { message: operatorText`The client has disconnected` })
    if (performance.now() > endsAtMs)
      throw new GatewayError('GW_UPSTREAM_TIMEOUT', {
        message: operatorText`The lookups for this request took too long`,
      })
  }
}
