import { fisherProbability, type AttemptCounts } from './fisher-test.ts'
import {
  type AttemptSums,
  type CountedAttempt,
  RecentAttempts,
  RememberedAttempts,
} from './recent-attempts.ts'

/** The limits for the group to which requests are shifted. */
export interface ReturnLimits {
  /** How much larger its share of failed requests may be than that of the other group, from 0 to 1. */
  readonly errors: number
  /** How many times longer its reads may take on average. Null: any time. */
  readonly slower: number | null
  /** How many confirmed differences of its responses may be found within ten minutes. Null: any number. */
  readonly differences: number | null
}

/** `down`: no node of the group can be used. */
export const RETURN_REASONS = ['errors', 'latency', 'differences', 'down'] as const
export type ReturnReason = (typeof RETURN_REASONS)[number]

/** Why all requests return to the other group. */
export type ReturnFinding =
  | {
      readonly reason: 'errors'
      /** The id of the operation whose requests fail. Null: all operations together. */
      readonly operation: string | null
      readonly windowMs: number
      readonly to: AttemptCounts
      readonly from: AttemptCounts
      /** How likely at least as many failures are if both groups have the same share of failures. */
      readonly probability: number
      /** The caller with the most failures. Empty: requests of the gateway itself. */
      readonly caller: string
    }
  | { readonly reason: 'latency'; readonly reads: number; readonly toMs: number; readonly fromMs: number }
  | { readonly reason: 'differences'; readonly found: number }
  | { readonly reason: 'down'; readonly rerouted: number; readonly sinceMs: number }

/** One attempt to send a request to a node. */
export interface GroupAttempt extends CountedAttempt {
  /** The id of the operation. Undefined for a request of the gateway itself. */
  readonly operation: string | undefined
}

type Group = 'to' | 'from'

/** The limits of the comparison. `test/proxy/nodes/false-returns.test.ts` shows how often they are passed without a reason. */
const COMPARED = {
  /** The windows in which failures are counted. The short one finds a fault soon, and the long one a small increase. */
  windowsMs: [60_000, 600_000],
  /** Fewer failures are no reason to return. */
  leastFailures: 5,
  /** The probability below which failures are no coincidence. It is small because it is computed after each failure, for hours. */
  probability: 1e-7,
  /** The same for the failures without those of one caller, and for the attempts of the other group in the same window. */
  weakProbability: 1e-3,
  /** As many attempts of the other group in the window show whether both groups fail equally at the moment. */
  leastConcurrent: 30,
  /** A group with fewer remembered attempts is assumed to have had this many, the missing ones without a failure. */
  leastRemembered: 100,
  /** The shortest time between two tests of an operation. */
  testEveryMs: 10,
  readsMs: 10_000,
  leastReads: 20,
  /** An average below this value is never too long. */
  leastReadMs: 100,
  /** How long no times are compared after the shares have changed: caches and compilers of the group are cold. */
  coldMs: 30_000,
  /** How long a difference counts. Only a share of the reads is compared, so there are few of them. */
  differencesMs: 600_000,
  /** A caller counts as the only one if no other caller sent a request for as long. */
  onlyCallerMs: 600_000,
} as const

/** The attempts of one operation, or of all operations. */
class Compared {
  readonly to = new RecentAttempts()
  readonly from = new RecentAttempts()
  testedAtMs = -Infinity
}

/** The attempts of the other group over a long time, by the id of the operation, and of all operations. */
export class GroupMemory {
  readonly all = new RememberedAttempts()
  readonly #operations = new Map<string, RememberedAttempts>()

  of(operation: string): RememberedAttempts {
    const known = this.#operations.get(operation) ?? new RememberedAttempts()
    this.#operations.set(operation, known)
    return known
  }

  add(attempt: GroupAttempt): void {
    this.all.add(attempt)
    if (attempt.operation !== undefined) this.of(attempt.operation).add(attempt)
  }
}

/**
 * Compares the failures and times of two groups of nodes: of all operations together, and the failures of each operation.
 *
 * Failures of a client that fails at every engine must not return the requests of all clients. Therefore the failures of the group are
 * compared with those of the other group by Fisher's exact test, and must be significant without the most frequent caller too.
 */
export class GroupComparison {
  readonly memory: GroupMemory
  readonly #limits: ReturnLimits | null
  readonly #now: () => number
  readonly #all = new Compared()
  /** By the id of the operation. */
  readonly #operations = new Map<string, Compared>()
  /** When differences were found, the oldest first. */
  #differencesMs: number[] = []
  #clearedAtMs: number
  /** Null before the first request. */
  #caller: string | null = null
  /** When a caller other than `#caller` last sent a request. */
  #otherCallerMs = -Infinity

  /** @param memory the attempts of the other group before this comparison */
  constructor(limits: ReturnLimits | null, now: () => number, memory = new GroupMemory()) {
    this.#limits = limits
    this.#now = now
    this.memory = memory
    this.#clearedAtMs = now()
  }

  /** Forgets the recent attempts, so that those of both groups are from the same time. The memory of the other group remains. */
  clear(): void {
    this.#clearedAtMs = this.#now()
    for (const { to, from } of [this.#all, ...this.#operations.values()]) {
      to.clear()
      from.clear()
    }
    this.#differencesMs = []
  }

  /** Counts a confirmed difference between the responses of both groups. Returns a finding if the group `to` has passed the limit. */
  recordDifference(): ReturnFinding | null {
    const allowed = this.#limits?.differences ?? null
    if (allowed === null) return null
    const nowMs = this.#now()
    const recent = this.#differencesMs.filter((atMs) => nowMs - atMs < COMPARED.differencesMs)
    this.#differencesMs = [...recent, nowMs].slice(-allowed - 1)
    const found = this.#differencesMs.length
    return found > allowed ? { reason: 'differences', found } : null
  }

  /** Counts an attempt. Returns a finding if the group `to` has passed a limit. */
  record(group: Group, attempt: GroupAttempt): ReturnFinding | null {
    if (this.#limits === null) return null
    const nowMs = this.#now()
    const { operation, isFailed, readMs } = attempt
    const one = operation === undefined ? null : this.#comparedOf(operation)
    this.#noteCaller(attempt.caller, nowMs)
    this.#all[group].add(attempt, nowMs)
    one?.[group].add(attempt, nowMs)
    if (group === 'from') {
      this.memory.add(attempt)
      return null
    }
    if (!isFailed) return readMs === null ? null : this.#compareTimes(nowMs)
    return (
      (one !== null && operation !== undefined
        ? this.#compareFailures(one, this.memory.of(operation), operation, nowMs)
        : null) ?? this.#compareFailures(this.#all, this.memory.all, null, nowMs)
    )
  }

  #comparedOf(operation: string): Compared {
    const known = this.#operations.get(operation) ?? new Compared()
    this.#operations.set(operation, known)
    return known
  }

  #noteCaller(caller: string, nowMs: number): void {
    if (caller === '' || caller === this.#caller) return
    if (this.#caller !== null) this.#otherCallerMs = nowMs
    this.#caller = caller
  }

  #compareFailures(
    compared: Compared,
    memory: RememberedAttempts,
    operation: string | null,
    nowMs: number,
  ): ReturnFinding | null {
    if (nowMs - compared.testedAtMs < COMPARED.testEveryMs) return null
    const from = atLeast(memory.sample, COMPARED.leastRemembered)
    for (const windowMs of COMPARED.windowsMs) {
      const to = compared.to.sums(windowMs, nowMs)
      const { attempts, failures, mostFailing } = to
      if (failures < COMPARED.leastFailures) continue
      compared.testedAtMs = nowMs
      const probability = this.#excess(to, from)
      if (probability >= COMPARED.probability) continue
      const concurrent = compared.from.sums(windowMs, nowMs)
      if (concurrent.attempts >= COMPARED.leastConcurrent && !this.#isWeaklyMore(to, concurrent)) continue
      if (!this.#isOnlyCaller(nowMs) && !this.#isWeaklyMore(withoutMostFailing(to), from)) continue
      return {
        reason: 'errors',
        operation,
        windowMs,
        to: { attempts, failures },
        from,
        probability,
        caller: mostFailing?.caller ?? '',
      }
    }
    return null
  }

  /** Returns the probability of the larger share of failures, or 1 if the share is not larger by more than the limit. */
  #excess(to: AttemptCounts, from: AttemptCounts): number {
    const errors = this.#limits?.errors ?? 1
    return shareOf(to) - shareOf(from) > errors ? fisherProbability(to, from) : 1
  }

  #isWeaklyMore(to: AttemptCounts, from: AttemptCounts): boolean {
    return this.#excess(to, from) < COMPARED.weakProbability
  }

  #isOnlyCaller(nowMs: number): boolean {
    return nowMs - this.#otherCallerMs > COMPARED.onlyCallerMs
  }

  #compareTimes(nowMs: number): ReturnFinding | null {
    const slower = this.#limits?.slower ?? null
    if (slower === null || nowMs - this.#clearedAtMs < COMPARED.coldMs) return null
    const { readsMs, leastReads, leastReadMs } = COMPARED
    const to = this.#all.to.sums(readsMs, nowMs)
    if (to.reads < leastReads) return null
    const from = this.#all.from.sums(readsMs, nowMs)
    const fromMs = from.reads < leastReads ? this.memory.all.averageReadMs : averageMsOf(from)
    if (from.reads < leastReads && this.memory.all.reads < leastReads) return null
    const toMs = averageMsOf(to)
    if (toMs <= Math.max(leastReadMs, slower * fromMs)) return null
    return { reason: 'latency', reads: to.reads, toMs, fromMs }
  }
}

function shareOf({ attempts, failures }: AttemptCounts): number {
  return attempts === 0 ? 0 : failures / attempts
}

function averageMsOf({ reads, readMs }: AttemptSums): number {
  return readMs / Math.max(1, reads)
}

function atLeast({ attempts, failures }: AttemptCounts, least: number): AttemptCounts {
  return { attempts: Math.max(attempts, least), failures }
}

function withoutMostFailing({ attempts, failures, mostFailing }: AttemptSums): AttemptCounts {
  return {
    attempts: attempts - (mostFailing?.attempts ?? 0),
    failures: failures - (mostFailing?.failures ?? 0),
  }
}

/** Describes a finding for operators: the operation, the counts of both groups, the test and the most frequent caller. */
export function describeFinding(finding: ReturnFinding): string {
  if (finding.reason === 'latency') {
    const { reads, toMs, fromMs } = finding
    return `${reads} reads took ${Math.round(toMs)} ms on average, and ${Math.round(fromMs)} ms in the other group`
  }
  if (finding.reason === 'differences') return `${finding.found} differences within ten minutes`
  if (finding.reason === 'down')
    return `no node of the group could be used for ${finding.sinceMs} ms; ${finding.rerouted} requests were sent to the other group`
  const { operation, windowMs, to, from, probability, caller } = finding
  return (
    `${operation ?? 'all operations'}: ${to.failures} of ${to.attempts} requests failed in ${windowMs / 1000} s, and ` +
    `${from.failures} of ${from.attempts} in the other group (Fisher's exact test, p = ${probability.toExponential(1)}); ` +
    `the most failures: ${caller === '' ? 'requests of the gateway itself' : `user ${caller}`}`
  )
}
