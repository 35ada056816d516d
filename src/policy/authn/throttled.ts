import { GatewayError } from '../../errors.ts'

/** The refusal of an attempt to authenticate. @param afterMs when to try again; sent in whole seconds, at least one */
export function throttled(afterMs: number): GatewayError {
  return new GatewayError('GW_THROTTLED', { retryAfterSeconds: Math.max(1, Math.ceil(afterMs / 1_000)) })
}

/** The outcome of an attempt; `onThrottled` is told where it was refused so. */
export async function outcomeOf<T>(attempt: Promise<T>, onThrottled: () => void): Promise<T> {
  try {
    return await attempt
  } catch (cause) {
    if (cause instanceof GatewayError && cause.code === 'GW_THROTTLED') onThrottled()
    throw cause
  }
}
