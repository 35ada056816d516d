import type { AttemptCounts } from './fisher-test.ts'

/** An attempt whose result is known. */
export interface CountedAttempt {
  /** The id of the caller, or an empty text for a request of the gateway itself. */
  readonly caller: string
  readonly isFailed: boolean
  /** The time until the complete response, in ms. Null for writes and long polls, whose times depend on what they execute or wait for. */
  readonly readMs: number | null
}

const SLOT_MS = 10_000
const SLOTS = 60
/** The number of callers with failures that a slot tells apart. Further ones are counted without their names. */
const MAX_CALLERS = 16

interface AttemptSlot {
  /** The number of the slot since the clock began. Older values belong to an earlier round of the ring. */
  at: number
  attempts: number
  failures: number
  reads: number
  readMs: number
  /** The callers with failures in this slot. Their earlier attempts in the slot are missing. Null without failures. */
  callers: Map<string, AttemptCounts> | null
}

/** The attempts of a window. */
export interface AttemptSums extends AttemptCounts {
  readonly reads: number
  readonly readMs: number
  /** The attempts of the caller with the most failures. Null without failures. */
  readonly mostFailing: (AttemptCounts & { readonly caller: string }) | null
}

/** The attempts of the last ten minutes, in slots of ten seconds. */
export class RecentAttempts {
  readonly #slots: AttemptSlot[] = Array.from({ length: SLOTS }, () => slotAt(-1))

  add({ caller, isFailed, readMs }: CountedAttempt, nowMs: number): void {
    const slot = this.#slotOf(nowMs)
    slot.attempts += 1
    if (readMs !== null) {
      slot.reads += 1
      slot.readMs += readMs
    }
    if (isFailed) {
      slot.failures += 1
      slot.callers ??= new Map()
    }
    const known = slot.callers?.get(caller)
    if (known === undefined && (!isFailed || slot.callers === null || slot.callers.size === MAX_CALLERS))
      return
    const { attempts, failures } = known ?? { attempts: 0, failures: 0 }
    slot.callers?.set(caller, { attempts: attempts + 1, failures: failures + Number(isFailed) })
  }

  /** Returns the sums of the last `windowMs`, at most ten minutes. The window is up to ten seconds longer. */
  sums(windowMs: number, nowMs: number): AttemptSums {
    const now = Math.floor(nowMs / SLOT_MS)
    const first = now - Math.ceil(windowMs / SLOT_MS)
    const slots = this.#slots.filter(({ at }) => at >= first && at >= 0)
    const sums = { attempts: 0, failures: 0, reads: 0, readMs: 0 }
    for (const { attempts, failures, reads, readMs } of slots) {
      sums.attempts += attempts
      sums.failures += failures
      sums.reads += reads
      sums.readMs += readMs
    }
    return { ...sums, mostFailing: mostFailingOf(slots) }
  }

  clear(): void {
    for (const slot of this.#slots) Object.assign(slot, slotAt(-1))
  }

  #slotOf(nowMs: number): AttemptSlot {
    const at = Math.floor(nowMs / SLOT_MS)
    const slot = this.#slots[at % SLOTS] ?? slotAt(at)
    if (slot.at !== at) Object.assign(slot, slotAt(at))
    return slot
  }
}

function slotAt(at: number): AttemptSlot {
  return { at, attempts: 0, failures: 0, reads: 0, readMs: 0, callers: null }
}

function mostFailingOf(slots: readonly AttemptSlot[]): AttemptSums['mostFailing'] {
  const samples = new Map<string, AttemptCounts>()
  for (const { callers } of slots)
    for (const [caller, sample] of callers ?? []) {
      const sum = samples.get(caller) ?? { attempts: 0, failures: 0 }
      samples.set(caller, {
        attempts: sum.attempts + sample.attempts,
        failures: sum.failures + sample.failures,
      })
    }
  const [first] = [...samples].sort(([, one], [, other]) => other.failures - one.failures)
  return first === undefined ? null : { caller: first[0], ...first[1] }
}

/** Half of the number of attempts after which the older ones count half. */
const REMEMBERED = 100_000
const REMEMBERED_READS = 2000

/** The attempts of a group over a long time. They are forgotten by newer attempts only, so they remain while the group gets no requests. */
export class RememberedAttempts {
  #attempts = 0
  #failures = 0
  #reads = 0
  #readMs = 0

  add({ isFailed, readMs }: CountedAttempt): void {
    this.#attempts += 1
    this.#failures += Number(isFailed)
    if (this.#attempts >= 2 * REMEMBERED) {
      this.#attempts /= 2
      this.#failures /= 2
    }
    if (readMs === null) return
    this.#reads += 1
    this.#readMs += readMs
    if (this.#reads >= 2 * REMEMBERED_READS) {
      this.#reads /= 2
      this.#readMs /= 2
    }
  }

  get sample(): AttemptCounts {
    return { attempts: Math.floor(this.#attempts), failures: Math.floor(this.#failures) }
  }

  get reads(): number {
    return this.#reads
  }

  get averageReadMs(): number {
    return this.#readMs / Math.max(1, this.#reads)
  }
}
