import type { Schedule } from '../../files/source-state.ts'
import type { TurnTaker } from '../../redis/shared-turns.ts'

/** The result of a nudge. `skipped`: the node is ejected, or has reached its limit of concurrent requests. */
export type NudgeResult = 'ok' | 'failed' | 'skipped'

/** A node that can be nudged. */
export interface NudgeTarget {
  readonly name: string
  /** Returns true if the node holds a poll of a connected client. */
  readonly isParked: () => boolean
  /** Returns true if the node can process a nudge now. */
  readonly isUsable: () => boolean
  /** Resolves to true if the engine has accepted the nudge. */
  readonly send: () => Promise<boolean>
}

export interface NudgesOptions {
  readonly targets: readonly NudgeTarget[]
  /** The longest time between two nudges of a node that holds polls. */
  readonly everyMs: number
  /** The turns, shared with all processes that nudge the same nodes. */
  readonly turns: TurnTaker
  readonly onNudge: (result: NudgeResult) => void
  /** The monotonic clock, in milliseconds. */
  readonly now: () => number
  readonly schedule: Schedule
}

/** The shortest time from the beginning of one nudge of a node to the beginning of the next one. */
export const LEAST_GAP_MS = 50
/** The gap as a multiple of a nudge's duration, so that a node spends at most a third of its time on nudges. */
const GAP_FACTOR = 3
/** A gap above this limit is a smaller multiple, so that the tasks of a slow node do not wait for too long. */
const LONG_GAP_MS = 1000
const LONG_GAP_FACTOR = 1.5
/**
 * The gap depends on the shortest of so many last nudges. The first nudges of a node that has just started are slow, and long gaps after
 * them would delay its tasks for seconds.
 */
const COUNTED = 3
/** The longest time without nudges after failures of a node. */
const LONGEST_PAUSE_MS = 60_000

/**
 * Decides when the nodes of an engine are nudged. An engine checks its parked polls when its own process creates an external
 * task, and otherwise every 30 seconds. A nudge makes it check all of them at once.
 */
export class Nudges {
  readonly #nodes: readonly NodeNudges[]

  /** @param options with fewer than two targets, no node is nudged, because a single node notices its own tasks */
  constructor(options: NudgesOptions) {
    const targets = options.targets.length > 1 ? options.targets : []
    this.#nodes = targets.map((target) => new NodeNudges(target, options))
  }

  /** Starts the periodic nudges of every node that holds polls. Call it when a poll was sent to a node. */
  watch(): void {
    for (const node of this.#nodes) node.watch()
  }

  /** Nudges every other node that holds polls soon. Call it when a write at the node `at` succeeded that may have created external tasks. */
  written(at: string): void {
    for (const node of this.#nodes) if (node.name !== at) node.request()
  }

  close(): void {
    for (const node of this.#nodes) node.close()
  }
}

/** The nudges of one node. At most one nudge runs at a time. */
class NodeNudges {
  readonly #target: NudgeTarget
  readonly #options: NudgesOptions
  #cancelTimer: (() => void) | null = null
  #isBusy = false
  #isClosed = false
  /** True if tasks may have been created since the last nudge began. */
  #isRequested = false
  /** The number of the turn of another process for whose end the request waits, or null if it does not wait. */
  #awaitedTurn: number | null = null
  /** The last durations. A node that was not nudged yet is assumed to be fast. */
  #durationsMs: readonly number[] = Array.from({ length: COUNTED }, () => 0)
  #failures = 0
  #pauseUntilMs = -Infinity

  constructor(target: NudgeTarget, options: NudgesOptions) {
    this.#target = target
    this.#options = options
  }

  get name(): string {
    return this.#target.name
  }

  watch(): void {
    if (this.#cancelTimer === null && !this.#isBusy) this.#arm(this.#options.everyMs)
  }

  request(): void {
    // A turn that began before this write does not count.
    this.#awaitedTurn = null
    if (this.#isRequested) return
    this.#isRequested = true
    if (!this.#isBusy) this.#arm(0)
  }

  close(): void {
    this.#isClosed = true
    this.#cancelTimer?.()
    this.#cancelTimer = null
  }

  #arm(delayMs: number): void {
    const { now, schedule } = this.#options
    this.#cancelTimer?.()
    this.#cancelTimer = null
    if (this.#isClosed) return
    this.#cancelTimer = schedule(() => void this.#run(), Math.max(delayMs, this.#pauseUntilMs - now()))
  }

  async #run(): Promise<void> {
    this.#cancelTimer = null
    const { everyMs, onNudge } = this.#options
    // The next poll starts the timer again.
    if (!this.#target.isParked()) {
      this.#isRequested = false
      return
    }
    if (!this.#target.isUsable()) {
      this.#isRequested = false
      onNudge('skipped')
      return this.#arm(everyMs)
    }
    this.#isBusy = true
    const delayMs = await this.#nudge()
    this.#isBusy = false
    this.#arm(delayMs)
  }

  /** Sends a nudge if this process gets the turn. Resolves to the delay until the next run. */
  async #nudge(): Promise<number> {
    const { everyMs, turns } = this.#options
    const wasRequested = this.#isRequested
    const gapMs = gapAfter(Math.min(...this.#durationsMs))
    const turn = await turns.take(this.name, wasRequested ? gapMs : Math.max(everyMs, gapMs))
    if (this.#isClosed) return everyMs
    if (turn.isTaken) {
      // The flag is cleared only now. A write before this point precedes the nudge, and a later write requests another nudge.
      this.#isRequested = false
      this.#awaitedTurn = null
      await this.#send()
      return this.#isRequested ? 0 : everyMs
    }
    if (!wasRequested) return this.#isRequested ? 0 : turn.leftMs
    if (this.#awaitedTurn !== null && this.#awaitedTurn !== turn.previous) {
      // Another process has nudged the node since the write.
      this.#isRequested = false
      this.#awaitedTurn = null
      return everyMs
    }
    this.#awaitedTurn = turn.previous
    return turn.leftMs
  }

  async #send(): Promise<void> {
    const { everyMs, now, onNudge } = this.#options
    const startedAtMs = now()
    const isAccepted = await this.#target.send()
    this.#durationsMs = [...this.#durationsMs, now() - startedAtMs].slice(-COUNTED)
    this.#failures = isAccepted ? 0 : this.#failures + 1
    if (!isAccepted)
      this.#pauseUntilMs = now() + Math.min(LONGEST_PAUSE_MS, everyMs * 2 ** Math.min(20, this.#failures))
    onNudge(isAccepted ? 'ok' : 'failed')
  }
}

/** Returns the gap after nudges of this duration, in milliseconds. */
function gapAfter(durationMs: number): number {
  const longMs = Math.max(LONG_GAP_MS, LONG_GAP_FACTOR * durationMs)
  return Math.min(Math.max(LEAST_GAP_MS, Math.min(GAP_FACTOR * durationMs, longMs)), LONGEST_PAUSE_MS)
}
