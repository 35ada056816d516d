import { setTimeout as wait } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { createInFlight } from './throttle.ts'
import { throttled } from './throttled.ts'
import { foldedName } from '../../request/same-name.ts'

export interface LockoutOptions {
  /**
   * The number of wrong passwords of one user that may reach the engine, from 1 to 4. Default: 4. After that, one password reaches
   * the engine in each pause. After twice as many failures in a row, only credentials that were correct before reach it. Danger:
   * replicas that share no Redis count separately, and the engine locks a user permanently after ten failures.
   */
  readonly maxFailures?: number
  /** How long no guess reaches the engine after the limit. Default: 300,000 ms. */
  readonly pauseMs?: number
  /** The number of counted users. Default: 10,000. The user whose last failure is the oldest is removed first. */
  readonly maxCounted?: number
  /** The monotonic clock, in milliseconds. Default: performance.now. */
  readonly now?: () => number
  /** The number of attempts that may wait for the end of the engine's lock. Default: 64. Further attempts get 429. */
  readonly maxPatient?: number
  readonly delay?: (ms: number) => Promise<unknown>
  /** Receives the outcomes of this process, for the other replicas. */
  readonly onOutcome?: (outcome: LoginOutcome, user: string) => void
}

/** The outcome of a login. `renewed`: correct, as before. It resets the engine's count, but guesses from other clients are still slowed down. */
export type LoginOutcome = 'failed' | 'succeeded' | 'renewed'

export interface LockoutAttempt {
  readonly user: string
  /** The origin of the attempt: an address, or the network of one subscriber. */
  readonly from: string
  /** True if the credential was correct before. It is then refused only while the engine would refuse even the right password. */
  readonly proven: boolean
}

/** Tracks the failed logins that an engine counts for its users. */
export interface Lockout {
  /**
   * Waits until the engine's lock of the user ends, if it ends soon and no attempt from this origin has failed. The engine would refuse
   * the right password until then. Soon is the length of the engine's first lock: of a longer lock, only the last part is awaited.
   */
  readonly waitForUnlock: (who: LockoutAttempt) => Promise<void>
  /** Calls `ask`, unless the engine would refuse any password or has refused too many. @throws GatewayError GW_THROTTLED */
  readonly attempt: (who: LockoutAttempt, ask: () => Promise<boolean>) => Promise<boolean>
  /** Applies an outcome of another replica. Returns false if it changes nothing. */
  readonly count: (outcome: LoginOutcome, user: string) => boolean
}

/** Creates a lockout that keeps wrong passwords from the engine. The engine's own lock would affect the real user, permanently after ten failures. */
export function createLockout(options: LockoutOptions = {}): Lockout {
  const { maxPatient = 64, delay = wait } = options
  const counts = new FailureCounts(options)
  const guesses = createInFlight()
  let patient = 0
  return {
    waitForUnlock: async ({ user, from, proven }) => {
      if (proven || patient >= maxPatient || !counts.isUnsuspected(from)) return
      const lockedMs = counts.lockedMsOf(foldedName(user))
      if (lockedMs <= 0 || lockedMs > MAX_PATIENCE_MS) return
      patient += 1
      try {
        await delay(Math.ceil(lockedMs) + EARLY_TIMER_MS)
      } finally {
        patient -= 1
      }
    },
    attempt: async ({ user, from, proven }, ask) => {
      const key = foldedName(user)
      const before = counts.refuse(key, { from, proven })
      // Only one guess runs at a time, because several simultaneous failures would lock the user for longer.
      if (!proven && guesses.of(key) > 0) throw throttled(1_000)
      if (!proven) guesses.enter(key)
      try {
        counts.begin(key, proven)
        const right = await ask()
        // If a guess failed in the meantime, it may be the only reason for the engine's refusal.
        if (!right && proven && counts.get(key) !== before) counts.refuse(key, { from, proven })
        const outcome = outcomeOf(right, proven)
        if (!right) counts.suspect(from)
        if (counts.add(key, outcome)) options.onOutcome?.(outcome, user)
        return right
      } finally {
        if (!proven) guesses.leave(key)
      }
    },
    count: (outcome, user) => counts.add(foldedName(user), outcome),
  }
}

function outcomeOf(right: boolean, proven: boolean): LoginOutcome {
  if (!right) return 'failed'
  return proven ? 'renewed' : 'succeeded'
}

interface FailureCount {
  /** The failures in a row, as the engine counts them. */
  readonly failures: number
  /** The same as `failures`, but not reset by a credential that was correct before. */
  readonly guesses: number
  readonly lastAt: number
  /** The time until which the engine itself refuses every request of the user. */
  readonly lockedUntil: number
  /** The time until which no further attempt from an unsuspected origin passes the pause. */
  readonly exemptAt: number
}

type Guess = Pick<LockoutAttempt, 'from' | 'proven'>

// The engine locks a user for 3 s after the first failure. It doubles the time with each further failure, up to 60 s.
const FIRST_LOCK_MS = 3_000
const MAX_LOCK_MS = 60_000
/** A margin for engines whose database rounds times. */
const MARGIN_MS = 250
/** A timer of Node.js may end up to this much too early, and the attempt would then be refused instead of verified. */
const EARLY_TIMER_MS = 1
/** The longest wait of an attempt from an unsuspected origin: the length of the engine's first lock. */
const MAX_PATIENCE_MS = FIRST_LOCK_MS + MARGIN_MS
/** The number of origins that are remembered because an attempt from them failed. The origin that failed longest ago is dropped first. */
const MAX_SUSPECTS = 10_000

class FailureCounts {
  readonly #options: Required<Pick<LockoutOptions, 'maxFailures' | 'pauseMs' | 'now'>>
  readonly #counts: LRUCache<string, FailureCount>
  /** The origins from which an attempt has failed, for any user. */
  readonly #suspects = new LRUCache<string, true>({ maxSize: MAX_SUSPECTS, sizeCalculation: () => 1 })

  constructor(options: LockoutOptions) {
    const { maxFailures = 4, pauseMs = 300_000, maxCounted = 10_000, now = () => performance.now() } = options
    this.#options = { maxFailures, pauseMs, now }
    // The option `max` would allocate all entries at once.
    this.#counts = new LRUCache({ maxSize: maxCounted, sizeCalculation: () => 1 })
  }

  get(key: string): FailureCount | null {
    return this.#counts.peek(key) ?? null
  }

  isUnsuspected(from: string): boolean {
    return !this.#suspects.has(from)
  }

  suspect(from: string): void {
    this.#suspects.set(from, true)
  }

  /** Returns the time until the engine accepts a password of the user again, in milliseconds. */
  lockedMsOf(key: string): number {
    return (this.get(key)?.lockedUntil ?? 0) - this.#options.now()
  }

  /** @throws GatewayError GW_THROTTLED */
  refuse(key: string, { from, proven }: Guess): FailureCount | null {
    const { maxFailures, pauseMs, now } = this.#options
    const count = this.get(key)
    if (count === null) return null
    const { failures, lastAt, lockedUntil, exemptAt } = count
    if (now() < lockedUntil) throw throttled(lockedUntil - now())
    if (proven) return count
    if (failures >= 2 * maxFailures) throw throttled(pauseMs)
    const isExempt = now() >= exemptAt && this.isUnsuspected(from)
    if (this.#isPaused(count) && !isExempt) throw throttled(lastAt + pauseMs - now())
    return count
  }

  /** Uses up the exemption of this pause if the attempt passes only because of it. */
  begin(key: string, proven: boolean): void {
    const { pauseMs, now } = this.#options
    const count = this.get(key)
    if (proven || count === null || !this.#isPaused(count)) return
    this.#counts.set(key, { ...count, exemptAt: now() + pauseMs })
  }

  #isPaused({ failures, guesses, lastAt }: FailureCount): boolean {
    const { maxFailures, pauseMs, now } = this.#options
    return Math.max(failures, guesses) >= maxFailures && now() < lastAt + pauseMs
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

  #failed(before: FailureCount | null): FailureCount {
    const { pauseMs, now } = this.#options
    const failures = (before?.failures ?? 0) + 1
    const guesses = before !== null && now() < before.lastAt + pauseMs ? before.guesses + 1 : 1
    const lockMs = Math.min(FIRST_LOCK_MS * 2 ** (failures - 1), MAX_LOCK_MS)
    const exemptAt = before?.exemptAt ?? Number.NEGATIVE_INFINITY
    return { failures, guesses, lastAt: now(), lockedUntil: now() + lockMs + MARGIN_MS, exemptAt }
  }
}
