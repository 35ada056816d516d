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
  /** The id of the operation. Undefined for a request of the gateway itself. */
  readonly operation: string | undefined
  readonly isFailed: boolean
  /** The time until the complete response, in ms. Null for writes and long polls, whose times depend on what they execute or wait for. */
  readonly readMs: number | null
}

type Group = 'to' | 'from'

interface Window {
  /** How long attempts count. */
  readonly ms: number
  /** With fewer attempts in the window, one failure would be too large a share. */
  readonly leastAttempts: number
}

const OF_ALL: Window = { ms: 10_000, leastAttempts: 20 }
/** Longer, because an operation such as the start of an instance may be rare. */
const OF_ONE_OPERATION: Window = { ms: 60_000, leastAttempts: 10 }
/** A single operation has few attempts, so its share of failures must be larger by more than this value. */
const MOST_FAILURES_OF_ONE_OPERATION = 0.5
const SLOTS = 10
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

/** Compares the recent failures and times of two groups of nodes: of all operations together, and the failures of each operation. */
export class GroupComparison {
  readonly #limits: ReturnLimits | null
  readonly #now: () => number
  readonly #all = new ComparedSums(OF_ALL)
  /** By the id of the operation. */
  readonly #operations = new Map<string, ComparedSums>()
  /** When differences were found, the oldest first. */
  #differencesMs: number[] = []

  constructor(limits: ReturnLimits | null, now: () => number) {
    this.#limits = limits
    this.#now = now
  }

  clear(): void {
    this.#all.clear()
    for (const sums of this.#operations.values()) sums.clear()
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
    const nowMs = this.#now()
    const { errors } = this.#limits
    const all = this.#all.add(group, attempt, nowMs)
    const one = this.#sumsOf(attempt.operation)?.add(group, attempt, nowMs) ?? null
    if (one !== null && moreFailuresOf(one) > Math.max(errors, MOST_FAILURES_OF_ONE_OPERATION))
      return 'errors'
    if (all === null) return null
    if (moreFailuresOf(all) > errors) return 'errors'
    return isSlower(all, this.#limits.slower) ? 'latency' : null
  }

  #sumsOf(operation: string | undefined): ComparedSums | null {
    if (operation === undefined) return null
    const known = this.#operations.get(operation)
    if (known !== undefined) return known
    const sums = new ComparedSums(OF_ONE_OPERATION)
    this.#operations.set(operation, sums)
    return sums
  }
}

interface GroupSums {
  readonly sums: Sums
  /** The last values of the other group for which it had enough attempts. The other group may no longer get requests. */
  readonly usual: Sums
}

function moreFailuresOf({ sums, usual }: GroupSums): number {
  return failedShareOf(sums) - failedShareOf(usual)
}

function isSlower({ sums, usual }: GroupSums, slower: number | null): boolean {
  if (slower === null || sums.reads < OF_ALL.leastAttempts || usual.reads === 0) return false
  return averageMsOf(sums) > Math.max(LEAST_MS, slower * averageMsOf(usual))
}

const EMPTY: Sums = { attempts: 0, failures: 0, reads: 0, readMs: 0 }

function failedShareOf({ attempts, failures }: Sums): number {
  return attempts === 0 ? 0 : failures / attempts
}

function averageMsOf({ reads, readMs }: Sums): number {
  return readMs / Math.max(1, reads)
}

/** The sums of both groups. */
class ComparedSums {
  readonly #window: Window
  #to: RecentSums
  #from: RecentSums
  #usual: Sums = EMPTY

  constructor(window: Window) {
    this.#window = window
    this.#to = new RecentSums(window.ms)
    this.#from = new RecentSums(window.ms)
  }

  clear(): void {
    this.#to = new RecentSums(this.#window.ms)
    this.#from = new RecentSums(this.#window.ms)
  }

  /** Counts an attempt. Returns null for an attempt of `from`, and as long as `to` has too few attempts. */
  add(group: Group, attempt: GroupAttempt, nowMs: number): GroupSums | null {
    const sums = (group === 'to' ? this.#to : this.#from).add(attempt, nowMs)
    if (sums.attempts < this.#window.leastAttempts) return null
    if (group === 'to') return { sums, usual: this.#usual }
    this.#usual = { ...sums }
    return null
  }
}

/** The sums of the attempts in a window, in slots of a tenth of the window. */
class RecentSums {
  readonly #slotMs: number
  readonly #slots: Sums[] = Array.from({ length: SLOTS }, () => ({ ...EMPTY }))
  readonly #sums: Sums = { ...EMPTY }
  #slot = 0

  constructor(windowMs: number) {
    this.#slotMs = windowMs / SLOTS
  }

  /** Counts an attempt and returns the sums with it. */
  add({ isFailed, readMs }: GroupAttempt, nowMs: number): Sums {
    this.#forget(Math.floor(nowMs / this.#slotMs))
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
