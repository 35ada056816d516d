import { LRUCache } from 'lru-cache'

/** The time in which the cost of a request counts half. */
const HALF_LIFE_MS = 2000
/** The bytes of a body that cost as much time as a request without a body. */
const BYTES_OF_REQUEST = 3 * 1024
/** The number of callers that are counted. The cost of the caller that sent nothing for the longest time is removed first. */
const MAX_CALLERS = 1000
/** A caller with a lower cost has sent nothing for a while. It does not count for the mean. */
const MIN_COST = 0.5
/** The bound when callers are first bounded, and the lowest bound, as multiples of the mean cost. */
const FIRST_BOUND = 2
const LOWEST_BOUND = 0.75
/** The factors by which the bound changes at each measurement. */
const TIGHTER = 0.5
const LOOSER = 1.2

/**
 * The recent cost of each caller's requests, and a bound on it while the process is overloaded. Callers above the bound are
 * refused, so the callers that cause most of the load are refused first.
 */
export interface CallerShares {
  /** Counts a request of the caller with a body of `bytes`. Returns false, and does not count it, if the caller is above the bound. */
  readonly take: (caller: string, bytes: number) => boolean
  /** Lowers the bound, or sets the first one. */
  readonly tighten: () => void
  /** Raises the bound, or removes it if no request was refused since the last change. */
  readonly loosen: () => void
}

interface CallerCost {
  cost: number
  atMs: number
}

/** Creates the costs of one process. `now` returns monotonic milliseconds. */
export function createCallerShares(now: () => number): CallerShares {
  const callers = new LRUCache<string, CallerCost>({ max: MAX_CALLERS })
  let bound = Infinity
  let hasRefused = false

  function meanCost(): number {
    const nowMs = now()
    const costs = [...callers.values()].map((one) => costAt(one, nowMs)).filter((cost) => cost >= MIN_COST)
    return costs.length === 0 ? 0 : costs.reduce((sum, cost) => sum + cost, 0) / costs.length
  }

  return {
    take: (caller, bytes) => {
      const nowMs = now()
      const known = callers.get(caller)
      const cost = known === undefined ? 0 : costAt(known, nowMs)
      if (cost > bound) {
        hasRefused = true
        return false
      }
      const counted = known ?? { cost: 0, atMs: 0 }
      counted.cost = cost + 1 + bytes / BYTES_OF_REQUEST
      counted.atMs = nowMs
      if (known === undefined) callers.set(caller, counted)
      return true
    },
    tighten: () => {
      const mean = meanCost()
      bound = bound === Infinity ? FIRST_BOUND * mean : Math.max(bound * TIGHTER, LOWEST_BOUND * mean)
    },
    loosen: () => {
      // Without the minimum, a bound of zero would stay zero.
      bound = hasRefused ? Math.max(bound, MIN_COST) * LOOSER : Infinity
      hasRefused = false
    },
  }
}

function costAt({ cost, atMs }: CallerCost, nowMs: number): number {
  return cost * 2 ** ((atMs - nowMs) / HALF_LIFE_MS)
}
