import { LRUCache } from 'lru-cache'
import { createInFlight } from './throttle.ts'
import { throttled } from './throttled.ts'
import { foldedName } from '../../request/same-name.ts'

export interface LockoutOptions {
  /**
   * Wrong passwords of one user that may reach the engine, from 1 to 4; default 4. After that one in each pause, and after
   * twice as many in a row only credentials that were correct before. Danger: replicas that share no Redis count
   * separately, and the engine locks a user permanently after ten.
   */
  readonly maxFailures?: number
  /** How long no guess reaches the engine after the limit; default 300,000 ms. */
  readonly pauseMs?: number
  /** Users counted; default 10,000, the one who failed longest ago is removed first. */
  readonly maxCounted?: number
  /** Monotonic milliseconds; default performance.now. */
  readonly now?: () => number
  /** Receives the results seen here, for the replicas. */
  readonly onOutcome?: (outcome: LoginOutcome, user: string) => void
}

/** `renewed`: correct, as before. It resets the engine's count; guesses from elsewhere are still slowed down. */
export type LoginOutcome = 'failed' | 'succeeded' | 'renewed'

export interface LockoutAttempt {
  readonly user: string
  /** The credential was correct before: it waits only while the engine would refuse even the right password. */
  readonly proven: boolean
}

/** Tracks from outside what an engine counts against its users. */
export interface Lockout {
  /** Asks the engine, unless it would refuse any password or has refused too many. @throws GatewayError GW_THROTTLED */
  readonly attempt: (who: LockoutAttempt, ask: () => Promise<boolean>) => Promise<boolean>
  /** Applies a result of a replica. False: it changes nothing. */
  readonly count: (outcome: LoginOutcome, user: string) => boolean
}

/** Keeps wrong passwords from the engine. The engine's own lock would hit the real user, and be permanent after the tenth. */
export function createLockout(options: LockoutOptions = {}): Lockout {
  const counts = new Counts(options)
  const guesses = createInFlight()
  return {
    attempt: async ({ user, proven }, ask) => {
      const key = foldedName(user)
      const before = counts.refuse(key, proven)
      // One guess at a time: several simultaneous failures would lock the user for longer.
      if (!proven && guesses.of(key) > 0) throw throttled(1_000)
      if (!proven) guesses.enter(key)
      try {
        const right = await ask()
        // A guess failed meanwhile, which may be the only reason for the engine's refusal.
        if (!right && proven && counts.get(key) !== before) counts.refuse(key, proven)
        const outcome = !right ? 'failed' : proven ? 'renewed' : 'succeeded'
        if (counts.add(key, outcome)) options.onOutcome?.(outcome, user)
        return right
      } finally {
        if (!proven) guesses.leave(key)
      }
    },
    count: (outcome, user) => counts.add(foldedName(user), outcome),
  }
}

interface Count {
  /** In a row, as the engine counts them. */
  readonly failures: number
  /** As `failures`, but not reset by a credential that was correct before. */
  readonly guesses: number
  readonly lastAt: number
  /** Until then the engine itself refuses every request of the user. */
  readonly lockedUntil: number
}

// The engine locks a user for 3 s after the first failure, doubles the time with each further one, up to 60 s.
const FIRST_LOCK_MS = 3_000
const MAX_LOCK_MS = 60_000
/** For an engine whose database rounds its times. */
const MARGIN_MS = 250

class Counts {
  readonly #options: Required<Omit<LockoutOptions, 'onOutcome' | 'maxCounted'>>
  readonly #counts: LRUCache<string, Count>

  constructor(options: LockoutOptions) {
    const { maxFailures = 4, pauseMs = 300_000, maxCounted = 10_000, now = () => performance.now() } = options
    this.#options = { maxFailures, pauseMs, now }
    // `max` would take room for all of them at once.
    this.#counts = new LRUCache({ maxSize: maxCounted, sizeCalculation: () => 1 })
  }

  get(key: string): Count | null {
    return this.#counts.peek(key) ?? null
  }

  /** @throws GatewayError GW_THROTTLED */
  refuse(key: string, proven: boolean): Count | null {
    const { maxFailures, pauseMs, now } = this.#options
    const count = this.get(key)
    if (count === null) return null
    const { failures, guesses, lastAt, lockedUntil } = count
    if (now() < lockedUntil) throw throttled(lockedUntil - now())
    if (proven) return count
    if (failures >= 2 * maxFailures) throw throttled(pauseMs)
    const openAt = lastAt + pauseMs
    if (Math.max(failures, guesses) >= maxFailures && now() < openAt) throw throttled(openAt - now())
    return count
  }

  add(key: string, outcome: LoginOutcome): boolean {
    const before = this.get(key)
    if (outcome === 'succeeded') return this.#counts.delete(key)
    if (outcome === 'failed') {
      this.#counts.set(key, this.#failed(before))
      return true
    }
    if (before === null || before.failures === 0) return false
    this.#counts.set(key, { ...before, failures: 0, lockedUntil: 0 })
    return true
  }

  #failed(before: Count | null): Count {
    const { pauseMs, now } = this.#options
    const failures = (before?.failures ?? 0) + 1
    const guesses = before !== null && now() < before.lastAt + pauseMs ? before.guesses + 1 : 1
    const lockMs = Math.min(FIRST_LOCK_MS * 2 ** (failures - 1), MAX_LOCK_MS)
    return { failures, guesses, lastAt: now(), lockedUntil: now() + lockMs + MARGIN_MS }
  }
}
