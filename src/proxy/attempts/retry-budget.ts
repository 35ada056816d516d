// The figures of GEP-3388: in the long run a failing node costs its siblings a fifth more, and ten a second.
const REQUESTS_PER_REPEAT = 5
const REPEATS_PER_SECOND = 10

/** How many sent requests may be repeated: without it, a node that fails half of them doubles the load of the rest. */
export interface Budget {
  earn(): void
  spend(): boolean
}

/** `burst` repeats may come at once: as many as can be under way on a node, so that one that dies costs no read. */
export function createBudget(burst: number, now: () => number): Budget {
  const most = Math.max(burst, REPEATS_PER_SECOND) * REQUESTS_PER_REPEAT
  const perMs = (REPEATS_PER_SECOND * REQUESTS_PER_REPEAT) / 1000
  let left = most
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
