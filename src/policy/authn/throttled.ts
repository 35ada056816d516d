import { GatewayError } from '../../errors.ts'

/** Returns the refusal of an authentication attempt. @param afterMs when to try again. It is sent in whole seconds, at least one */
export function throttled(afterMs: number): GatewayError {
  return new GatewayError('GW_THROTTLED', { retryAfterSeconds: Math.max(1, Math.ceil(afterMs / 1_000)) })
}

/** Returns whether an error is such a refusal. */
export function isThrottled(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'GW_THROTTLED'
}

/** Resolves to the result of an attempt. Calls `onThrottled` if the attempt was refused with GW_THROTTLED. */
export async function outcomeOf<T>(attempt: Promise<T>, onThrottled: () => void): Promise<T> {
  try {
    return await attempt
  } catch (cause) {
    if (isThrottled(cause)) onThrottled()
    throw cause
  }
}
