import { LRUCache } from 'lru-cache'
import { GatewayError } from '../../errors.ts'

/** The rate of one principal. */
export interface Rate {
  readonly requests: number
  /** The period, over which the requests are spread evenly. */
  readonly perMs: number
  /** The number of requests that a principal may send at once after it was idle. */
  readonly burst: number
}

/** The result of one request. */
export interface RateState {
  readonly admitted: boolean
  /** The time until the full burst is available again. */
  readonly debtMs: number
}

/** Tolerance for sums of fractions of a millisecond. */
const ROUNDING_MS = 0.001

/**
 * Applies the generic cell rate algorithm (GCRA). It stores one number for each principal: the time at which the full burst
 * is available again. A refused request costs nothing.
 */
export function consume(rate: Rate, debtMs: number): RateState {
  // After a change of the rate, the debt is at most the new burst.
  const owed = Math.min(Math.max(debtMs, 0), fullMs(rate))
  const after = owed + intervalMs(rate)
  return after <= fullMs(rate) + ROUNDING_MS
    ? { admitted: true, debtMs: after }
    : { admitted: false, debtMs: owed }
}

/** Returns the headers of draft-ietf-httpapi-ratelimit-headers: the remaining requests, and the seconds until the full burst is available again. */
export function rateHeadersOf(rate: Rate, { debtMs }: RateState): Readonly<Record<string, string>> {
  const left = Math.max(0, Math.floor((fullMs(rate) - debtMs + ROUNDING_MS) / intervalMs(rate)))
  return {
    'ratelimit-policy': `"default";q=${rate.requests};w=${rate.perMs / 1000}`,
    ratelimit: `"default";r=${left};t=${Math.ceil(debtMs / 1000)}`,
  }
}

/** Returns the error for a refused request, with the time at which the next one will be admitted. */
export function rateLimited(rate: Rate, { debtMs }: RateState): GatewayError {
  const waitMs = debtMs + intervalMs(rate) - fullMs(rate)
  return new GatewayError('GW_RATE_LIMITED', { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) })
}

export function intervalMs({ perMs, requests }: Rate): number {
  return perMs / requests
}

function fullMs(rate: Rate): number {
  return intervalMs(rate) * rate.burst
}

/** The GCRA state of each principal, in this process. */
export interface GcraLimiter {
  readonly consume: (principal: string, rate: Rate) => RateState
  /** Replaces the state of a principal by that of the store that all replicas share. */
  readonly replace: (principal: string, spent: RateState) => void
}

interface GcraLimiterOptions {
  /**
   * The number of principals that are stored; default 100,000. The principal that was idle for the longest time is removed
   * first, and then has its full burst again.
   */
  readonly max?: number
  /** Monotonic milliseconds; default performance.now. */
  readonly now?: () => number
}

export function createGcraLimiter({
  max = 100_000,
  now = () => performance.now(),
}: GcraLimiterOptions = {}): GcraLimiter {
  // The option `max` would allocate all entries at once: 2.7 MB.
  const paidAt = new LRUCache<string, number>({ maxSize: max, sizeCalculation: () => 1 })

  function store(principal: string, { debtMs }: RateState): void {
    paidAt.set(principal, now() + debtMs)
  }

  return {
    replace: store,
    consume: (principal, rate) => {
      const spent = consume(rate, (paidAt.peek(principal) ?? 0) - now())
      store(principal, spent)
      return spent
    },
  }
}

/** The headers for a caller with a limit, and the refusal that ends the request. */
export interface RateResult {
  readonly headers: Readonly<Record<string, string>>
  /** Null if the request continues. */
  readonly refusal: GatewayError | null
}

/** A rate of a rule, with the name of the counter for it. */
export interface CountedRate {
  readonly rate: Rate
  readonly counter: string
}

/** Returns null if this user has no limit. `rule` is the rate of a rule that replaces the rate of the user, and has a counter of its own. */
export type TakeRate = (userId: string, rule?: CountedRate | null) => RateResult | Promise<RateResult> | null

interface TakeRateOptions {
  readonly engine: string
  /** Returns null if there is no limit. */
  readonly rateOf: (userId: string) => Rate | null
  readonly limiter: GcraLimiter
  /** Consumes a request of the state that all replicas share. Resolves to null if the state is unavailable now. Never rejects. */
  readonly shared: ((principal: string, rate: Rate) => Promise<RateState | null>) | null
}

/** Creates a function that consumes one request of a user of one engine. */
export function createTakeRate({ engine, rateOf, limiter, shared }: TakeRateOptions): TakeRate {
  return function takeRate(userId, rule = null) {
    const rate = rule?.rate ?? rateOf(userId)
    if (rate === null) return null
    const principal = rule === null ? `${engine} ${userId}` : `${engine} ${rule.counter} ${userId}`
    if (shared === null) return takenOf(rate, limiter.consume(principal, rate))
    return shared(principal, rate).then((spent) => {
      if (spent === null) return takenOf(rate, limiter.consume(principal, rate))
      limiter.replace(principal, spent)
      return takenOf(rate, spent)
    })
  }
}

function takenOf(rate: Rate, spent: RateState): RateResult {
  return {
    headers: rateHeadersOf(rate, spent),
    refusal: spent.admitted ? null : rateLimited(rate, spent),
  }
}
