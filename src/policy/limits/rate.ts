import { LRUCache } from 'lru-cache'
import { GatewayError } from '../../errors.ts'

/** How much a principal may ask. */
export interface Rate {
  readonly requests: number
  /** In so many milliseconds, evenly. */
  readonly perMs: number
  /** At once, of a principal who has not asked for a while. */
  readonly burst: number
}

/** What became of one request. */
export interface RateState {
  readonly admitted: boolean
  /** Until the whole burst is there again. */
  readonly debtMs: number
}

/** For sums of fractions of a millisecond. */
const ROUNDING_MS = 0.001

/**
 * The generic cell rate algorithm: one number says all of a principal, the time until nothing is owed any more. A request
 * that is refused costs nothing.
 */
export function consume(rate: Rate, debtMs: number): RateState {
  // Under a rate that was changed meanwhile nobody owes more than the new one lends.
  const owed = Math.min(Math.max(debtMs, 0), fullMs(rate))
  const after = owed + intervalMs(rate)
  return after <= fullMs(rate) + ROUNDING_MS
    ? { admitted: true, debtMs: after }
    : { admitted: false, debtMs: owed }
}

/** draft-ietf-httpapi-ratelimit-headers: what is left, and after how many seconds all of it is there again. */
export function rateHeadersOf(rate: Rate, { debtMs }: RateState): Readonly<Record<string, string>> {
  const left = Math.max(0, Math.floor((fullMs(rate) - debtMs + ROUNDING_MS) / intervalMs(rate)))
  return {
    'ratelimit-policy': `"default";q=${rate.requests};w=${rate.perMs / 1000}`,
    ratelimit: `"default";r=${left};t=${Math.ceil(debtMs / 1000)}`,
  }
}

/** For one that was not admitted: when the next one will be. */
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

/** What each principal owes, in this process. */
export interface GcraLimiter {
  readonly consume: (principal: string, rate: Rate) => RateState
  /** What is known better elsewhere. */
  readonly replace: (principal: string, spent: RateState) => void
}

interface DebtsOptions {
  /** Principals remembered; default 100,000. Who has not asked for the longest time is forgotten first, and owes nothing. */
  readonly max?: number
  /** Monotonic milliseconds; default performance.now. */
  readonly now?: () => number
}

export function createGcraLimiter({
  max = 100_000,
  now = () => performance.now(),
}: DebtsOptions = {}): GcraLimiter {
  // `max` would take room for all of them at once: 2.7 MB.
  const paidAt = new LRUCache<string, number>({ maxSize: max, sizeCalculation: () => 1 })

  function learn(principal: string, { debtMs }: RateState): void {
    paidAt.set(principal, now() + debtMs)
  }

  return {
    replace: learn,
    consume: (principal, rate) => {
      const spent = consume(rate, (paidAt.peek(principal) ?? 0) - now())
      learn(principal, spent)
      return spent
    },
  }
}

/** What a limited caller hears, and whether it ends there. */
export interface RateResult {
  readonly told: Readonly<Record<string, string>>
  /** Null: the request goes on. */
  readonly refusal: GatewayError | null
}

/** Null: this user has no limit. */
export type TakeRate = (userId: string) => RateResult | Promise<RateResult> | null

interface TakeRateOptions {
  readonly engine: string
  /** Null: no limit. */
  readonly rateOf: (userId: string) => Rate | null
  readonly limiter: GcraLimiter
  /** What all replicas know together; null from it: now nobody knows. Never rejects. */
  readonly shared: ((principal: string, rate: Rate) => Promise<RateState | null>) | null
}

/** One request more of a user of one engine. */
export function createTakeRate({ engine, rateOf, limiter, shared }: TakeRateOptions): TakeRate {
  return function takeRate(userId) {
    const rate = rateOf(userId)
    if (rate === null) return null
    const principal = `${engine} ${userId}`
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
    told: rateHeadersOf(rate, spent),
    refusal: spent.admitted ? null : rateLimited(rate, spent),
  }
}
