/** The limits for the group to which requests are shifted. */
export interface ReturnLimits {
  /** How much larger its share of failed requests may be than that of the other group, from 0 to 1. */
  readonly errors: number
  /** How many times longer its reads may take on average. Null: any time. */
  readonly slower: number | null
  /** How many confirmed differences of its responses may be found within ten minutes. Null: any number. */
  readonly differences: number | null
}

export const RETURN_REASONS = ['errors', 'latency', 'differences'] as const
export type ReturnReason = (typeof RETURN_REASONS)[number]

/** One attempt to send a request to a node. */
export interface GroupAttempt {
  readonly isFailed: boolean
  /** The time until the complete response, in ms. Null for writes and long polls, whose times depend on what they execute or wait for. */
  readonly readMs: number | null
}

type Group = 'to' | 'from'

/** How long attempts count. */
const WINDOW_MS = 10_000
const SLOTS = 10
/** With fewer attempts in the window, one failure would be too large a share. */
const LEAST_ATTEMPTS = 20
/** An average below this value is never too long. */
const LEAST_MS = 100
/** How long a difference counts. Only a share of the reads is compared, so there are few of them. */
const DIFFERENCES_MS = 600_000

interface Sums {
  attempts: number
  failures: number
  reads: number
  readMs: number
}

/** Compares the failures and the times of two groups of nodes in the last ten seconds. */
export class GroupComparison {
  readonly #limits: ReturnLimits | null
  readonly #now: () => number
  #windows = { to: new RecentSums(), from: new RecentSums() }
  /** The last values of the other group with enough attempts. It may have no requests any more. */
  #usual: Sums = EMPTY
  /** When differences were found, the oldest first. */
  #differencesMs: number[] = []

  constructor(limits: ReturnLimits | null, now: () => number) {
    this.#limits = limits
    this.#now = now
  }

  clear(): void {
    this.#windows = { to: new RecentSums(), from: new RecentSums() }
    this.#differencesMs = []
  }

  /** Counts a confirmed difference between the responses of both groups. Returns the limit that the group `to` has passed, or null. */
  recordDifference(): ReturnReason | null {
    const allowed = this.#limits?.differences ?? null
    if (allowed === null) return null
    const nowMs = this.#now()
    const recent = this.#differencesMs.filter((atMs) => nowMs - atMs < DIFFERENCES_MS)
    this.#differencesMs = [...recent, nowMs].slice(-allowed - 1)
    return this.#differencesMs.length > allowed ? 'differences' : null
  }

  /** Counts an attempt. Returns the limit that the group `to` has passed, or null. */
  record(group: Group, attempt: GroupAttempt): ReturnReason | null {
    if (this.#limits === null) return null
    const sums = this.#windows[group].add(attempt, this.#now())
    if (group === 'from') {
      if (sums.attempts >= LEAST_ATTEMPTS) this.#usual = { ...sums }
      return null
    }
    return sums.attempts < LEAST_ATTEMPTS ? null : this.#passedLimit(sums, this.#limits)
  }

  #passedLimit(sums: Sums, { errors, slower }: ReturnLimits): ReturnReason | null {
    if (failedShareOf(sums) - failedShareOf(this.#usual) > errors) return 'errors'
    if (slower === null || sums.reads < LEAST_ATTEMPTS || this.#usual.reads === 0) return null
    const allowedMs = Math.max(LEAST_MS, slower * averageMsOf(this.#usual))
    return averageMsOf(sums) > allowedMs ? 'latency' : null
  }
}

const EMPTY: Sums = { attempts: 0, failures: 0, reads: 0, readMs: 0 }

function failedShareOf({ attempts, failures }: Sums): number {
  return attempts === 0 ? 0 : failures / attempts
}

function averageMsOf({ reads, readMs }: Sums): number {
  return readMs / Math.max(1, reads)
}

/** The sums of the last ten seconds, in slots of one second. */
class RecentSums {
  readonly #slots: Sums[] = Array.from({ length: SLOTS }, () => ({ ...EMPTY }))
  readonly #sums: Sums = { ...EMPTY }
  #slot = 0

  /** Counts an attempt and returns the sums with it. */
  add({ isFailed, readMs }: GroupAttempt, nowMs: number): Sums {
    this.#forget(Math.floor(nowMs / (WINDOW_MS / SLOTS)))
    for (const sums of [this.#sums, this.#slots[this.#slot % SLOTS]]) {
      if (sums === undefined) continue
      sums.attempts += 1
      sums.failures += Number(isFailed)
      sums.reads += Number(readMs !== null)
      sums.readMs += readMs ?? 0
    }
    return this.#sums
  }

  #forget(slot: number): void {
    for (let old = Math.max(this.#slot + 1, slot - SLOTS + 1); old <= slot; old += 1) {
      const sums = this.#slots[old % SLOTS]
      if (sums === undefined) continue
      this.#sums.attempts -= sums.attempts
      this.#sums.failures -= sums.failures
      this.#sums.reads -= sums.reads
      this.#sums.readMs -= sums.readMs
      Object.assign(sums, EMPTY)
    }
    this.#slot = Math.max(this.#slot, slot)
  }
}
