// Ten repeats a second and one for every five requests (the figures of GEP-3388): a failing node then costs its
// siblings at most a fifth more. Unspent repeats are kept up to this many.
const REQUESTS_PER_REPEAT = 5
const REPEATS_PER_SECOND = 10
const MOST_REPEATS = 50

/** How many sent requests may be repeated: without it, a node that fails half of them doubles the load of the rest. */
export interface Budget {
  earn(): void
  spend(): boolean
}

export function createBudget(now: () => number): Budget {
  const most = MOST_REPEATS * REQUESTS_PER_REPEAT
  const perMs = (REPEATS_PER_SECOND * REQUESTS_PER_REPEAT) / 1000
  let left = REPEATS_PER_SECOND * REQUESTS_PER_REPEAT
  let paidAtMs = now()
  return {
    earn() {
      left = Math.min(most, left + 1)
    },
    spend() {
      const nowMs = now()
      left = Math.min(most, left + (nowMs - paidAtMs) * perMs)
      paidAtMs = nowMs
      if (left < REQUESTS_PER_REPEAT) return false
      left -= REQUESTS_PER_REPEAT
      return true
    },
  }
}
