// The values of GEP-3388: in the long run a failing node adds a fifth to the load of the others, plus ten requests per second.
const REQUESTS_PER_REPEAT = 5
const REPEATS_PER_SECOND = 10

/** Limits how many sent requests may be retried. Without the limit, a node that fails half of its requests doubles the load of the others. */
export interface RetryBudget {
  deposit(): void
  withdraw(): boolean
}

/** Creates a budget of `burst` retries at once: as many as can be in flight on one node, so that no read fails when that node fails. */
export function createRetryBudget(burst: number, now: () => number): RetryBudget {
  const maxTokens = Math.max(burst, REPEATS_PER_SECOND) * REQUESTS_PER_REPEAT
  const perMs = (REPEATS_PER_SECOND * REQUESTS_PER_REPEAT) / 1000
  let tokens = maxTokens
  let refilledAtMs = now()
  return {
    deposit() {
      tokens = Math.min(maxTokens, tokens + 1)
    },
    withdraw() {
      const nowMs = now()
      tokens = Math.min(maxTokens, tokens + (nowMs - refilledAtMs) * perMs)
      refilledAtMs = nowMs
      if (tokens < REQUESTS_PER_REPEAT) return false
      tokens -= REQUESTS_PER_REPEAT
      return true
    },
  }
}
